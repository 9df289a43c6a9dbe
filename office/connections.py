"""Opens connections to model servers: to checked addresses only, through no proxy, following no redirect.

A name is resolved, every address it has is checked, and the connection goes to a checked address, so that
a name which answers differently a moment later (rebinding) gains nothing.
"""

import asyncio
import ipaddress
import socket
import ssl
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

import httpcore2
from httpcore2 import AsyncNetworkBackend, AsyncNetworkStream

from office.net import check_address

Resolver = Callable[[str, int], Awaitable[list[str]]]

ONE_ADDRESS_S = 3.0  # a name with several addresses must not spend the whole limit on a dead first one


async def resolve(host: str, port: int) -> list[str]:
    """The addresses of a name, as the system knows them."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


class GuardedStream(AsyncNetworkStream):
    """A TCP or TLS connection on asyncio's own streams.

    It costs about half of what the library's default stream costs per chunk, which counts with hundreds
    of streams.
    """

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """What has arrived, `b""` at the end."""
        try:
            if timeout is None:
                return await self._reader.read(max_bytes)
            async with asyncio.timeout(timeout):
                return await self._reader.read(max_bytes)
        except TimeoutError:
            raise httpcore2.ReadTimeout from None
        except OSError as problem:
            raise httpcore2.ReadError(str(problem)) from None

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Sends, waiting while the other side does not take more."""
        try:
            async with asyncio.timeout(timeout):
                self._writer.write(buffer)
                await self._writer.drain()
        except TimeoutError:
            raise httpcore2.WriteTimeout from None
        except OSError as problem:
            raise httpcore2.WriteError(str(problem)) from None

    async def aclose(self) -> None:
        """Closes at once: a TLS farewell would keep a cancelled stream open for seconds."""
        self._writer.transport.abort()

    async def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> AsyncNetworkStream:
        """TLS on this connection; `server_hostname` is the name of the URL, not the address connected to."""
        try:
            async with asyncio.timeout(timeout):
                await self._writer.start_tls(ssl_context, server_hostname=server_hostname)
        except TimeoutError:
            await self.aclose()
            raise httpcore2.ConnectTimeout from None
        except OSError as problem:
            await self.aclose()
            raise httpcore2.ConnectError(str(problem)) from None
        return self

    def get_extra_info(self, info: str) -> Any:
        """What the connection pool asks: the TLS object, and whether an idle connection was closed."""
        if info == "is_readable":
            return self._reader.at_eof() or self._reader.exception() is not None or self._writer.is_closing()
        names = {
            "ssl_object": "ssl_object",
            "server_addr": "peername",
            "client_addr": "sockname",
            "socket": "socket",
        }
        return self._writer.get_extra_info(names[info]) if info in names else None


class GuardedBackend(AsyncNetworkBackend):
    """Opens connections to checked addresses only."""

    def __init__(self, allowed: frozenset[str], resolver: Resolver = resolve) -> None:
        self._allowed, self._resolve = allowed, resolver

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> AsyncNetworkStream:
        """Resolves, checks every address, connects to the first that answers."""
        try:
            async with asyncio.timeout(timeout):
                return await self._open(await self._checked(host, port), port)
        except TimeoutError:
            raise httpcore2.ConnectTimeout from None
        except (OSError, UnicodeError) as problem:  # a name that cannot be encoded cannot be resolved either
            raise httpcore2.ConnectError(str(problem)) from None

    async def _checked(self, host: str, port: int) -> list[str]:
        addresses = await self._resolve(host.strip("[]"), port)
        for text in addresses:
            check_address(ipaddress.ip_address(text.split("%")[0]), host.strip("[]"), port, self._allowed)
        if not addresses:
            raise OSError("the name has no address")
        return addresses

    async def _open(self, addresses: list[str], port: int) -> GuardedStream:
        for address in addresses[:-1]:
            try:
                async with asyncio.timeout(ONE_ADDRESS_S):
                    return GuardedStream(*await asyncio.open_connection(address, port))
            except (OSError, TimeoutError):
                continue
        return GuardedStream(*await asyncio.open_connection(addresses[-1], port))

    async def sleep(self, seconds: float) -> None:
        """Asked for by the interface; retries are off, so nobody sleeps."""
        await asyncio.sleep(seconds)
