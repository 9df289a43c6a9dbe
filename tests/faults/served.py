"""The product as people run it: `manage.py serve` in a process of its own, which can be killed and started again."""

import json
import os
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
PATIENCE = 40.0


class ServedOffice:
    """A context manager; `folder` holds everything it keeps, unless DATABASE_URL says PostgreSQL."""

    def __init__(self, folder: Path, model_url: str, server: str, **environment: str) -> None:
        self.folder, self.server, self.port = folder, server, free_port()
        self.address = self._own_database()
        place = urlparse(model_url).netloc
        rates = dict.fromkeys(("OFFICE_API_RATE", "OFFICE_MESSAGE_RATE"), "100000/min")
        self.environment = {
            **os.environ, **rates, **environment, "OFFICE_DATA": str(folder), "OFFICE_PRIVATE_ENDPOINTS": place,
        }  # fmt: skip
        if self.address:
            self.environment["DATABASE_URL"] = self.address
        seed = self._python("-m", "tests.faults.seed", model_url)
        words, _ = seed.communicate(timeout=PATIENCE)
        assert seed.returncode == 0
        self.seeded: dict[str, str] = json.loads(words.splitlines()[-1])
        self.clients: list[Client] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def _own_database(self) -> str:
        """On PostgreSQL a database of its own beside the tests'; on SQLite a file in the folder."""
        address = os.environ.get("DATABASE_URL", "")
        if not address:
            return ""
        self.database = f"served_{os.getpid()}_{self.port}"
        self._administer(f'CREATE DATABASE "{self.database}"')
        return urlparse(address)._replace(path="/" + self.database).geturl()

    def _administer(self, statement: str) -> None:
        import psycopg

        address = urlparse(os.environ["DATABASE_URL"])._replace(path="/postgres").geturl()
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute(statement)

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
        if self.address:
            import psycopg

            with psycopg.connect(self.address) as connection:
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
        if self.address:
            self._administer(f'DROP DATABASE "{self.database}" WITH (FORCE)')
