"""The HTTP transport to model servers: guarded connections, in pools small enough to stay quick."""

import ssl
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass
from functools import cache
from typing import cast

import httpcore2
import httpx2

from office.connections import GuardedBackend, Resolver, resolve
from office.net import private_endpoints

LANE_SIZE = 16
IDLE_S = 30.0
REFUSAL_LIMIT = 64 * 1024


@cache
def trusted_roots() -> ssl.SSLContext:
    """One TLS context for the process: loading the roots takes as long as a hundred requests."""
    return httpx2.create_ssl_context(trust_env=False)


class GuardedTransport(httpx2.AsyncHTTPTransport):
    """The library's transport over a guarded pool."""

    def __init__(self, allowed: frozenset[str], resolver: Resolver, roots: ssl.SSLContext) -> None:
        super().__init__(verify=roots, trust_env=False)
        self._pool = httpcore2.AsyncConnectionPool(
            ssl_context=roots,
            max_connections=2 * LANE_SIZE,
            max_keepalive_connections=LANE_SIZE,
            keepalive_expiry=IDLE_S,
            network_backend=GuardedBackend(allowed, resolver),
        )


@dataclass
class Lane:
    """A pool of its own, and the number of requests on it."""

    transport: GuardedTransport
    busy: int = 0


class LaneTransport(httpx2.AsyncBaseTransport):
    """As many small pools as it takes.

    One large pool walks through all its connections and requests for each new request: with 400 streams that is
    half of what starting one costs. The first lane with room is taken, so that connections are used again.
    """

    def __init__(self, allowed: frozenset[str], resolver: Resolver, roots: ssl.SSLContext) -> None:
        self._made_of = (allowed, resolver, roots)
        self._lanes: list[Lane] = []

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Sends the request on a lane that has room; the lane is busy until the response is closed."""
        lane = next((lane for lane in self._lanes if lane.busy < LANE_SIZE), None)
        if lane is None:
            lane = Lane(GuardedTransport(*self._made_of))
            self._lanes.append(lane)
        lane.busy += 1
        try:
            response = await lane.transport.handle_async_request(request)
        except BaseException:
            lane.busy -= 1
            raise
        refused = response.status_code >= 300
        response.stream = Body(cast(httpx2.AsyncByteStream, response.stream), lane, REFUSAL_LIMIT if refused else None)
        return response

    async def aclose(self) -> None:
        """Closes every connection."""
        lanes, self._lanes = self._lanes, []
        for lane in lanes:
            await lane.transport.aclose()


class Body(httpx2.AsyncByteStream):
    """A response's body: frees its lane when closed; a refusal's is cut once its message must have come."""

    def __init__(self, body: httpx2.AsyncByteStream, lane: Lane, limit: int | None) -> None:
        self._body, self._limit = body, limit
        self._lane: Lane | None = lane

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._body.__aiter__() if self._limit is None else self._beginning(self._limit)

    async def _beginning(self, limit: int) -> AsyncIterator[bytes]:
        async for part in self._body:
            yield part
            limit -= len(part)
            if limit < 0:
                return

    async def aclose(self) -> None:
        """Closes the body, and the connection with it unless all was read."""
        lane, self._lane = self._lane, None
        if lane:
            lane.busy -= 1
        await self._body.aclose()


def guarded_client(
    allowed: Iterable[str] = (), *, resolver: Resolver = resolve, roots: ssl.SSLContext | None = None
) -> httpx2.AsyncClient:
    """An HTTP client that connects to checked addresses only, follows no redirect and knows no proxy.

    `allowed` are `host:port` pairs on private addresses, besides those of OFFICE_PRIVATE_ENDPOINTS.
    """
    transport = LaneTransport(private_endpoints(allowed), resolver, roots or trusted_roots())
    return httpx2.AsyncClient(transport=transport, trust_env=False, follow_redirects=False, timeout=None)
