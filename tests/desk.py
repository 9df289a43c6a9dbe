"""The product without sockets: REST in the test's own thread, and the runs worked off when the test says so.

Nothing happens behind a test's back here, so that it can look at what stands between two steps. What needs a stream
in the making, a socket or two tabs uses the live office instead.
"""

import asyncio
import threading
import uuid
from collections.abc import Callable, Sequence
from typing import Any

from django.db import connections
from rest_framework.test import APIClient

from modes import runner
from modes.stream import ticker
from office.live.pool import in_pool
from office.llm import close_clients
from office.models import Person

ROOT = "/api/v1/"


class Desk:
    """One person at work."""

    def __init__(self, person: Person | None, **headers: str) -> None:
        self.person = person
        self.http = APIClient(**headers)
        if person is not None:
            self.http.force_login(person)

    def ask(self, method: str, path: str, status: int | Sequence[int] | None = None, body: Any = None) -> Any:
        """One request with a JSON body; fails unless the answer has the status (any success when none is given)."""
        answer = getattr(self.http, method)(ROOT + path, body, format="json" if body is not None else None)
        wanted = [status] if isinstance(status, int) else status
        fits = answer.status_code in wanted if wanted else answer.status_code < 300
        assert fits, f"{method} {path}: {answer.status_code} {answer.content!r}"
        return answer.json() if answer.content else None

    def get(self, path: str, status: int | None = None) -> Any:
        return self.ask("get", path, status)

    def post(self, path: str, status: int | None = None, **body: Any) -> Any:
        return self.ask("post", path, status, body)

    def patch(self, path: str, status: int | None = None, **body: Any) -> Any:
        return self.ask("patch", path, status, body)

    def delete(self, path: str, status: int | None = None) -> Any:
        return self.ask("delete", path, status)

    def refused(self, method: str, path: str, status: int, body: Any = None) -> str:
        """The code of an expected refusal, in the one shape that refusals have."""
        error = self.ask(method, path, status, body)["error"]
        assert set(error) == {"code", "message", "field", "detail"}
        assert error["message"]
        return str(error["code"])

    # -- what a day at the office is made of -----------------------------------------------------------------

    def dm(self, coworker: str) -> str:
        """The thread of the DM with a coworker."""
        return str(self.post(f"coworkers/{coworker}/dm/")["thread"])

    def enter(self, channel: str) -> str:
        return str(self.post(f"channels/{channel}/enter/")["thread"])

    def say(self, thread: str, text: str, status: int | None = None, **more: Any) -> Any:
        """Posts with a fresh client id unless one is given."""
        return self.post(f"threads/{thread}/messages/", status, **{"client_msg_id": new_uuid(), "text": text, **more})

    def tell(self, thread: str, text: str, **more: Any) -> Any:
        """Posts, and lets every run that follows from it come to its end."""
        posted = self.say(thread, text, **more)
        work_off()
        return posted

    def edit(self, message: str, text: str, version: int = 1, status: int | None = None, **more: Any) -> Any:
        body = {"client_msg_id": new_uuid(), "text": text, "version": version, **more}
        return self.patch(f"messages/{message}/", status, **body)

    def regenerate(self, message: str, status: int | None = None, client_id: str = "") -> Any:
        return self.post(f"messages/{message}/regenerate/", status, client_id=client_id or new_uuid())

    def snapshot(self, thread: str) -> dict[str, Any]:
        return dict(self.get(f"threads/{thread}/"))

    def messages(self, thread: str) -> list[dict[str, Any]]:
        return list(self.snapshot(thread)["messages"])

    def texts(self, thread: str) -> list[str]:
        return [message["text"] for message in self.messages(thread)]

    def receipts(self, thread: str) -> list[dict[str, Any]]:
        """Every receipt of a thread, oldest first."""
        calls = self.get(f"threads/{thread}/calls/")["calls"]
        return [dict(self.get(f"calls/{call['id']}/receipt/")) for call in reversed(calls)]


def new_uuid() -> str:
    return str(uuid.uuid4())


def beside(step: Callable[[], object]) -> threading.Thread:
    """Runs a step in a thread of its own, with its own database connection, closed at its end."""

    def run() -> None:
        try:
            step()
        finally:
            connections.close_all()

    thread = threading.Thread(target=run)
    thread.start()
    return thread


def work_off() -> None:
    """Works every queued run off, oldest first, as the job engine would; those that may run together do."""
    asyncio.run(_work_off())


async def _work_off() -> None:
    try:
        while keys := await in_pool(runner.ready, 100):
            await asyncio.gather(*(runner.work(key) for key in keys))
    finally:
        await ticker.stop()
        await close_clients()


__all__ = ["Desk", "beside", "new_uuid", "work_off"]
