"""Composition of HTTP and the socket into one ASGI application."""

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "office.settings")

from django.core.asgi import get_asgi_application

http = get_asgi_application()

from channels.routing import ProtocolTypeRouter, URLRouter
from channels.security.websocket import AllowedHostsOriginValidator
from django.urls import path

from office.live.consumer import live
from office.runtime import lifespan

# The validator stands outermost: it also refuses a missing Origin, which Daphne alone would let through.
sockets = AllowedHostsOriginValidator(URLRouter([path("ws/v1/", live)]))  # type: ignore[list-item]
application = ProtocolTypeRouter({"http": http, "websocket": sockets, "lifespan": lifespan})
