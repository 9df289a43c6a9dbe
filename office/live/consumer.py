"""The socket /ws/v1/: hello, subscribe, ack, typing. It relays; writes go by REST, and no query runs on the loop.

A plain ASGI application rather than a Channels consumer: those hop to one shared thread before each event, and give
every socket a channel of its own on the layer. Here the layer holds one channel a process.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from django.conf import settings

from office import build
from office.ids import new_id
from office.live import door, frames, log, streams
from office.live.hub import Socket, hub
from office.live.limits import Bucket
from office.live.pool import in_pool
from office.live.relay import relay
from office.live.wire import Parcel, wire

LOG = logging.getLogger(__name__)
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]


async def live(scope: dict[str, Any], receive: Receive, send: Send) -> None:
    """The ASGI entry for one connection."""
    relay.ensure_running()
    await receive()  # websocket.connect
    if not door.from_own_page(scope):
        await send({"type": "websocket.close", "code": frames.NOT_ALLOWED})  # before the accept: a plain 403
        return
    await send({"type": "websocket.accept"})
    try:
        visitor = await door.admit(scope)
    except LookupError:
        await goodbye(send, frames.SIGNED_OUT)
        return
    if len(hub.of_person(visitor.person)) >= settings.LIVE_SOCKETS_PER_PERSON:
        await goodbye(send, frames.TOO_MANY, retry_after=30)
        return
    await Connection(Socket(new_id(), *visitor), receive, send).run()


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
        # Of their own, so that a tab may ask for all the streams it is allowed at once when it opens.
        self._asking = Bucket(settings.LIVE_STREAMS_PER_SOCKET + settings.LIVE_FRAMES_PER_10_SECONDS, 10)
        self._subscriptions: set[asyncio.Task[None]] = set()
        self._wanted: set[str] = set()
        # One question to the database at a time: a socket that asks much keeps no thread from the others.
        self._turn = asyncio.Lock()

    async def run(self) -> None:
        """Serves until the peer leaves or the socket must close; leaves nothing behind."""
        hub.add(self.socket)
        self.socket.seen = asyncio.get_running_loop().time()
        # A writer may hang in `send` for a peer that reads nothing, so closing is waited for beside it.
        tasks = [asyncio.create_task(work) for work in (self._read(), self._write(), self.socket.closes.wait())]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:  # Daphne cancels every connection when it is told to end
            self.socket.close(frames.RESTARTING)
            raise
        finally:
            hub.remove(self.socket)
            for task in (*tasks, *self._subscriptions):
                task.cancel()
            await asyncio.gather(*tasks, *self._subscriptions, return_exceptions=True)
            if self.socket.closing is not None:
                await goodbye(self._send, self.socket.closing)
            self.socket.left.set()

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
        batch = frames.parse(text)
        if batch is None:
            self.socket.close(frames.BAD_FRAME)
            return
        for frame in batch:
            if self.socket.closing is None:
                self._take(frame)

    def _take(self, frame: dict[str, Any]) -> None:
        if frame["type"] == "ack":
            self._ack(frame)
        elif not self._bucket_for(frame).take(self.socket.seen):
            self.socket.close(frames.TOO_MANY)
        elif not self._greeted:
            self._hello(frame)
        else:
            self._act(frame)

    def _bucket_for(self, frame: dict[str, Any]) -> Bucket:
        return self._asking if self._greeted and frame["type"] in ("subscribe", "unsubscribe") else self._bucket

    def _hello(self, frame: dict[str, Any]) -> None:
        if frame["type"] != "hello" or frame.get("version") != frames.VERSION:
            self.socket.close(frames.BAD_FRAME)
            return
        self._greeted = True
        self._answer(
            type="hello",
            version=frames.VERSION,
            connection=self.socket.id,
            beat_seconds=settings.LIVE_BEAT_SECONDS,
            limits={"streams": settings.LIVE_STREAMS_PER_SOCKET, "frame_bytes": frames.FRAME_BYTES_IN},
            build=build.NUMBER,
        )

    def _act(self, frame: dict[str, Any]) -> None:
        stream = frame.get("stream")
        if frame["type"] == "subscribe" and isinstance(stream, str):
            self._wanted.add(stream)
            self._start(self._subscribe(stream))
        elif frame["type"] == "unsubscribe" and isinstance(stream, str):
            self._wanted.discard(stream)
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
        async with self._turn:
            if not await self._may_follow(stream):
                self._answer(type="error", code="not_found", ref=stream)
            elif not self._has_room_for(stream):
                self._answer(type="error", code="too_many_streams", ref=stream)
            elif stream in self._wanted:
                hub.join(self.socket, stream)
                epoch, head = await in_pool(log.head, stream)
                if stream in self.socket.streams:  # nobody took it away meanwhile
                    self._answer(type="subscribed", stream=stream, epoch=epoch, head=head)

    async def _may_follow(self, stream: str) -> bool:
        """Asks again when somebody was shown out during the question: the answer may be from before that."""
        while True:
            before = hub.evictions
            allowed = await in_pool(streams.may_follow, self.socket.person, stream)
            if hub.evictions == before:
                return allowed

    def _has_room_for(self, stream: str) -> bool:
        return stream in self.socket.streams or len(self.socket.streams) < settings.LIVE_STREAMS_PER_SOCKET

    def _typing(self, stream: str) -> None:
        """Only to a stream this socket was let into."""
        if stream in self.socket.streams:
            who = {"person": self.socket.person, "name": self.socket.name}
            wire.send(Parcel("typing", stream, frames.encode({"type": "typing", "stream": stream, **who})))

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
