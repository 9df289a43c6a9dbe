"""The product as people run it: `manage.py serve` in a process of its own, which can be killed and started again."""

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.parse import urlparse
from urllib.request import urlopen

from tests.client import Client
from tests.live_office import free_port

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 60.0
POSTGRESQL = os.environ.get("DATABASE_URL", "")


class Seed:
    """An office with its cast, made once and copied for each test: migrating an empty database takes its time."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.model_port = folder, free_port()
        place = f"127.0.0.1:{self.model_port}"
        rates = dict.fromkeys(("OFFICE_API_RATE", "OFFICE_MESSAGE_RATE"), "100000/min")
        self.environment = {**os.environ, **rates, "OFFICE_DATA": str(folder), "OFFICE_PRIVATE_ENDPOINTS": place}
        self.database = f"seed_{os.getpid()}" if POSTGRESQL else ""
        if POSTGRESQL:
            administer(f'CREATE DATABASE "{self.database}"')
            self.environment["DATABASE_URL"] = address_of(self.database)
        command = [sys.executable, "-m", "tests.faults.seed", f"http://{place}/v1"]
        words = subprocess.run(
            command, cwd=ROOT, env=self.environment, stdout=subprocess.PIPE, text=True, check=True, timeout=PATIENCE
        )
        self.told: dict[str, str] = json.loads(words.stdout.splitlines()[-1])

    def close(self) -> None:
        if self.database:
            administer(f'DROP DATABASE "{self.database}" WITH (FORCE)')


def address_of(database: str) -> str:
    return urlparse(POSTGRESQL)._replace(path="/" + database).geturl()


def administer(statement: str) -> None:
    import psycopg

    with psycopg.connect(address_of("postgres"), autocommit=True) as connection:
        connection.execute(statement)  # type: ignore[call-overload]


class ServedOffice:
    """A context manager; `folder` holds everything it keeps, unless DATABASE_URL says PostgreSQL."""

    def __init__(self, folder: Path, seed: Seed, server: str, **environment: str) -> None:
        self.folder, self.server, self.port = folder / "office", server, free_port()
        shutil.copytree(seed.folder, self.folder)
        self.environment = {**seed.environment, **environment, "OFFICE_DATA": str(self.folder)}
        self.database = f"served_{os.getpid()}_{self.port}" if seed.database else ""
        if self.database:
            administer(f'CREATE DATABASE "{self.database}" TEMPLATE "{seed.database}"')
            self.environment["DATABASE_URL"] = address_of(self.database)
        self.seeded = seed.told
        self.clients: list[Client] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def _python(self, *arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, *arguments], cwd=ROOT, env=self.environment, stdout=subprocess.PIPE, text=True
        )

    def start(self) -> "ServedOffice":
        self.process = self._python("manage.py", "serve", "--port", str(self.port), "--server", self.server)
        self.wait(self.answers)
        return self

    def answers(self) -> bool:
        assert self.process.poll() is None, "the office ended by itself"
        try:
            with urlopen(f"{self.url}/healthz", timeout=5) as answer:
                return bool(answer.status == 200)
        except OSError:
            return False

    def wait(self, condition: Any) -> Any:
        """Looks until it is true; for what only another process knows."""
        end = time.monotonic() + PATIENCE
        while not (result := condition()):
            assert time.monotonic() < end, "never came true"
            threading.Event().wait(0.02)
        return result

    def kill(self) -> None:
        """As the power goes."""
        self.process.kill()
        self.process.wait(PATIENCE)

    def terminate(self) -> float:
        """As a service manager ends it; the seconds it took."""
        began = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(PATIENCE)
        return time.monotonic() - began

    def tab(self, person: str, connect: bool = True) -> Client:
        self.clients.append(Client(self.url, None, self.seeded[person]))
        return self.clients[-1].connect() if connect else self.clients[-1]

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """Reads the database behind the office's back."""
        if self.database:
            import psycopg

            with psycopg.connect(address_of(self.database)) as connection:
                return connection.execute(query).fetchall()  # type: ignore[arg-type]
        with sqlite3.connect(f"file:{self.folder}/office.sqlite3?mode=ro", uri=True) as file:
            return file.execute(query).fetchall()

    def memory(self) -> int:
        """Resident bytes of the process."""
        words = Path(f"/proc/{self.process.pid}/statm").read_text().split()
        return int(words[1]) * os.sysconf("SC_PAGE_SIZE")

    def __enter__(self) -> "ServedOffice":
        return self.start()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for client in self.clients:
            client.close()
        if self.process.poll() is None:
            self.kill()
        assert self.process.stdout is not None
        self.process.stdout.close()
        if self.database:
            administer(f'DROP DATABASE "{self.database}" WITH (FORCE)')
