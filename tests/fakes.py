"""A scripted model server: speaks the chat completions dialect over real HTTP and SSE on a loopback port.

Nothing of Django is in here, so any test, bench or hand can use it:

    with ModelServer() as server:
        server.queue(story("Hel", gate, "lo"), rate_limited(retry_after=3))
        ... point an endpoint at server.base_url ...
        assert server.requests[0].body["model"] == "m"

By hand: `python -m tests.fakes --port 9009 --chunks 200 --pause-ms 50`.
"""

import argparse
import asyncio
import json
import socket
import threading
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import uvicorn

from tests.scripts import (
    CUT,
    Answer,
    Step,
    chat_completion,
    content_filtered,
    context_too_long,
    echo,
    event,
    gate,
    json_answer,
    key_refused,
    model_missing,
    not_allowed,
    page,
    quota_exhausted,
    rate_limited,
    refusal,
    server_error,
    spoken,
    story,
    unknown_parameter,
    usage_chunk,
)

__all__ = [
    "CUT",
    "Answer",
    "ModelServer",
    "Seen",
    "chat_completion",
    "content_filtered",
    "context_too_long",
    "echo",
    "event",
    "gate",
    "json_answer",
    "key_refused",
    "model_missing",
    "not_allowed",
    "page",
    "quota_exhausted",
    "rate_limited",
    "refusal",
    "server_error",
    "spoken",
    "story",
    "unknown_parameter",
    "usage_chunk",
]
Send = Callable[[dict[str, Any]], Awaitable[None]]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Chooser = Callable[["Seen"], Answer | None]
WAIT = 10.0  # no test waits longer than this for something that should have happened


@dataclass
class Seen:
    """One request as it arrived, and what became of its connection."""

    path: str
    headers: dict[str, str]
    raw: bytes
    body: Any
    at: float
    client: tuple[str, int] | None = None  # address and port it came from: the same for a reused connection
    closed: threading.Event = field(default_factory=threading.Event)  # the client closed before the end
    finished: threading.Event = field(default_factory=threading.Event)  # the answer was sent in full
    closed_at: float | None = None

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The messages the request carried."""
        return list(self.body["messages"])


class Gone(Exception):
    """The client closed the connection, or the server is being stopped."""


class ModelServer:
    """Serves queued answers in order, then what `choose` says, then `default`; keeps every request."""

    def __init__(self, default: Answer | None = None, *, models: Iterable[str] = ("m",), port: int = 0):
        self._given = (default or story("Hello", ", world."), list(models))
        self.reset()
        self._arrival = threading.Condition()
        self._stopping = False
        self._socket = socket.create_server(("127.0.0.1", port), backlog=1024)
        self.port: int = self._socket.getsockname()[1]
        self.origin = f"http://127.0.0.1:{self.port}"
        self.base_url = f"{self.origin}/v1"

    def reset(self) -> None:
        """As new: for a server shared by many tests, since stopping one takes a fifth of a second."""
        self.default, self.models = self._given[0], list(self._given[1])
        self.choose: Chooser | None = None
        self.requests: list[Seen] = []
        self._queue: deque[Answer] = deque()

    def queue(self, *answers: Answer) -> None:
        """Answers for the next chat requests, one each."""
        self._queue.extend(answers)

    @property
    def chats(self) -> list[Seen]:
        """The chat completion requests only."""
        return [seen for seen in self.requests if seen.path.endswith("/chat/completions")]

    def wait_for(self, count: int) -> list[Seen]:
        """Blocks until `count` chat requests have arrived; for tests that hold the server at a gate."""
        with self._arrival:
            if not self._arrival.wait_for(lambda: len(self.chats) >= count, WAIT):
                raise AssertionError(f"{len(self.chats)} of {count} requests came within {WAIT} s")
        return self.chats

    async def arrived(self, count: int) -> list[Seen]:
        """As `wait_for`, without blocking the event loop."""
        return await asyncio.to_thread(self.wait_for, count)

    # -- running -------------------------------------------------------------------------------------------

    def __enter__(self) -> "ModelServer":
        config = uvicorn.Config(
            self, lifespan="off", log_level="critical", ws="none", loop="asyncio", timeout_graceful_shutdown=1
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, args=([self._socket],), daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping = self._server.should_exit = self._server.force_exit = True
        self._thread.join(WAIT)
        self._socket.close()

    # -- the ASGI application ------------------------------------------------------------------------------

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        seen = await self._record(scope, receive)
        if seen.path.endswith("/models") and not seen.raw:
            listing = {"object": "list", "data": [{"id": name, "object": "model"} for name in self.models]}
            return await self._send_whole(seen, json_answer(listing), send)
        answer = self._next(seen)
        streamed = isinstance(seen.body, dict) and seen.body.get("stream")
        watcher = asyncio.create_task(self._watch(seen, receive))
        try:
            if answer.steps is None or not streamed:
                for step in answer.steps or ():  # an answer in one piece takes as long as the story would
                    await self._hold(step, watcher)
                await self._send_whole(seen, spoken(answer, seen.body), send)
            else:
                await self._send_steps(seen, answer, watcher, send)
        except Gone:
            pass
        finally:
            watcher.cancel()

    def _next(self, seen: Seen) -> Answer:
        chosen = self._queue.popleft() if self._queue else (self.choose and self.choose(seen)) or self.default
        return chosen.make(seen.body) if chosen.make else chosen

    async def _record(self, scope: dict[str, Any], receive: Receive) -> Seen:
        raw, more = b"", True
        while more:
            message = await receive()
            raw += message.get("body", b"")
            more = message.get("more_body", False)
        try:
            body = json.loads(raw) if raw else None
        except ValueError:
            body = None
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        seen = Seen(scope["path"], headers, raw, body, time.monotonic(), tuple(scope["client"] or ()) or None)
        with self._arrival:
            self.requests.append(seen)
            self._arrival.notify_all()
        return seen

    async def _watch(self, seen: Seen, receive: Receive) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        if not seen.finished.is_set():
            seen.closed_at = time.monotonic()
            seen.closed.set()

    async def _send_whole(self, seen: Seen, answer: Answer, send: Send) -> None:
        await send({"type": "http.response.start", "status": answer.status, "headers": answer.head()})
        await send({"type": "http.response.body", "body": answer.body})
        seen.finished.set()

    async def _send_steps(self, seen: Seen, answer: Answer, watcher: asyncio.Task[None], send: Send) -> None:
        started = False
        for step in answer.steps or ():
            if isinstance(step, bytes):
                if not started:
                    await send({"type": "http.response.start", "status": 200, "headers": answer.head()})
                    started = True
                await send({"type": "http.response.body", "body": step, "more_body": True})
            else:
                await self._hold(step, watcher)
            if watcher.done():
                raise Gone
        seen.finished.set()
        if not started:
            await send({"type": "http.response.start", "status": 200, "headers": answer.head()})
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _hold(self, step: Step, watcher: asyncio.Task[None]) -> None:
        """Waits out a pause or a gate, and ends at once when the client goes."""
        if isinstance(step, bytes):
            return
        if step is CUT:
            raise ConnectionAbortedError  # uvicorn drops the connection without ending the body
        if isinstance(step, (int, float)):
            await asyncio.wait([watcher], timeout=step)
            return
        while not step.is_set():  # type: ignore[union-attr]
            if self._stopping or watcher.done():
                raise Gone
            await asyncio.wait([watcher], timeout=0.005)


def main() -> None:
    """Serves one slow-ish story to every request until interrupted."""
    parser = argparse.ArgumentParser(description="A scripted model server for benches and hand use.")
    parser.add_argument("--port", type=int, default=9009)
    parser.add_argument("--chunks", type=int, default=200)
    parser.add_argument("--pause-ms", type=float, default=50)
    parser.add_argument("--first-ms", type=float, default=0)
    parser.add_argument("--piece", default="word ")
    given = parser.parse_args()
    steps: list[Any] = [given.first_ms / 1000]
    for number in range(given.chunks):
        steps += [f"{given.piece}{number} ", given.pause_ms / 1000]
    with ModelServer(story(*steps), models=["story", "m"], port=given.port) as server:
        print(f"serving {server.base_url}", flush=True)
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            print("stopped", flush=True)


if __name__ == "__main__":
    main()
