"""The bounded bridge from the loop to the database.

Channels' default is one thread for the whole process, where a 2 s query in one socket delays every other; asyncio's
own default pool has four threads more than cores and leaks connections. This one is ours, bounded, and cleans up.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from channels.db import database_sync_to_async

P = ParamSpec("P")
T = TypeVar("T")
THREADS = 24
POOL = ThreadPoolExecutor(max_workers=THREADS, thread_name_prefix="office-db")


async def in_pool(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Runs one synchronous unit of database work in a thread of the pool and closes stale connections after it."""
    bridge = database_sync_to_async(work, thread_sensitive=False, executor=POOL)
    return await bridge(*args, **kwargs)
