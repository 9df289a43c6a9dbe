"""A scripted model server for each test that asks for one, and clients closed behind it."""

from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest

from office.llm import Ask, Endpoint, close_clients
from tests.fakes import ModelServer

KEY = "TESTKEY-0123456789"


@pytest.fixture(scope="session")
def shared_server() -> Iterator[ModelServer]:
    with ModelServer() as running:
        yield running


@pytest.fixture
def server(shared_server: ModelServer) -> ModelServer:
    shared_server.reset()
    return shared_server


@pytest.fixture
def made_ask(server: ModelServer) -> Callable[..., Ask]:
    """Makes an `Ask` to the scripted server; keywords change its fields."""
    pinned = frozenset({f"127.0.0.1:{server.port}"})

    def made(text: str = "やあ", unsupported: frozenset[str] = frozenset(), **fields: Any) -> Ask:
        endpoint = Endpoint(server.base_url, KEY, pinned, unsupported)
        return Ask(**{"endpoint": endpoint, "model": "m", "messages": [{"role": "user", "content": text}], **fields})

    return made


@pytest.fixture
async def ask(made_ask: Callable[..., Ask]) -> AsyncIterator[Callable[..., Ask]]:
    """As `made_ask`, with the clients of the test's loop closed behind it."""
    yield made_ask
    await close_clients()
