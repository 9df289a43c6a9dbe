"""This process's sockets, by stream. One bounded queue a socket: a slow reader loses deltas first, then its socket.

A durable frame is never dropped while the socket stays open: it is closed with 4008 and the client fills the gap.
"""

import asyncio
from collections import defaultdict, deque
from collections.abc import Callable, Iterable
from typing import NamedTuple

from django.conf import settings

from office.live import frames


class Queued(NamedTuple):
    """A frame on its way, made once for all sockets that get it."""

    text: str
    size: int
    durable: bool
    kind: str


class Limits(NamedTuple):
    """What a socket may hold; read once a socket, since each delivery asks."""

    queue_frames: int
    queue_bytes: int
    unacked_frames: int
    unacked_bytes: int


def limits_now() -> Limits:
    return Limits(
        settings.LIVE_QUEUE_FRAMES,
        settings.LIVE_QUEUE_BYTES,
        settings.LIVE_UNACKED_FRAMES,
        settings.LIVE_UNACKED_BYTES,
    )


class Socket:
    """One tab's connection. All methods run on the loop's thread."""

    __slots__ = (
        "_bytes",
        "_limits",
        "_sent",
        "_unacked",
        "_waiter",
        "closes",
        "closing",
        "id",
        "left",
        "name",
        "person",
        "queue",
        "seen",
        "session",
        "streams",
    )

    def __init__(self, id: str, person: str, session: str, name: str = "") -> None:
        self.id, self.person, self.session, self.name = id, person, session, name
        self.streams: set[str] = set()
        self.queue: deque[Queued] = deque()
        self.closing: int | None = None
        self.closes, self.left = asyncio.Event(), asyncio.Event()  # must close; is closed and gone
        self.seen = 0.0  # loop time of the last frame from the client
        self._bytes = 0
        self._sent: deque[int] = deque()  # sizes of frames sent and not yet acknowledged, oldest first
        self._unacked = 0
        self._limits = limits_now()
        self._waiter: asyncio.Future[None] | None = None  # what the writer waits on; cheaper than an Event

    def offer(self, text: str, kind: str, durable: bool) -> None:
        """`put` for a frame that goes to this socket alone."""
        self.put(Queued(text, len(text), durable, kind))

    def put(self, frame: Queued) -> None:
        """Queues a frame, or drops it, or gives the socket up: see the module's first lines."""
        if self.closing is not None:
            return
        if self._full(frame.size):
            if not frame.durable:
                return
            self._shed()
            if self._full(frame.size):
                self.close(frames.SLOW)
                return
        self.queue.append(frame)
        self._bytes += frame.size
        self._rouse()

    def _rouse(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def close(self, code: int) -> None:
        """Asks the writer to close with `code`; what is queued is not sent any more."""
        if self.closing is None:
            self.closing = code
            self._rouse()
            self.closes.set()

    def acknowledge(self, total: int, acked: int) -> int:
        """The client has handled `total` frames in all; returns the new count, ignoring one that goes back."""
        for _ in range(min(max(total - acked, 0), len(self._sent))):
            self._unacked -= self._sent.popleft()
            acked += 1
        self._rouse()
        return acked

    async def take(self) -> str | None:
        """Waits for frames and credit, then returns all that may go out now, joined by newlines; None to close."""
        while self.closing is None:
            batch = self._batch() if self.queue else None
            if batch:
                return batch
            self._waiter = asyncio.get_running_loop().create_future()
            await self._waiter
        return None

    def _batch(self) -> str:
        taken: list[str] = []
        limit, most = self._limits.unacked_frames, self._limits.unacked_bytes
        while self.queue and len(self._sent) < limit and self._unacked < most:
            frame = self.queue.popleft()
            self._bytes -= frame.size
            self._sent.append(frame.size)
            self._unacked += frame.size
            taken.append(frame.text)
        return taken[0] if len(taken) == 1 else "\n".join(taken)

    def _full(self, size: int) -> bool:
        return len(self.queue) >= self._limits.queue_frames or self._bytes + size > self._limits.queue_bytes

    def _shed(self) -> None:
        """Drops what may be lost: deltas first, then typing and presence."""
        for droppable in ({"delta"}, {"typing", "presence"}):
            self.queue = deque(frame for frame in self.queue if frame.kind not in droppable)
            self._bytes = sum(frame.size for frame in self.queue)
            if not self._full(0):
                return


class Hub:
    """Registry and delivery; holds no database, no layer."""

    def __init__(self) -> None:
        self.sockets: dict[str, Socket] = {}
        self.by_stream: dict[str, set[Socket]] = defaultdict(set)
        # How often somebody was shown out. Who asked for leave to enter before that must ask again.
        self.evictions = 0

    def add(self, socket: Socket) -> None:
        self.sockets[socket.id] = socket

    def remove(self, socket: Socket) -> None:
        """Forgets a socket and every stream that nobody else follows."""
        self.sockets.pop(socket.id, None)
        for stream in list(socket.streams):
            self.leave(socket, stream)

    def join(self, socket: Socket, stream: str) -> None:
        socket.streams.add(stream)
        self.by_stream[stream].add(socket)

    def leave(self, socket: Socket, stream: str) -> None:
        socket.streams.discard(stream)
        followers = self.by_stream.get(stream, set())
        followers.discard(socket)
        if not followers:
            self.by_stream.pop(stream, None)

    def of_person(self, person: str) -> list[Socket]:
        return [socket for socket in self.sockets.values() if socket.person == person]

    def deliver(self, stream: str, text: str, kind: str) -> None:
        """Hands one encoded frame to every follower of `stream`."""
        frame = Queued(text, len(text), kind == "event", kind)
        for socket in self.by_stream.get(stream, ()):
            socket.put(frame)

    def deliver_deltas(self, items: Iterable[tuple[str, str]]) -> None:
        """One frame a socket and tick, for all the runs it follows; each item is encoded once."""
        shares: dict[Socket, list[str]] = defaultdict(list)
        for stream, text in items:
            for socket in self.by_stream.get(stream, ()):
                shares[socket].append(text)
        for socket, texts in shares.items():
            socket.offer('{"type":"delta","items":[' + ",".join(texts) + "]}", "delta", False)

    def close_where(self, condition: Callable[[Socket], bool], code: int) -> None:
        self.evictions += 1
        for socket in list(self.sockets.values()):
            if condition(socket):
                socket.close(code)

    def expel(self, stream: str, person: str) -> None:
        """Takes a person's sockets off a stream and tells them so."""
        self.evictions += 1
        for socket in list(self.by_stream.get(stream, ())):
            if socket.person == person:
                self.leave(socket, stream)
                socket.offer(frames.encode({"type": "dropped", "stream": stream}), "dropped", True)


hub = Hub()
