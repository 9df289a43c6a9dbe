"""What the fault tests share."""

import threading
from collections.abc import Iterator

import pytest

from tests.faults.shapes import check_log


@pytest.fixture
def hall(cast, tab) -> str:
    """The thread of the project channel, where Alice and Bob are."""
    return str(tab(cast.alice, connect=False).enter(cast.project.pk))


@pytest.fixture
def office(cast, server):
    """The cast with a scripted model connected."""
    cast.provider(server.base_url)
    return cast


@pytest.fixture
def sound_log() -> Iterator[None]:
    """After the test every event must have its declared shape."""
    yield
    check_log()


@pytest.fixture
def gate() -> Iterator[threading.Event]:
    """A gate for a story; opened after the test in any case."""
    one = threading.Event()
    yield one
    one.set()


@pytest.fixture
def long_beats(settings) -> None:
    """No beat but those a test asks for."""
    settings.LIVE_BEAT_SECONDS = 3600
