"""The load client: compiled WebSocket sockets, in a process of their own, cheap enough not to be what is measured.

Ages are in microseconds.
"""

import asyncio
import json
import resource
from array import array
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

from picows import WSFrame, WSListener, WSMsgType, WSTransport, ws_connect

from tests.bench.clock import age_us

ACK_EACH = 50
WITNESS_EACH = 8  # one socket in so many reads the time in each message; all count what they get
TOGETHER = 20  # handshakes under way at once
PATIENCE = 60.0


class Listener(WSListener):
    """One socket: hands each text to `take`, with the number of frames in it counted for the acknowledgement."""

    def __init__(self, take: Callable[["Listener", bytes], None], acks: bool = False) -> None:
        self.take, self.acks = take, acks
        self.transport: WSTransport
        self.seen = 0
        self.handled = self.acked = 0
        self.closed = False

    def on_ws_connected(self, transport: WSTransport) -> None:
        self.transport = transport

    def on_ws_disconnected(self, transport: WSTransport) -> None:
        self.closed = True

    def on_ws_frame(self, transport: WSTransport, frame: WSFrame) -> None:
        if frame.msg_type == WSMsgType.TEXT:
            body = frame.get_payload_as_bytes()
            self.take(self, body)
            if self.acks:
                self.count(body)
        elif frame.msg_type == WSMsgType.CLOSE:
            self.closed = True

    def count(self, body: bytes) -> None:
        """The protocol wants an acknowledgement each 50 frames at the latest, and on every beat."""
        self.handled += body.count(b"\n") + 1
        if self.handled - self.acked >= ACK_EACH or b'"beat"' in body:
            self.acked = self.handled
            self.say(type="ack", count=self.handled)

    def say(self, **frame: object) -> None:
        self.send(json.dumps(frame).encode())

    def send(self, text: bytes) -> None:
        self.transport.send(WSMsgType.TEXT, text)


async def open_socket(url: str, listener: Listener, session: str = "") -> Listener:
    """Connects one listener; with a session it comes as the office's page does."""
    origin = url.replace("ws://", "http://").rpartition("/ws/")[0] or url.replace("ws://", "http://")
    headers: Mapping[str, str] = {"Origin": origin, "Cookie": f"office_session={session}"} if session else {}
    await ws_connect(lambda: listener, url, extra_headers=headers, websocket_handshake_timeout=30)
    return listener


async def follow(server_url: str, session: str, streams: list[str], listener: Listener) -> Listener:
    """A socket of the product that has greeted and is subscribed to all of `streams`, as the protocol says."""
    ready = asyncio.get_running_loop().create_future()
    take, waiting = listener.take, set(streams)

    def greeting(one: Listener, body: bytes) -> None:
        for line in body.split(b"\n"):
            frame = json.loads(line)
            if frame["type"] in ("error", "goodbye") and not ready.done():
                ready.set_exception(RuntimeError(f"the office answered {frame}"))
            waiting.discard(frame.get("stream", "") if frame["type"] == "subscribed" else "")
        if not waiting and not ready.done():
            ready.set_result(None)

    listener.take = greeting
    await open_socket(server_url.replace("http://", "ws://") + "/ws/v1/", listener, session)
    listener.say(type="hello", version=1, client="bench")
    for stream in streams:
        listener.say(type="subscribe", stream=stream, cursor=None)
    async with asyncio.timeout(PATIENCE):
        await ready
    listener.take = take
    return listener


async def few_at_once(openings: list[Coroutine[Any, Any, Listener]]) -> list[Listener]:
    """Opens many sockets with a bounded number of handshakes at a time."""
    gate = asyncio.Semaphore(TOGETHER)

    async def opened(opening: Coroutine[Any, Any, Listener]) -> Listener:
        async with gate:
            return await opening

    return list(await asyncio.gather(*(opened(opening) for opening in openings)))


def raise_file_limit() -> None:
    """Each socket is a file."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(max(soft, 16384), hard), hard))


class Room:
    """Sockets that hear the same messages; says when a message has reached all of them, and how old it was."""

    def __init__(self, token: bytes, acks: bool = False) -> None:
        self.token, self.acks = token, acks  # `token` stands once in each message and in no other frame
        self.listeners: list[Listener] = []
        self.left: list[int] = []  # of each message: how many sockets have not seen it
        self.ages = array("q")
        self.complete: Callable[[], None] = lambda: None
        self.bytes = 0

    def listener(self) -> Listener:
        """A socket of this room, to be connected by the caller."""
        witness = len(self.listeners) % WITNESS_EACH == 0
        made = Listener(self.witness if witness else self.tally, self.acks)
        self.listeners.append(made)
        return made

    def posted(self) -> None:
        """One more message is on its way."""
        self.left.append(len(self.listeners))

    def tally(self, listener: Listener, body: bytes) -> None:
        """Counts the messages in one text; a socket gets them in order, so the count tells which they are."""
        got = body.count(self.token)
        left = self.left
        for number in range(listener.seen, listener.seen + got):
            left[number] -= 1
            if not left[number]:
                self.complete()
        listener.seen += got

    def witness(self, listener: Listener, body: bytes) -> None:
        """As `tally`, and notes how old each message is."""
        start = body.find(self.token)
        while start >= 0:
            self.ages.append(age_us(body, start))
            self.bytes = len(body) // body.count(self.token)
            start = body.find(self.token, start + 1)
        self.tally(listener, body)

    async def closed_loop(self, send: Callable[[], None], seconds: float, in_flight: int = 2) -> float:
        """Keeps `in_flight` messages going for `seconds`; deliveries a second. A message that is lost ends it."""
        loop = asyncio.get_running_loop()
        done, began, first = loop.create_future(), loop.time(), len(self.left)
        self.ages = array("q")
        open_messages = in_flight

        def next_one() -> None:
            self.posted()
            send()

        def complete() -> None:
            nonlocal open_messages
            if loop.time() - began < seconds:
                next_one()
                return
            open_messages -= 1
            if not open_messages:
                done.set_result(None)

        self.complete = complete
        for _ in range(in_flight):
            next_one()
        try:
            async with asyncio.timeout(seconds + PATIENCE):
                await done
        finally:
            self.complete = lambda: None
        return (len(self.left) - first) * len(self.listeners) / (loop.time() - began)

    async def close(self) -> None:
        for listener in self.listeners:
            listener.transport.disconnect()
        await asyncio.sleep(0.3)  # lets the servers see them go before the next round is measured
