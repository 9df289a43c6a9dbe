"""Servers under test as subprocesses on free loopback ports: started, watched, and ended whatever happens."""

import ctypes
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import TracebackType

ROOT = Path(__file__).resolve().parents[2]
START_SECONDS = 40.0
# What would lead the product elsewhere than to the office that the bench made for it.
FOREIGN = ("OFFICE_", "OPENAI_", "DATABASE_URL", "REDIS_URL", "DJANGO_")
ROOMY = {
    "OFFICE_SOCKETS_PER_PERSON": "100000",
    "OFFICE_API_RATE": "1000000/min",
    "OFFICE_MESSAGE_RATE": "1000000/min",
    "OFFICE_SOCKET_FRAMES": "100000",
}


class Failed(RuntimeError):
    """A server did not start, or a bench could not be carried out."""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def clean_environment(**more: str) -> dict[str, str]:
    """This process's environment without what concerns another office, and with the limits raised."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN)}
    return {**kept, **ROOMY, "PYTHONUNBUFFERED": "1", **more}


def die_with_parent() -> None:
    """On Linux the kernel ends a child whose parent was killed; elsewhere the context manager must do."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)


class Server:
    """A module run with `python -m` that listens on `port`; use it as a context manager."""

    def __init__(self, name: str, *command: str, port: int, **environment: str) -> None:
        self.name, self.port = name, port
        self._command = [sys.executable, *command]
        self._environment = clean_environment(**environment)
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - closed in __exit__

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> "Server":
        self._process = subprocess.Popen(
            self._command, cwd=ROOT, env=self._environment, stdin=subprocess.DEVNULL, stdout=self._log,
            stderr=subprocess.STDOUT, preexec_fn=die_with_parent,
        )  # fmt: skip
        try:
            self._await_port()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(6)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        self._log.close()

    def _await_port(self) -> None:
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end:
            if self._process.poll() is not None:
                raise Failed(f"{self.name} ended at its start:\n{self.last_words()}")
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.05)
        raise Failed(f"{self.name} did not listen within {START_SECONDS:.0f} s:\n{self.last_words()}")

    def last_words(self) -> str:
        """The end of what the server printed."""
        self._log.flush()
        self._log.seek(0)
        return self._log.read()[-3000:].decode(errors="replace")

    @property
    def pid(self) -> int:
        return self._process.pid

    def cpu_seconds(self) -> float:
        """Processor time used so far; NaN where there is no /proc."""
        try:
            fields = Path(f"/proc/{self.pid}/stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            return float("nan")
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def rss_mb(self, field: str = "VmRSS") -> float:
        """Resident memory (`VmHWM` for the highest so far); NaN where there is no /proc."""
        try:
            lines = Path(f"/proc/{self.pid}/status").read_text().splitlines()
        except OSError:
            return float("nan")
        return next((int(line.split()[1]) / 1024 for line in lines if line.startswith(field)), float("nan"))


class Folder:
    """A data folder for one office, removed at the end."""

    def __enter__(self) -> str:
        self._path = tempfile.mkdtemp(prefix="office-bench-")
        return self._path

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self._path, ignore_errors=True)


def end_on_signal() -> None:
    """SIGTERM unwinds the context managers as Ctrl-C does, so that no server stays behind."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
