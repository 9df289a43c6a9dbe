"""The seam to the job engine. A queued row is the job: nothing is kept here that a restart could lose.

The embedded engine runs in the serving process, one asyncio task a job (200 jobs of 1 s at 50 at once took 4.2 s,
picked up in 2.5 ms, by the study behind this design). A distributed engine fits behind the same four calls.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.conf import settings
from django.db import transaction

from office.live.pool import in_pool

LOG = logging.getLogger(__name__)
RECHECK_SECONDS = 5.0
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 30.0
Key = tuple[str, str]  # kind and key of a job


@dataclass(frozen=True)
class Kind:
    """What a package registers: how its rows become jobs.

    `accept(given)` runs inside the transaction that enqueues, writes the rows and returns their keys;
    `ready(limit)` lists keys that may start now;
    `recover()` puts back what a dead process left behind and runs once at start; `body(key)` does the work and
    handles cancellation itself.
    """

    accept: Callable[[Any], list[str]]
    ready: Callable[[int], list[str]]
    recover: Callable[[], None]
    body: Callable[[str], Coroutine[Any, Any, None]]


KINDS: dict[str, Kind] = {}


def register(name: str, kind: Kind) -> None:
    """Called once by the package that owns the rows, when Django starts."""
    KINDS[name] = kind


def enqueue(name: str, given: Any) -> None:
    """Makes jobs of what was given, in the transaction that writes it; the engine hears of them after the commit."""
    start(name, KINDS[name].accept(given) if name in KINDS else [])


def start(name: str, keys: list[str]) -> None:
    """Tells the engine after the commit which rows were queued, so that it need not look for them."""
    transaction.on_commit(partial(engine.wake, name, keys), robust=True)


def cancel(name: str, key: str) -> None:
    """Ends a running job after the commit; its body sees `CancelledError`. A job that is not running is no error."""
    transaction.on_commit(partial(engine.cancel, name, key), robust=True)


class Pauses:
    """How long a job that raised stays out: a second, then twice as long each time, to half a minute.

    A body answers for its own faults; one that raises all the same (the database is gone, a row cannot be read) is
    still queued, and without a pause would be started again and again as fast as the machine can.
    """

    def __init__(self) -> None:
        self._pauses: dict[Key, tuple[float, float]] = {}  # how long, and until when

    def failed(self, job: Key, now: float) -> float:
        """Notes a fault; the pause that follows it."""
        before, _ = self._pauses.get(job, (0.0, 0.0))
        pause = min(max(FIRST_PAUSE, before * 2), LONGEST_PAUSE)
        self._pauses[job] = (pause, now + pause)
        return pause

    def out(self, job: Key, now: float) -> bool:
        return job in self._pauses and now < self._pauses[job][1]

    def forget(self, job: Key) -> None:
        self._pauses.pop(job, None)

    def keep(self, kind: str, keys: set[str], now: float) -> None:
        """Of a kind's jobs only those in `keys` still wait; the others were seen to elsewhere."""
        for job in list(self._pauses):
            if job[0] == kind and job[1] not in keys and not self.out(job, now):
                self.forget(job)


class Embedded:
    """One per serving process."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._wake = asyncio.Event()
        self._main: asyncio.Task[None] | None = None
        self._running: dict[Key, asyncio.Task[None]] = {}
        self._pauses = Pauses()
        self.stopping = False

    @property
    def alive(self) -> bool:
        return self._main is not None and not self._main.done()

    async def start(self) -> None:
        """Puts back what the last process left, then looks for work for ever."""
        if self.alive:
            return
        self._loop, self._wake, self.stopping = asyncio.get_running_loop(), asyncio.Event(), False
        for kind in KINDS.values():
            await in_pool(kind.recover)
        self._main = self._loop.create_task(self._work())

    async def stop(self) -> None:
        """Cancels what runs and waits until each job has put its row in order."""
        self.stopping = True
        tasks = [task for task in (self._main, *self._running.values()) if task]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._main, self._loop = None, None

    def wake(self, name: str, keys: list[str]) -> None:
        """From any thread: these rows were queued. A row that may not start yet is found again by `ready`."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._start_given, name, keys)

    def _start_given(self, name: str, keys: list[str]) -> None:
        for key in keys:
            if self.alive and len(self._running) < settings.JOBS_AT_ONCE:
                self._start(name, key)
            else:
                self._wake.set()

    def cancel(self, name: str, key: str) -> None:
        """From any thread."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._cancel, name, key)

    def _cancel(self, name: str, key: str) -> None:
        if task := self._running.get((name, key)):
            task.cancel()

    async def _work(self) -> None:
        while True:
            self._wake.clear()
            try:
                for name, kind in KINDS.items():
                    await self._start_ready(name, kind)
            except Exception:
                LOG.exception("looking for work failed; again in %s s", RECHECK_SECONDS)
            try:
                async with asyncio.timeout(RECHECK_SECONDS):
                    await self._wake.wait()
            except TimeoutError:
                pass

    async def _start_ready(self, name: str, kind: Kind) -> None:
        room = settings.JOBS_AT_ONCE - len(self._running)
        if room <= 0:
            return
        keys = await in_pool(kind.ready, room)
        self._pauses.keep(name, {*keys, *(key for kind, key in self._running if kind == name)}, self._now())
        for key in keys:
            self._start(name, key)

    def _start(self, name: str, key: str) -> None:
        if (name, key) not in self._running and not self._pauses.out((name, key), self._now()):
            task = asyncio.get_running_loop().create_task(KINDS[name].body(key))
            self._running[name, key] = task
            task.add_done_callback(partial(self._ended, name, key))

    def _ended(self, name: str, key: str, task: asyncio.Task[None]) -> None:
        self._running.pop((name, key), None)
        if not task.cancelled() and task.exception():
            pause = self._pauses.failed((name, key), self._now())
            LOG.error("job %s %s failed, again in %.0f s if need be", name, key, pause, exc_info=task.exception())
            if self._loop is not None:
                self._loop.call_later(pause, self._wake.set)
        else:
            self._pauses.forget((name, key))
        self._wake.set()

    def _now(self) -> float:
        return asyncio.get_running_loop().time()


engine = Embedded()
