"""The wires: streams, events and sockets."""

from django.apps import AppConfig


class LiveConfig(AppConfig):
    name = "office.live"
    label = "live"
