"""The job engine: a job that keeps raising is tried again at a growing distance, and holds up nobody else."""

import asyncio

import pytest

from office import jobs

# The looking goes through the pool, whose threads tidy their connections.
pytestmark = pytest.mark.django_db(transaction=True)


class Desk:
    """A kind of job whose rows are a set of keys; those in `broken` raise each time."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.queued: set[str] = set()
        self.broken: set[str] = set()
        self.begun: list[str] = []
        self.engine = jobs.Embedded()
        self.clock = 1000.0
        kind = jobs.Kind(accept=list, ready=self.ready, recover=lambda: None, body=self.body)
        monkeypatch.setattr(jobs, "KINDS", {"test": kind})
        monkeypatch.setattr(self.engine, "_now", lambda: self.clock)

    def ready(self, limit: int) -> list[str]:
        return sorted(self.queued)[:limit]

    async def body(self, key: str) -> None:
        self.begun.append(key)
        if key in self.broken:
            raise RuntimeError("this row cannot be read")
        self.queued.discard(key)

    async def look(self, times: int = 1) -> list[str]:
        """The engine looks for work so often; what it began."""
        before = len(self.begun)
        for _ in range(times):
            await self.engine._start_ready("test", jobs.KINDS["test"])
            await asyncio.gather(*self.engine._running.values(), return_exceptions=True)
        return self.begun[before:]


@pytest.fixture
def desk(monkeypatch: pytest.MonkeyPatch) -> Desk:
    return Desk(monkeypatch)


async def test_a_job_that_raises_is_not_begun_again_at_once_and_holds_up_nobody(desk: Desk) -> None:
    desk.queued, desk.broken = {"a", "b"}, {"a"}
    assert await desk.look(20) == ["a", "b"]
    desk.queued.add("c")
    assert await desk.look(20) == ["c"]


async def test_the_pause_doubles_to_half_a_minute(desk: Desk) -> None:
    desk.queued = desk.broken = {"a"}
    await desk.look()
    for pause in (1, 2, 4, 8, 16, 30, 30):
        desk.clock += pause - 0.01
        assert await desk.look() == []
        desk.clock += 0.01
        assert await desk.look() == ["a"]


async def test_after_a_success_the_pause_begins_anew(desk: Desk) -> None:
    desk.queued, desk.broken = {"a"}, {"a"}
    await desk.look()
    desk.clock += 1
    desk.broken.clear()
    assert await desk.look() == ["a"]
    desk.queued, desk.broken = {"a"}, {"a"}
    await desk.look()
    desk.clock += 1
    assert await desk.look() == ["a"]


async def test_a_job_that_was_seen_to_elsewhere_is_forgotten(desk: Desk) -> None:
    desk.queued, desk.broken = {"a"}, {"a"}
    await desk.look()
    desk.queued = set()
    desk.clock += 60
    await desk.look()
    assert desk.engine._pauses._pauses == {}
