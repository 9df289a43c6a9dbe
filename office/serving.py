"""Runs the ASGI application under Daphne (the default) or uvicorn (for load), with the runtime beside it."""

import asyncio
import logging
import os
import sys
from typing import Any

from office import runtime

LOG = logging.getLogger(__name__)


def serve(host: str, port: int, server: str) -> None:
    """Blocks until the process is told to end."""
    (with_uvicorn if server == "uvicorn" else with_daphne)(host, port)


def with_uvicorn(host: str, port: int) -> None:
    """Real backpressure and, by the study behind this design, over three times Daphne's fan-out."""
    import uvicorn

    from office.asgi import application

    uvicorn.run(
        application,
        host=host,
        port=port,
        ws="websockets-sansio",
        ws_per_message_deflate=False,
        ws_max_size=256 * 1024,
        lifespan="on",
        log_level="warning",
        timeout_graceful_shutdown=5,
    )


def with_daphne(host: str, port: int) -> None:
    """Daphne knows no lifespan: the runtime starts when it listens and ends before the reactor does."""
    from daphne.endpoints import build_endpoint_description_strings
    from daphne.server import Server

    from office.asgi import application

    def listening() -> None:
        from twisted.internet import reactor as found

        reactor: Any = found

        loop = asyncio.get_event_loop()
        keep(loop.create_task(runtime.start()))
        reactor.addSystemEventTrigger("before", "shutdown", lambda: as_deferred(runtime.stop()))

    Server(
        application,
        endpoints=build_endpoint_description_strings(host=host, port=port),
        ready_callable=listening,
        signal_handlers=True,
        websocket_timeout=-1,
        verbosity=0,
        server_name="agent-office",
    ).run()
    leave()


def leave() -> None:
    """Ends the process now. Jobs and sockets have been seen to; what a request's thread still waits for on the loop,
    which is gone, would otherwise hold the exit for ever.
    """
    logging.shutdown()
    sys.stdout.flush()
    os._exit(0)


TASKS: set[asyncio.Task[Any]] = set()


def keep(task: asyncio.Task[Any]) -> None:
    """Holds a task until it ends and says so when it ends badly."""
    TASKS.add(task)
    task.add_done_callback(TASKS.discard)
    task.add_done_callback(report_end)


def report_end(task: asyncio.Task[Any]) -> None:
    """An office whose runtime did not start must not look healthy in silence."""
    if not task.cancelled() and task.exception():
        LOG.error("the runtime ended", exc_info=task.exception())


def as_deferred(work: Any) -> Any:
    """What the reactor waits for before it stops."""
    from twisted.internet.defer import Deferred

    return Deferred.fromFuture(asyncio.ensure_future(work))
