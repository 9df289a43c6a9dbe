"""Carries parcels from wherever they arise (a request's thread, a run, a command) to the relay of every process.

Nothing here waits for the layer within a request: parcels go to the process's own loop and are sent from there, in
order, several in one layer message. Without a running relay (a management command) the layer is called directly.
"""

import asyncio
import logging
import threading
from typing import Any, NamedTuple

from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer

from office.ids import new_id
from office.live import frames
from office.live.hub import hub

GROUP = "office-live"
SEND_SECONDS = 2
SLICE = 100  # parcels in one layer message
LOG = logging.getLogger(__name__)


class Parcel(NamedTuple):
    """`kind` is event, delta, typing, presence, kick or drop; `text` is encoded once, here, for every socket."""

    kind: str
    stream: str
    text: str


class Wire:
    """One per process."""

    def __init__(self) -> None:
        self.process = new_id()
        self.lost = 0  # parcels the layer did not take; the beat repairs each of them
        self._missed = 0  # of those, since the layer went away
        self._loop: asyncio.AbstractEventLoop | None = None
        self._waiting: list[Parcel] = []
        self._wake: asyncio.Event | None = None
        self._lock = threading.Lock()

    def attach(self) -> None:
        """Ties the wire to the running loop; the relay calls it when it starts."""
        self._loop, self._wake = asyncio.get_running_loop(), asyncio.Event()
        self._wake.set()  # something may wait since the last loop ended

    def detach(self) -> None:
        """Parcels go straight to the layer again."""
        self._loop = self._wake = None

    def send(self, parcel: Parcel) -> None:
        """Callable from any thread; never raises because of the layer."""
        if self._loop is None or self._loop.is_closed():
            self._send_directly(parcel)
            return
        with self._lock:
            first = not self._waiting
            self._waiting.append(parcel)
        if first:
            try:
                self._loop.call_soon_threadsafe(self._rouse)
            except RuntimeError:  # the loop closed this very moment: the process is ending
                self.lost += 1

    def send_deltas(self, items: list[tuple[str, str]]) -> None:
        """Deltas reach this process's sockets without the layer, and the other processes in one message a tick."""
        hub.deliver_deltas(items)
        if reaches_other_processes():
            for stream, text in items:
                self.send(Parcel("delta", stream, text))

    async def drain(self) -> None:
        """Sends what waits, for ever; runs as the relay's task."""
        assert self._wake is not None
        while True:
            await self._wake.wait()
            self._wake.clear()
            with self._lock:
                parcels, self._waiting = self._waiting, []
            await self._send_in_slices(parcels)

    async def _send_in_slices(self, parcels: list[Parcel]) -> None:
        """A slice fits a socket's queue, and between two the sockets are written to: a burst makes nobody slow."""
        takes = True
        for start in range(0, len(parcels), SLICE):
            takes = await self._to_layer(parcels[start : start + SLICE], takes)
            await asyncio.sleep(0)

    def _rouse(self) -> None:
        if self._wake is not None:
            self._wake.set()

    def _send_directly(self, parcel: Parcel) -> None:
        try:
            async_to_sync(self._to_layer)([parcel])
        except RuntimeError:  # called on a loop that no relay runs on: nobody there to hear it
            self.lost += 1

    async def _to_layer(self, parcels: list[Parcel], takes: bool = True) -> bool:
        """Whether the layer took them; where it is known not to (`takes`), it is not asked."""
        message: dict[str, Any] = {
            "type": "live.parcels",
            "origin": self.process,
            "parcels": [list(parcel) for parcel in parcels],
        }
        try:
            if not takes:
                raise ConnectionError("the slice before was not taken")
            layer: Any = get_channel_layer()
            async with asyncio.timeout(SEND_SECONDS):
                await layer.group_send(GROUP, message)
        except Exception as error:  # whatever the layer does, the rows are stored and the beat tells the clients
            self._note_loss(len(parcels), error)
            if self._loop is asyncio.get_running_loop():
                deliver(message)  # at least to the sockets of this process; all of it may be heard twice
            return False
        self._note_success()
        return True

    def _note_loss(self, parcels: int, error: Exception) -> None:
        """One line when the layer goes away, however much is posted until it is back."""
        if not self._missed:
            LOG.warning("channel layer takes no messages (%s: %s); the beat stands in", type(error).__name__, error)
        self._missed += parcels
        self.lost += parcels

    def _note_success(self) -> None:
        if self._missed:
            LOG.warning("channel layer takes messages again; %s parcels had to wait for the beat", self._missed)
            self._missed = 0


def deliver(message: dict[str, Any]) -> None:
    """Unpacks one layer message into the hub."""
    own = message["origin"] == wire.process
    deltas = []
    for kind, stream, text in message["parcels"]:
        if kind == "delta":
            if not own:  # this process's sockets had it without the layer
                deltas.append((stream, text))
        elif kind == "kick":
            subject, _, value = stream.partition(":")
            hub.close_where(lambda socket, s=subject, v=value: getattr(socket, s) == v, frames.SIGNED_OUT)  # type: ignore[misc]
        elif kind == "drop":
            hub.expel(stream, text)
        else:
            hub.deliver(stream, text, kind)
    hub.deliver_deltas(deltas)


def reaches_other_processes() -> bool:
    """False for the layer that lives inside one process."""
    return "InMemory" not in type(get_channel_layer()).__name__


wire = Wire()
