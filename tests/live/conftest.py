"""What the tests of live delivery share: a beat on demand, gates inside the server, a channel everybody is in."""

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from office.live.relay import relay

WAIT = 10


class Gate:
    """Stands in for a function of the server: each call does its work, then waits until the gate opens.

    `reached` counts the calls that have done their work and wait.
    """

    def __init__(self, work: Callable[..., Any], holds: Callable[..., bool] = lambda *_, **__: True) -> None:
        self.work, self.holds = work, holds
        self._open = threading.Event()
        self._arrival = threading.Condition()
        self.waiting = 0

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        result = self.work(*args, **kwargs)
        if self.holds(*args, **kwargs) and not self._open.is_set():
            with self._arrival:
                self.waiting += 1
                self._arrival.notify_all()
            assert self._open.wait(WAIT), "the test left a gate shut"
        return result

    def reached(self, count: int = 1) -> bool:
        """Waits until so many calls stand at the gate; False when they do not come."""
        with self._arrival:
            return self._arrival.wait_for(lambda: self.waiting >= count, WAIT)

    def open(self) -> None:
        self._open.set()


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Gate]]:
    """`gate(module, "name", holds=...)` puts a gate into the server; opened after the test in any case."""
    gates: list[Gate] = []

    def put(owner: Any, name: str, **options: Any) -> Gate:
        gates.append(Gate(getattr(owner, name), **options))
        monkeypatch.setattr(owner, name, gates[-1])
        return gates[-1]

    yield put
    for one in gates:
        one.open()


@pytest.fixture
def beat(live: Any) -> Callable[[], None]:
    """One beat of the relay, now."""
    return lambda: live.run(relay.beat())


@pytest.fixture
def quiet_beats(settings: Any) -> None:
    """No beat but those a test asks for."""
    settings.LIVE_BEAT_SECONDS = 3600


@pytest.fixture
def hall(cast: Any, tab: Any) -> str:
    """The thread of the project channel, where Alice and Bob are."""
    return str(tab(cast.alice, connect=False).enter(cast.project.pk))
