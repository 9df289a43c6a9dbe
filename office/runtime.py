"""What lives beside the requests in a serving process: the relay, the jobs, and the model clients."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any

from office import jobs
from office.live.pool import POOL
from office.live.relay import relay
from office.providers import close_clients

LOG = logging.getLogger(__name__)
# What packages to the right want done once, in a thread, while the office opens; nobody waits for it.
STARTERS: list[Callable[[], object]] = []
# What packages to the right add: called at shutdown, after jobs and sockets have ended.
CLOSERS: list[Callable[[], Awaitable[None]]] = [close_clients]


async def start() -> None:
    """Starts the relay and the job engine on the running loop."""
    relay.ensure_running()
    for starter in STARTERS:
        asyncio.get_running_loop().run_in_executor(POOL, starter)
    await jobs.engine.start()


async def stop() -> None:
    """Ends the jobs first (their texts are saved), then the sockets, then what they used."""
    for close in (jobs.engine.stop, relay.stop, *CLOSERS):
        try:
            await close()
        except Exception:
            LOG.exception("shutting down")


async def lifespan(scope: dict[str, Any], receive: Any, send: Any) -> None:
    """The ASGI lifespan protocol, for servers that speak it (Daphne does not; `serve` calls start and stop there)."""
    while True:
        message = await receive()
        if message["type"] == "lifespan.startup":
            await start()
            await send({"type": "lifespan.startup.complete"})
        else:
            await stop()
            await send({"type": "lifespan.shutdown.complete"})
            return
