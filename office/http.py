"""Django's HTTP side, one thread a request.

Django's own ASGI handler hops between the loop and a thread for each middleware and makes a new thread, with a new
database connection, for each request. All our views are synchronous, so here the whole chain, middleware and view, runs
in one trip to a thread of a bounded pool; what the loop does stays on the loop.
"""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIHandler
from django.db import close_old_connections
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.urls import set_urlconf

THREADS = 24
POOL = ThreadPoolExecutor(max_workers=THREADS, thread_name_prefix="office-http")


class OneThread(ASGIHandler):
    """The same requests and responses as Django's handler; only where the work happens differs."""

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        """Without a thread of the request's own: the signals that frame a request take the process's one."""
        await self.handle(scope, receive, send)

    def load_middleware(self, is_async: bool = False) -> None:
        """Everything synchronous, whatever the caller asked for."""
        super().load_middleware(is_async=False)

    async def get_response_async(self, request: HttpRequest) -> HttpResponseBase:
        """Runs middleware and view in one thread."""
        return await sync_to_async(self._respond, thread_sensitive=False, executor=POOL)(request)

    def _respond(self, request: HttpRequest) -> HttpResponseBase:
        set_urlconf(None)
        try:
            return self.get_response(request)
        finally:
            close_old_connections()
