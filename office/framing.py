"""How the body of an HTTP/1.1 response is delimited: by length, in transfer chunks, or by the connection's end."""

import re
from collections.abc import Mapping

import httpx2

LINE_LIMIT = 16 * 1024
CHUNK_SIZE = re.compile(rb"\s*([0-9a-fA-F]{1,15})\s*(;.*)?", re.DOTALL)


class Sized:
    """A body of known length, or one that ends with the connection (None)."""

    def __init__(self, left: int | None) -> None:
        self._left = left
        self.done = left == 0
        self.rest = b""

    def take(self, received: bytes) -> bytes:
        """The part of these bytes that belongs to the body."""
        if self._left is None:
            return received
        part, self.rest = received[: self._left], received[self._left :]
        self._left -= len(part)
        self.done = self._left == 0
        return part

    def ended(self) -> bool:
        """Whether the body may end where the connection does."""
        return self.done or self._left is None


class Chunked:
    """A body in transfer chunks."""

    def __init__(self) -> None:
        self.rest = b""
        self.done = False
        self._left = 0  # of the chunk being read
        self._expects = "size"

    def take(self, received: bytes) -> bytes:
        """What these bytes hold of the body. Raises `httpx2.RemoteProtocolError`."""
        buffer, at, parts = self.rest + received, 0, []
        while not self.done:
            if self._left:
                part = buffer[at : at + self._left]
                at, self._left = at + len(part), self._left - len(part)
                parts.append(part)
                if self._left:
                    break
                self._expects = "line end"
            end = buffer.find(b"\r\n", at)
            if end < 0:
                break
            self._line(buffer[at:end])
            at = end + 2
        self.rest = buffer[at:]
        if len(self.rest) > LINE_LIMIT and not self.done:
            raise httpx2.RemoteProtocolError("a chunk without a size")
        return b"".join(parts)

    def _line(self, line: bytes) -> None:
        if self._expects == "trailers":
            self.done = not line
        elif self._expects == "line end":
            if line:
                raise httpx2.RemoteProtocolError("a chunk longer than its size")
            self._expects = "size"
        else:
            size = CHUNK_SIZE.fullmatch(line)
            if not size:
                raise httpx2.RemoteProtocolError("a chunk without a size")
            self._left = int(size[1], 16)
            self._expects = "line end" if self._left else "trailers"

    def ended(self) -> bool:
        """Whether the body may end where the connection does."""
        return self.done


def framing_of(method: str, status: int, headers: Mapping[bytes, bytes]) -> Sized | Chunked:
    """How the body of a response is delimited."""
    if method == "HEAD" or status in (204, 304):
        return Sized(0)
    if headers.get(b"transfer-encoding", b"").lower().endswith(b"chunked"):
        return Chunked()
    length = headers.get(b"content-length")
    return Sized(int(length) if length is not None else None)
