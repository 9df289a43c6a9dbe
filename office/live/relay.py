"""The one reader between the channel layer and this process's sockets, with the beat that finds every silent loss."""

import asyncio
import logging
import random
from typing import Any

from channels.layers import get_channel_layer
from django.conf import settings

from office.live import beat, frames
from office.live.hub import hub
from office.live.wire import GROUP, wire

LOG = logging.getLogger(__name__)


class Relay:
    """Started once a process, by `serve` or by the first socket; restarts itself with backoff."""

    def __init__(self) -> None:
        self._tasks: list[asyncio.Task[None]] = []
        self._loop: asyncio.AbstractEventLoop | None = None
        self.channel: str | None = None
        self.restarts = 0

    def ensure_running(self) -> None:
        """Starts the tasks on the running loop unless they run there already."""
        loop = asyncio.get_running_loop()
        if self._loop is loop and self._tasks and not any(task.done() for task in self._tasks):
            return
        self._loop = loop
        wire.attach()
        self._tasks = [loop.create_task(work()) for work in (self._listen, wire.drain, self._beats)]
        for task in self._tasks:
            task.add_done_callback(report_end)

    async def stop(self) -> None:
        """Tells every socket to come back later (4010) and ends the tasks."""
        hub.close_where(lambda _: True, frames.RESTARTING)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._tasks, self._loop = [], None
        wire.detach()

    async def _listen(self) -> None:
        pause = 0.1
        while True:
            try:
                await self._read_layer()
            except asyncio.CancelledError:
                raise
            except Exception as error:
                self.restarts += 1
                LOG.warning("relay lost the channel layer (%s), again in %.1f s", error, pause)
                await asyncio.sleep(pause)
                pause = min(pause * 2, 5)

    async def _read_layer(self) -> None:
        layer = get_channel_layer()
        self.channel = await layer.new_channel("relay")
        await layer.group_add(GROUP, self.channel)
        if self.restarts:  # whatever was sent meanwhile is lost: tell the clients where the streams stand
            await beat.beat_now()
        while True:
            deliver(await layer.receive(self.channel))

    async def _beats(self) -> None:
        while True:
            # ±15 % so that processes and clients do not beat in step.
            await asyncio.sleep(settings.LIVE_BEAT_SECONDS * random.uniform(0.85, 1.15))
            try:
                await self._renew()
                await beat.beat_now()
            except Exception:
                LOG.exception("a beat failed")

    async def _renew(self) -> None:
        """Group membership ends after a day, on FLUSHALL, or when one message grew stale; a beat puts it back."""
        if self.channel:
            try:
                async with asyncio.timeout(2):
                    await get_channel_layer().group_add(GROUP, self.channel)
            except Exception as error:
                LOG.warning("group membership was not renewed (%s)", error)


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


def report_end(task: asyncio.Task[None]) -> None:
    """A task that ends by itself is a fault; say so instead of going deaf."""
    if not task.cancelled() and task.exception():
        LOG.error("a live task ended", exc_info=task.exception())


relay = Relay()
