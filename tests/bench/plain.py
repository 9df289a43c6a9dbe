"""The baseline: a chat as the Channels tutorial writes it, one layer channel a socket, served by `daphne`.

Its layer is given ample capacity, since with the default of 100 it would lose messages and look faster than it is.
"""

import json

import django
from django.conf import settings

settings.configure(
    ALLOWED_HOSTS=["*"],
    INSTALLED_APPS=["channels"],
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
    CHANNEL_LAYERS={"default": {"BACKEND": "channels.layers.InMemoryChannelLayer", "CONFIG": {"capacity": 1_000_000}}},
    SECRET_KEY="only for the bench",
)
django.setup()

from channels.generic.websocket import AsyncWebsocketConsumer  # noqa: E402
from channels.routing import ProtocolTypeRouter, URLRouter  # noqa: E402
from django.urls import path  # noqa: E402


class ChatConsumer(AsyncWebsocketConsumer):
    """The tutorial's consumer: what one socket says, the whole group hears."""

    async def connect(self) -> None:
        self.room_group_name = "chat_bench"
        await self.channel_layer.group_add(self.room_group_name, self.channel_name)
        await self.accept()

    async def disconnect(self, code: int) -> None:
        await self.channel_layer.group_discard(self.room_group_name, self.channel_name)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        message = json.loads(text_data or "{}")["message"]
        await self.channel_layer.group_send(self.room_group_name, {"type": "chat.message", "message": message})

    async def chat_message(self, event: dict[str, str]) -> None:
        await self.send(text_data=json.dumps({"message": event["message"]}))


application = ProtocolTypeRouter({"websocket": URLRouter([path("ws/", ChatConsumer.as_asgi())])})
