"""The product with one more socket route, by which the bench publishes without a database write.

Each text that comes in becomes an event that takes the way of any committed one: publish, the channel layer, the
relay, the hub, the socket's writer. `python -m tests.bench.product PORT daphne|uvicorn`
"""

import sys
from typing import Any

from office import asgi, serving
from office.live import announce
from office.live.models import Event

PATH = "/bench/publish/"


class Publishing:
    """The product's sockets, and beside them the bench's one: `stream` first, then a text an event."""

    def __init__(self, sockets: Any) -> None:
        self._sockets = sockets

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        if scope["path"] != PATH:
            await self._sockets(scope, receive, send)
            return
        await receive()
        await send({"type": "websocket.accept"})
        stream, seq = (await receive())["text"], 0
        while (message := await receive())["type"] == "websocket.receive":
            seq += 1
            payload = {"text": message["text"]}
            announce.publish(Event(stream_id=stream, seq=seq, type="message.posted", payload=payload))


def main(port: int, server: str) -> None:
    routes = {**asgi.application.application_mapping, "websocket": Publishing(asgi.sockets)}
    asgi.application = type(asgi.application)(routes)
    serving.serve("127.0.0.1", port, server)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
