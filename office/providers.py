"""One openai client for each model endpoint and event loop; nothing of the environment in what it sends."""

import asyncio
import weakref
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import openai

from office.transport import guarded_client

KEPT = 64  # clients a loop keeps; beyond that, the ones longest unused are closed


@dataclass(frozen=True)
class Endpoint:
    """Where a model is served.

    `base_url` as `net.check_base_url` gave it, `key` in the clear (empty for servers that want none),
    `pinned` the private `host:port` pairs this endpoint may reach besides OFFICE_PRIVATE_ENDPOINTS,
    `unsupported` the names of parameters its model has refused before (and `role:system`,
    `role:developer`).
    """

    base_url: str
    key: str = field(default="", repr=False)
    pinned: frozenset[str] = frozenset()
    unsupported: frozenset[str] = frozenset()


@dataclass
class Wire:
    """A client and the number of requests on it, so that one in use is never closed."""

    client: openai.AsyncOpenAI
    in_use: int = 0


Wires = dict[tuple[str, str, frozenset[str]], Wire]
# By loop: a client's connections belong to the loop that opened them, and fail in any other.
_wires: "weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, Wires]" = weakref.WeakKeyDictionary()


def wire_for(endpoint: Endpoint) -> Wire:
    """The wire of this endpoint on the running loop, made when there is none."""
    wires = _wires.setdefault(asyncio.get_running_loop(), {})
    place = (endpoint.base_url, endpoint.key, endpoint.pinned)
    wire = wires.pop(place, None) or Wire(_client(endpoint))
    wires[place] = wire  # last in the order: most recently used
    return wire


@asynccontextmanager
async def borrowed_client(endpoint: Endpoint) -> AsyncIterator[openai.AsyncOpenAI]:
    """The endpoint's client, kept for the next request."""
    wire = wire_for(endpoint)
    wire.in_use += 1
    try:
        yield wire.client
    finally:
        wire.in_use -= 1
        await trim_wires()


@asynccontextmanager
async def passing_client(endpoint: Endpoint) -> AsyncIterator[openai.AsyncOpenAI]:
    """A client for one request that leaves nothing behind; for trying endpoints out, on whatever loop."""
    client = _client(endpoint)
    try:
        yield client
    finally:
        await client.close()


async def trim_wires() -> None:
    """Closes the clients longest unused once there are more than enough."""
    wires = _wires.get(asyncio.get_running_loop(), {})
    idle = [place for place, wire in wires.items() if not wire.in_use]
    for place in idle[: max(0, len(wires) - KEPT)]:
        await wires.pop(place).client.close()


async def close_clients() -> None:
    """Closes every client of the running loop; call it at shutdown, and at the end of a short-lived loop."""
    for wire in _wires.pop(asyncio.get_running_loop(), {}).values():
        await wire.client.close()


class PlainClient(openai.AsyncOpenAI):
    """The client without the headers that tell about this machine or come from OPENAI_CUSTOM_HEADERS.

    That variable is meant for one provider; the office talks to several and must not send its words to all.
    """

    @property
    def default_headers(self) -> dict[str, str | openai.Omit]:
        """What every request carries besides the key."""
        return {
            "Accept": "application/json",
            "Content-Type": "application/json",
            "User-Agent": "agent-office",
        }


def request_headers(endpoint: Endpoint) -> dict[str, str | openai.Omit]:
    """Headers of one request: no compression, which would hold chunks back, and no empty Authorization."""
    keyless = {} if endpoint.key else {"Authorization": openai.Omit()}
    return {"Accept-Encoding": "identity", "X-Stainless-Retry-Count": openai.Omit(), **keyless}


def _client(endpoint: Endpoint) -> openai.AsyncOpenAI:
    # Values, even empty ones, keep the library from reading OPENAI_* variables meant for another endpoint.
    return PlainClient(
        api_key=endpoint.key or "-",
        admin_api_key="",
        organization="",
        project="",
        webhook_secret="",
        base_url=endpoint.base_url,
        http_client=guarded_client(endpoint.pinned),
        max_retries=0,
        timeout=None,
    )
