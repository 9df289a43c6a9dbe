"""The page: templates, static modules and the views that serve them."""

from django.apps import AppConfig


class WebConfig(AppConfig):
    name = "office.web"
    label = "web"
