"""What every test stands on: a database that threads can share, no network but loopback, a clean hub."""

import os
import socket
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.cast import Cast
    from tests.client import Client
    from tests.fakes import ModelServer
    from tests.live_office import LiveOffice

os.environ.setdefault("OFFICE_DATA", tempfile.mkdtemp(prefix="office-test-"))
os.environ.setdefault("OFFICE_API_RATE", "100000/min")
os.environ.setdefault("OFFICE_MESSAGE_RATE", "100000/min")
os.environ.setdefault("OFFICE_SIGNIN_RATE", "100000/min")
for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
    os.environ.pop(name, None)

ALLOWED = {"127.0.0.1", "::1", "localhost"}
REAL_CONNECT = socket.socket.connect


def loopback_only(self: socket.socket, address: object) -> object:
    """Connecting anywhere else is a fault of the test, and fails at once."""
    host = address[0] if isinstance(address, tuple) else None
    if self.family in (socket.AF_INET, socket.AF_INET6) and host not in ALLOWED:
        raise RuntimeError(f"a test tried to reach {host}")
    return REAL_CONNECT(self, address)


socket.socket.connect = loopback_only  # type: ignore[method-assign,assignment]


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "needs_redis: uses a Redis server; skipped without one, but not in CI")


@pytest.fixture(scope="session", autouse=True)
def quick_passwords() -> None:
    """Real hashing costs a third of a second a person on purpose; no test here is about its strength."""
    from django.conf import settings

    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture(scope="session", autouse=True)
def quick_flush() -> None:
    """Emptying forty small tables of PostgreSQL: a second or two by TRUNCATE, which makes new files, little by DELETE.

    Foreign keys are checked at the end of the transaction, so that the order does not matter.
    """
    from django.conf import settings

    if "postgresql" not in settings.DATABASES["default"]["ENGINE"]:
        return
    from django.db.backends.postgresql.operations import DatabaseOperations

    def delete_all(self: Any, style: Any, tables: list[str], **options: Any) -> list[str]:
        return [f"DELETE FROM {self.quote_name(table)}" for table in tables]

    DatabaseOperations.sql_flush = delete_all  # type: ignore[method-assign]


@pytest.fixture(scope="session")
def data_folder() -> Path:
    return Path(os.environ["OFFICE_DATA"])


@pytest.fixture
def cast(transactional_db: None) -> "Cast":
    from tests.cast import gather

    return gather()


@pytest.fixture
def live(transactional_db: None) -> Iterator["LiveOffice"]:
    from tests.live_office import LiveOffice

    with LiveOffice() as office:
        yield office


@pytest.fixture
def server(settings: Any) -> Iterator["ModelServer"]:
    """The scripted model server; the guard lets the office reach it."""
    from tests.fakes import ModelServer

    with ModelServer() as scripted:
        settings.OFFICE_PRIVATE_ENDPOINTS = [scripted.base_url.removeprefix("http://").partition("/")[0]]
        yield scripted


@pytest.fixture
def tab(live: "LiveOffice") -> Iterator[Callable[..., "Client"]]:
    """`tab(person)` is a signed-in tab with its socket open; closed after the test."""
    from tests.client import Client

    opened: list[Client] = []

    def open_tab(person: Any, connect: bool = True) -> Client:
        opened.append(Client(live.url, person))
        return opened[-1].connect() if connect else opened[-1]

    yield open_tab
    for client in opened:
        client.close()
