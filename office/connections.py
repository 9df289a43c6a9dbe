"""Opens connections to model servers, to checked addresses only, and reads them without waste.

A name is resolved, every address it has is checked, and the connection goes to a checked address, so that a name
which answers differently a moment later (rebinding) gains nothing. The name of the URL stays the one TLS checks.
"""

import asyncio
import ipaddress
import socket
import ssl
import weakref
from collections.abc import Awaitable, Callable
from typing import cast

import httpx2

from office.net import check_address

Resolver = Callable[[str, int], Awaitable[list[str]]]

ONE_ADDRESS_S = 3.0  # a name with several addresses must not spend the whole limit on a dead first one
BUFFERED = 256 * 1024  # unread bytes at which a connection stops taking more
PROMPT_READS = 3  # head, role, first words: never held back


def breath(connections: int) -> float:
    """Seconds a connection rests after a read: nothing up to 100 connections, 0.2 s from 400 on.

    Waking for each chunk of each stream is most of what a stream costs; resting, several arrive at once.
    """
    return 0.0 if connections <= 100 else min(0.2, connections / 2000)


class Connection(asyncio.Protocol):
    """One TCP or TLS connection."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._parts: list[bytes] = []
        self._unread = self._reads = 0
        self._waiter: asyncio.Future[None] | None = None
        self._ended = False
        self._problem: Exception | None = None

    async def read(self) -> bytes:
        """All that has arrived, waiting for something; `b""` at the end. Raises `httpx2.ReadError`."""
        if not self._parts and not self._ended:
            self._waiter = self._loop.create_future()
            try:
                await self._waiter
            finally:
                self._waiter = None
        if self._problem and not self._parts:
            raise httpx2.ReadError(type(self._problem).__name__)
        received = self._parts[0] if len(self._parts) == 1 else b"".join(self._parts)
        self._parts.clear()
        self._rest_or_go_on()
        return received

    def write(self, content: bytes) -> None:
        """Sends; what does not fit at once waits in memory, where the request is anyway."""
        self._transport.write(content)

    def close(self) -> None:
        """Closes at once: a TLS farewell would keep a cancelled stream open for seconds."""
        OPEN.discard(self)
        self._transport.abort()

    def is_quiet(self) -> bool:
        """Whether an idle connection can take another request: still open, and nothing came unasked."""
        return not self._ended and not self._parts

    def _rest_or_go_on(self) -> None:
        was_full, self._unread = self._unread > BUFFERED, 0
        self._reads += 1
        pause = breath(len(OPEN)) if self._reads > PROMPT_READS else 0.0
        if pause and not self._ended:
            self._transport.pause_reading()
            self._loop.call_later(pause, self._go_on)
        elif was_full:
            self._go_on()

    def _go_on(self) -> None:
        if not self._ended and not self._transport.is_closing() and self._unread <= BUFFERED:
            self._transport.resume_reading()

    def _wake(self) -> None:
        if self._waiter and not self._waiter.done():
            self._waiter.set_result(None)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's is one by its deeds, not by its class
        OPEN.add(self)

    def data_received(self, data: bytes) -> None:
        self._parts.append(data)
        self._unread += len(data)
        if self._unread > BUFFERED:
            self._transport.pause_reading()
        self._wake()

    def eof_received(self) -> None:
        self._ended = True
        self._wake()

    def connection_lost(self, exc: Exception | None) -> None:
        OPEN.discard(self)
        self._ended, self._problem = True, exc
        self._wake()


# Those not closed yet, to know how many there are.
OPEN: "weakref.WeakSet[Connection]" = weakref.WeakSet()


async def resolve(host: str, port: int) -> list[str]:
    """The addresses of a name, as the system knows them."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


class Opener:
    """Opens connections to checked addresses only; `allowed` are private `host:port` pairs it may reach."""

    def __init__(self, allowed: frozenset[str], resolver: Resolver, roots: ssl.SSLContext) -> None:
        self._allowed, self._resolve, self._roots = allowed, resolver, roots

    async def open(self, host: str, port: int, *, tls: bool, timeout: float | None = None) -> Connection:
        """Resolves, checks every address, connects to the first that answers.

        Raises `AddressRefused`, `httpx2.ConnectError` or `httpx2.ConnectTimeout`.
        """
        try:
            async with asyncio.timeout(timeout):
                return await self._first(await self._checked(host, port), host, port, tls)
        except TimeoutError:
            raise httpx2.ConnectTimeout("no connection in time") from None
        except (OSError, UnicodeError) as problem:  # a name that cannot be encoded cannot be resolved either
            raise httpx2.ConnectError(str(problem)) from None

    async def _checked(self, host: str, port: int) -> list[str]:
        addresses = await self._resolve(host, port)
        for text in addresses:
            check_address(ipaddress.ip_address(text.split("%")[0]), host, port, self._allowed)
        if not addresses:
            raise OSError("the name has no address")
        return addresses

    async def _first(self, addresses: list[str], host: str, port: int, tls: bool) -> Connection:
        for address in addresses[:-1]:
            try:
                async with asyncio.timeout(ONE_ADDRESS_S):
                    return await self._one(address, host, port, tls)
            except (OSError, TimeoutError):
                continue
        return await self._one(addresses[-1], host, port, tls)

    async def _one(self, address: str, host: str, port: int, tls: bool) -> Connection:
        _, connection = await asyncio.get_running_loop().create_connection(
            Connection, address, port, ssl=self._roots if tls else None, server_hostname=host if tls else None
        )
        return connection
