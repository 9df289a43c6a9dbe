"""HTTP/1.1 to model servers over guarded connections: no redirects, no proxies, bodies read in whole arrivals.

h11 writes the request and reads the head of the response. The body is taken apart here: the library's own layers
hand on one transfer chunk at a time, which with hundreds of streams costs more than everything else.
"""

import ssl
import time
from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import dataclass
from functools import cache

import h11
import httpx2

from office.connections import Connection, Opener, Resolver, resolve
from office.framing import Chunked, Sized, framing_of
from office.net import private_endpoints

IDLE_S = 30.0
IDLE_KEPT = 64
REFUSAL_LIMIT = 64 * 1024  # enough for a refusal's message, whatever a server pours out


@cache
def trusted_roots() -> ssl.SSLContext:
    """One TLS context for the process: loading the roots takes as long as a hundred requests."""
    return httpx2.create_ssl_context(trust_env=False)


class Body(httpx2.AsyncByteStream):
    """A response's body. Closing it closes the connection, unless all was read and another request may follow."""

    def __init__(self, line: "Line", framing: Sized | Chunked, begun: bytes, limit: int | None) -> None:
        self._line, self._framing, self._begun, self._limit = line, framing, begun, limit

    async def __aiter__(self) -> AsyncIterator[bytes]:
        received, read = self._begun, 0
        while True:
            part = self._framing.take(received) if received else b""
            if part:
                yield part
            read += len(part)
            if self._framing.done or (self._limit is not None and read > self._limit):
                return
            received = await self._line.connection.read()
            if not received:
                if self._framing.ended():
                    return
                raise httpx2.RemoteProtocolError("the connection ended before the answer did")

    async def aclose(self) -> None:
        """Gives the connection back or closes it."""
        self._line.release(self._framing.done and not self._framing.rest)


Place = tuple[str, int, bool]


@dataclass
class Line:
    """A connection on loan from the transport."""

    transport: "GuardedTransport"
    place: Place
    connection: Connection
    reusable: bool = False

    def release(self, clean: bool) -> None:
        """Keeps the connection for the next request if its last answer was read to the end."""
        if clean and self.reusable:
            self.transport.keep(self)
        else:
            self.connection.close()


class GuardedTransport(httpx2.AsyncBaseTransport):
    """Sends requests over checked connections, and keeps those that can be used again."""

    def __init__(self, opener: Opener) -> None:
        self._opener = opener
        self._idle: dict[Place, list[tuple[Connection, float]]] = {}
        self._closed = False

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Sends a request and reads the head of its response. Nothing is sent twice: that is the caller's choice."""
        content = _written(request, await request.aread())
        line = await self._line(request)
        try:
            line.connection.write(content)
            head, begun = await _read_head(line.connection)
        except BaseException:
            line.connection.close()
            raise
        headers = dict(head.headers)
        line.reusable = head.http_version == b"1.1" and headers.get(b"connection", b"").lower() != b"close"
        framing = framing_of(request.method, head.status_code, headers)
        limit = REFUSAL_LIMIT if head.status_code >= 300 else None
        return httpx2.Response(
            head.status_code,
            headers=list(head.headers.raw_items()),
            stream=Body(line, framing, begun, limit),
            extensions={"http_version": b"HTTP/" + head.http_version, "reason_phrase": head.reason},
        )

    async def _line(self, request: httpx2.Request) -> Line:
        tls = request.url.scheme == "https"
        place = (request.url.raw_host.decode().strip("[]"), request.url.port or (443 if tls else 80), tls)
        kept = self._idle.get(place, [])
        while kept:
            connection, until = kept.pop()
            if connection.is_quiet() and until > time.monotonic():
                return Line(self, place, connection)
            connection.close()
        limits: Mapping[str, float | None] = request.extensions.get("timeout", {})
        connection = await self._opener.open(place[0], place[1], tls=tls, timeout=limits.get("connect"))
        return Line(self, place, connection)

    def keep(self, line: Line) -> None:
        """Takes a connection back for later."""
        kept = self._idle.setdefault(line.place, [])
        if self._closed or len(kept) >= IDLE_KEPT or not line.connection.is_quiet():
            line.connection.close()
        else:
            kept.append((line.connection, time.monotonic() + IDLE_S))

    async def aclose(self) -> None:
        """Closes the idle connections; those in use close with their responses."""
        self._closed = True
        for kept in self._idle.values():
            for connection, _ in kept:
                connection.close()
        self._idle.clear()


def _written(request: httpx2.Request, body: bytes) -> bytes:
    """The bytes of a request; h11 refuses headers that would break out of their line."""
    writer = h11.Connection(h11.CLIENT)
    try:
        head = h11.Request(method=request.method, target=request.url.raw_path, headers=request.headers.raw)
        parts = [writer.send(head), writer.send(h11.Data(data=body)) if body else b"", writer.send(h11.EndOfMessage())]
    except h11.LocalProtocolError as problem:
        raise httpx2.LocalProtocolError(str(problem)) from None
    return b"".join(part for part in parts if part)


async def _read_head(connection: Connection) -> tuple[h11.Response, bytes]:
    """The head of the response, and what came of the body with it."""
    reader = h11.Connection(h11.CLIENT)
    reader.send(h11.Request(method="GET", target="/", headers=[("host", "-")]))
    reader.send(h11.EndOfMessage())
    try:
        while True:
            event = reader.next_event()
            if isinstance(event, h11.Response):
                return event, reader.trailing_data[0]
            if event is h11.NEED_DATA:
                reader.receive_data(await connection.read())
            elif not isinstance(event, h11.InformationalResponse):
                raise httpx2.RemoteProtocolError("the server hung up without an answer")
    except h11.RemoteProtocolError as problem:
        raise httpx2.RemoteProtocolError(str(problem)) from None


def guarded_client(
    allowed: Iterable[str] = (), *, resolver: Resolver = resolve, roots: ssl.SSLContext | None = None
) -> httpx2.AsyncClient:
    """An HTTP client that connects to checked addresses only, follows no redirect and knows no proxy.

    `allowed` are `host:port` pairs on private addresses, besides those of OFFICE_PRIVATE_ENDPOINTS.
    """
    opener = Opener(private_endpoints(allowed), resolver, roots or trusted_roots())
    return httpx2.AsyncClient(transport=GuardedTransport(opener), trust_env=False, follow_redirects=False, timeout=None)
