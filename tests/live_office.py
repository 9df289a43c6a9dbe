"""The whole product in a thread of the test: real HTTP, real sockets, the run worker, the test's database."""

import asyncio
import socket
import threading
from collections.abc import Callable, Coroutine
from types import TracebackType
from typing import Any, TypeVar

import uvicorn

from office.asgi import application

T = TypeVar("T")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class LiveOffice:
    """Use it as a context manager; `stop` ends it as a graceful shutdown does, `start` again is a restart."""

    def __init__(self) -> None:
        self.port = free_port()
        self.loop: asyncio.AbstractEventLoop | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> "LiveOffice":
        config = uvicorn.Config(
            application, host="127.0.0.1", port=self.port, ws="websockets-sansio", ws_per_message_deflate=False,
            ws_max_size=256 * 1024, lifespan="on", log_level="error", timeout_graceful_shutdown=2,
        )  # fmt: skip
        self._server = uvicorn.Server(config)
        self._started = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        assert self._started.wait(10), "the office did not start"
        return self

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Runs a coroutine on the office's loop and waits for its result."""
        assert self.loop is not None
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(15)

    def call(self, work: Callable[[], T]) -> T:
        """Runs a function on the office's loop, where the hub may be looked at safely."""

        async def on_loop() -> T:
            return work()

        return self.run(on_loop())

    def stop(self) -> None:
        self._server.should_exit = True
        self._thread.join(15)
        assert not self._thread.is_alive(), "the office did not stop"

    def _run(self) -> None:
        asyncio.run(self._serve())

    async def _serve(self) -> None:
        self.loop = asyncio.get_running_loop()
        serving = asyncio.create_task(self._server.serve())
        while not self._server.started and not serving.done():  # noqa: ASYNC110 (uvicorn has no event for it)
            await asyncio.sleep(0.005)
        self._started.set()
        await serving

    def __enter__(self) -> "LiveOffice":
        return self.start()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()
