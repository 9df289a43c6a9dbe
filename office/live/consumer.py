"""The socket /ws/v1/: hello, subscribe, ack, typing. It relays; writes go by REST, and no query runs on the loop.

A plain ASGI application rather than a Channels consumer: those hop to one shared thread before each event, and give
every socket a channel of its own on the layer. Here the layer holds one channel a process.
"""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Coroutine
from http.cookies import SimpleCookie
from typing import Any

from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore
from django.utils.crypto import constant_time_compare

from office.ids import new_id
from office.live import frames, log, streams
from office.live.hub import Socket, hub
from office.live.limits import Bucket
from office.live.pool import in_pool
from office.live.relay import relay
from office.live.wire import Parcel, wire
from office.models import Membership

LOG = logging.getLogger(__name__)
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]


async def live(scope: dict[str, Any], receive: Receive, send: Send) -> None:
    """The ASGI entry for one connection."""
    relay.ensure_running()
    await receive()  # websocket.connect
    await send({"type": "websocket.accept"})
    try:
        person, session = await in_pool(signed_in, session_cookie(scope))
    except LookupError:
        await send({"type": "websocket.close", "code": frames.SIGNED_OUT})
        return
    if len(hub.of_person(person)) >= settings.LIVE_SOCKETS_PER_PERSON:
        await goodbye(send, frames.TOO_MANY, retry_after=30)
        return
    await Connection(Socket(new_id(), person, session), receive, send).run()


def session_cookie(scope: dict[str, Any]) -> str:
    """The session key of the handshake's cookie, or an empty text."""
    for name, value in scope["headers"]:
        if name == b"cookie":
            morsel = SimpleCookie(value.decode("latin-1")).get(settings.SESSION_COOKIE_NAME)
            if morsel:
                return morsel.value
    return ""


def signed_in(session_key: str) -> tuple[str, str]:
    """(person id, session key) of a valid sign-in; raises `LookupError`. The password hash must fit still."""
    store = SessionStore(session_key or None)
    person_id = store.get(SESSION_KEY) if session_key and store.get(BACKEND_SESSION_KEY) else None
    member = Membership.objects.filter(person=person_id, person__is_active=True).select_related("person").first()
    if member is None:
        raise LookupError("nobody is signed in")
    if not constant_time_compare(store.get(HASH_SESSION_KEY, ""), member.person.get_session_auth_hash()):
        raise LookupError("the password was changed since")
    return member.person_id, session_key


async def goodbye(send: Send, code: int, retry_after: float = 1) -> None:
    """Says why, then closes; a peer that is gone already is not an error."""
    frame = {
        "type": "goodbye",
        "code": code,
        "retry": frames.MAY_RETRY.get(code, True),
        "retry_after": retry_after,
    }
    try:
        async with asyncio.timeout(2):
            await send({"type": "websocket.send", "text": frames.encode(frame)})
            await send({"type": "websocket.close", "code": code})
    except (OSError, RuntimeError, TimeoutError):
        pass


class Connection:
    """One accepted socket: a reader, a writer, and short tasks for subscriptions."""

    def __init__(self, socket: Socket, receive: Receive, send: Send) -> None:
        self.socket, self._receive, self._send = socket, receive, send
        self._acked = 0
        self._greeted = False
        self._bucket = Bucket(settings.LIVE_FRAMES_PER_10_SECONDS, 10)
        self._subscriptions: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        """Serves until the peer leaves or the socket must close; leaves nothing behind."""
        hub.add(self.socket)
        self.socket.seen = asyncio.get_running_loop().time()
        reader = asyncio.create_task(self._read())
        writer = asyncio.create_task(self._write())
        try:
            await asyncio.wait({reader, writer}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            hub.remove(self.socket)
            for task in (reader, writer, *self._subscriptions):
                task.cancel()
            await asyncio.gather(reader, writer, *self._subscriptions, return_exceptions=True)
            if self.socket.closing is not None:
                await goodbye(self._send, self.socket.closing)

    async def _write(self) -> None:
        socket, send = self.socket, self._send
        while (text := await socket.take()) is not None:
            await send({"type": "websocket.send", "text": text})

    async def _read(self) -> None:
        while self.socket.closing is None:
            message = await self._receive()
            if message["type"] == "websocket.disconnect":
                return
            self._handle(message.get("text"))

    def _handle(self, text: str | None) -> None:
        self.socket.seen = asyncio.get_running_loop().time()
        frame = parse(text)
        if frame is None:
            self.socket.close(frames.BAD_FRAME)
        elif frame["type"] == "ack":
            self._ack(frame)
        elif not self._bucket.take(self.socket.seen):
            self.socket.close(frames.TOO_MANY)
        elif not self._greeted:
            self._hello(frame)
        else:
            self._act(frame)

    def _hello(self, frame: dict[str, Any]) -> None:
        if frame["type"] != "hello" or frame.get("version") != frames.VERSION:
            self.socket.close(frames.BAD_FRAME)
            return
        self._greeted = True
        limits = {"streams": settings.LIVE_STREAMS_PER_SOCKET, "frame_bytes": frames.FRAME_BYTES_IN}
        beat = settings.LIVE_BEAT_SECONDS
        self._answer(type="hello", version=1, connection=self.socket.id, beat_seconds=beat, limits=limits)

    def _act(self, frame: dict[str, Any]) -> None:
        stream = frame.get("stream")
        if frame["type"] == "subscribe" and isinstance(stream, str):
            self._start(self._subscribe(stream))
        elif frame["type"] == "unsubscribe" and isinstance(stream, str):
            hub.leave(self.socket, stream)
        elif frame["type"] == "typing" and isinstance(frame.get("thread"), str):
            self._typing(f"thread:{frame['thread']}")
        else:
            self._answer(type="error", code="unknown_frame", ref=str(frame["type"])[:40])

    def _ack(self, frame: dict[str, Any]) -> None:
        if isinstance(frame.get("count"), int):
            self._acked = self.socket.acknowledge(frame["count"], self._acked)

    async def _subscribe(self, stream: str) -> None:
        """Check, join, then read the head: what is posted in between is heard live and can be told apart by seq."""
        if len(self.socket.streams) >= settings.LIVE_STREAMS_PER_SOCKET:
            self._answer(type="error", code="too_many_streams", ref=stream)
        elif not await in_pool(streams.may_follow, self.socket.person, stream):
            self._answer(type="error", code="not_found", ref=stream)
        else:
            hub.join(self.socket, stream)
            epoch, head = await in_pool(log.head, stream)
            self._answer(type="subscribed", stream=stream, epoch=epoch, head=head)

    def _typing(self, stream: str) -> None:
        """Only to a stream this socket was let into."""
        if stream in self.socket.streams:
            text = frames.encode({"type": "typing", "stream": stream, "person": self.socket.person})
            wire.send(Parcel("typing", stream, text))

    def _answer(self, **frame: Any) -> None:
        self.socket.offer(frames.encode(frame), frame["type"], True)

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._subscriptions.add(task)
        task.add_done_callback(self._subscribed)

    def _subscribed(self, task: asyncio.Task[None]) -> None:
        self._subscriptions.discard(task)
        if not task.cancelled() and task.exception():
            LOG.error("a subscription failed", exc_info=task.exception())
            self.socket.close(frames.SLOW)  # the client comes back and asks again


def parse(text: str | None) -> dict[str, Any] | None:
    """A client's frame, or None for what is no JSON object with a type, or too large."""
    if text is None or len(text) > frames.FRAME_BYTES_IN:
        return None
    try:
        frame = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return frame if isinstance(frame, dict) and isinstance(frame.get("type"), str) else None
