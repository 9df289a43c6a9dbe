"""The one reader between the channel layer and this process's sockets, with the beat that finds every silent loss."""

import asyncio
import logging
import random
from typing import Any

from channels.layers import get_channel_layer
from django.conf import settings

from office.live import beat, frames
from office.live.hub import hub
from office.live.wire import GROUP, deliver, wire

LOG = logging.getLogger(__name__)
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 5.0
LAYER_SECONDS = FAREWELL_SECONDS = 2
FLUSH_SECONDS = 0.1


class Relay:
    """Started once a process, by `serve` or by the first socket; restarts itself with backoff."""

    def __init__(self) -> None:
        self._tasks: list[asyncio.Task[None]] = []
        self._loop: asyncio.AbstractEventLoop | None = None
        self.channel: str | None = None
        self.restarts = 0
        self._pause = FIRST_PAUSE

    def ensure_running(self) -> None:
        """Starts the tasks on the running loop unless they run there already."""
        loop = asyncio.get_running_loop()
        if self._loop is loop:
            if self._tasks and not any(task.done() for task in self._tasks):
                return
            for task in self._tasks:  # one has ended: the others must not run twice
                task.cancel()
        self._loop = loop
        wire.attach()
        self._tasks = [loop.create_task(work()) for work in (self._listen, wire.drain, self._beats)]
        for task in self._tasks:
            task.add_done_callback(report_end)

    async def stop(self) -> None:
        """Tells every socket to come back later (4010), waits until they know, and ends the tasks."""
        sockets = list(hub.sockets.values())
        hub.close_where(lambda _: True, frames.RESTARTING)
        if sockets:
            await asyncio.wait(
                [asyncio.ensure_future(socket.left.wait()) for socket in sockets], timeout=FAREWELL_SECONDS
            )
            await asyncio.sleep(FLUSH_SECONDS)  # Daphne's reactor drops what it has not written when it stops
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._tasks, self._loop = [], None
        wire.detach()

    async def _listen(self) -> None:
        while True:
            try:
                await self._read_layer()
            except Exception as error:
                self.restarts += 1
                LOG.warning("relay lost the channel layer (%s), again in %.1f s", error, self._pause)
                await asyncio.sleep(self._pause)
                self._pause = min(self._pause * 2, LONGEST_PAUSE)

    async def _read_layer(self) -> None:
        layer: Any = get_channel_layer()
        self.channel = channel = await layer.new_channel("relay")
        try:
            await layer.group_add(GROUP, channel)
            if self.restarts:  # whatever was sent meanwhile is lost: tell the clients where the streams stand
                await beat.beat_now()
            while True:
                deliver(await layer.receive(channel))
                self._pause = FIRST_PAUSE
                await asyncio.sleep(0)  # a full channel is read without a pause; the sockets need theirs
        finally:
            self.channel = None
            await leave_group(layer, channel)

    async def _beats(self) -> None:
        while True:
            # ±15 % so that processes and clients do not beat in step.
            await asyncio.sleep(settings.LIVE_BEAT_SECONDS * random.uniform(0.85, 1.15))
            try:
                await self.beat()
            except Exception:
                LOG.exception("a beat failed")

    async def beat(self) -> None:
        """One beat now: membership renewed, heads sent, those who left shown out."""
        await self._renew()
        await beat.beat_now()

    async def _renew(self) -> None:
        """Group membership ends after a day, on FLUSHALL, or when one message grew stale; a beat puts it back."""
        if self.channel:
            layer: Any = get_channel_layer()
            try:
                async with asyncio.timeout(LAYER_SECONDS):
                    await layer.group_add(GROUP, self.channel)
            except Exception as error:
                LOG.warning("group membership was not renewed (%s)", error)


async def leave_group(layer: Any, channel: str) -> None:
    """A channel nobody reads any more would fill up in the group; a layer that is gone needs no word."""
    try:
        async with asyncio.timeout(LAYER_SECONDS):
            await layer.group_discard(GROUP, channel)
    except Exception as error:
        LOG.info("the relay's old channel was not taken off its group (%s)", error)


def report_end(task: asyncio.Task[None]) -> None:
    """A task that ends by itself is a fault; say so instead of going deaf."""
    if not task.cancelled() and task.exception():
        LOG.error("a live task ended", exc_info=task.exception())


relay = Relay()
