"""Desks for the tests of missions and runs."""

from collections.abc import Iterator

import pytest

from tests.cast import Cast
from tests.desk import Desk
from tests.fakes import ModelServer


@pytest.fixture
def alice(cast: Cast) -> Desk:
    return Desk(cast.alice)


@pytest.fixture
def bob(cast: Cast) -> Desk:
    return Desk(cast.bob)


@pytest.fixture
def model(cast: Cast, server: ModelServer) -> ModelServer:
    """The scripted server, connected to the whole staff."""
    cast.provider(server.base_url)
    return server


@pytest.fixture
def dm(alice: Desk, cast: Cast) -> str:
    """The thread of Alice's DM with the lead."""
    return alice.dm(cast.lead.pk)


@pytest.fixture
def hall(alice: Desk, cast: Cast) -> str:
    """The thread of the project channel."""
    return alice.enter(cast.project.pk)


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Retries without a named pause come at once."""
    monkeypatch.setattr("modes.runner.PAUSE_SECONDS", 0.0)
