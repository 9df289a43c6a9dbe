"""`/healthz` tells the truth: what works, what does not, and no more than that."""

from collections.abc import Callable

import pytest
from django.test import AsyncClient

from office import health, jobs
from tests.cast import Cast


class Alive:
    """An engine that says what it is told to."""

    def __init__(self, alive: bool) -> None:
        self.alive = alive


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Callable[[bool], None]:
    return lambda alive: monkeypatch.setattr(jobs, "engine", Alive(alive))


async def test_all_is_well_when_all_is_well(cast: Cast, engine) -> None:
    engine(True)
    answer = await AsyncClient().get("/healthz")
    assert (answer.status_code, answer.json()["ok"]) == (200, True)


async def test_without_a_model_it_is_still_well_and_says_that_it_rehearses(cast: Cast, engine) -> None:
    engine(True)
    told = (await AsyncClient().get("/healthz")).json()["model_endpoints"]
    assert told["note"] == "rehearsal only"


async def test_an_engine_that_stands_still_is_a_503(cast: Cast, engine) -> None:
    engine(False)
    answer = await AsyncClient().get("/healthz")
    assert answer.status_code == 503
    assert answer.json()["jobs"]["ok"] is False


def broken() -> str:
    raise ConnectionError("postgres://user:secret@db.internal/office is down")


async def test_a_database_that_is_down_is_a_503_without_its_address(
    cast: Cast, engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine(True)
    monkeypatch.setattr(health, "ping", broken)
    answer = await AsyncClient().get("/healthz")
    assert (answer.status_code, answer.json()["database"]) == (503, {"ok": False, "why": "ConnectionError"})
    assert b"secret" not in answer.content


async def test_a_layer_that_takes_nothing_is_a_503(cast: Cast, engine, monkeypatch: pytest.MonkeyPatch) -> None:
    engine(True)

    def down() -> None:
        raise OSError

    monkeypatch.setattr(health, "get_channel_layer", down)
    assert (await AsyncClient().get("/healthz")).status_code == 503


async def test_a_layer_that_swallows_everything_is_a_503(cast: Cast, engine, monkeypatch: pytest.MonkeyPatch) -> None:
    engine(True)
    monkeypatch.setattr(health, "PATIENCE_SECONDS", 0.05)

    class Deaf:
        async def group_send(self, group: str, message: dict) -> None:
            pass

    monkeypatch.setattr(health, "get_channel_layer", Deaf)
    answer = await AsyncClient().get("/healthz")
    assert (answer.status_code, answer.json()["channel_layer"]) == (503, {"ok": False, "why": "TimeoutError"})


async def test_it_says_nothing_of_people_keys_or_addresses(cast: Cast, engine) -> None:
    engine(True)
    told = (await AsyncClient().get("/healthz")).content.decode()
    assert not any(word in told for word in ("alice", "Alice", "http", "sk-", cast.office.name))
