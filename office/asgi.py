"""Composition of HTTP and the socket into one ASGI application."""

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "office.settings")

import django

django.setup(set_prefix=False)

from channels.routing import ProtocolTypeRouter, URLRouter
from channels.security.websocket import AllowedHostsOriginValidator
from django.urls import path

from office.http import OneThread
from office.live.consumer import live
from office.runtime import lifespan

# The validator stands outermost: it also refuses a missing Origin, which Daphne alone would let through.
sockets = AllowedHostsOriginValidator(URLRouter([path("ws/v1/", live)]))  # type: ignore[arg-type,list-item]
application = ProtocolTypeRouter({"http": OneThread(), "websocket": sockets, "lifespan": lifespan})
