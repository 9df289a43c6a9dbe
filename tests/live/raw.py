"""A socket that speaks just enough WebSocket to be let in, and then behaves badly: it reads only when told to."""

import base64
import json
import os
import socket
import struct
from typing import Any
from urllib.parse import urlparse


class RawSocket:
    """One connection without a library behind it; `buffer` bounds what the kernel takes in its stead."""

    def __init__(self, url: str, session: str, buffer: int = 4096) -> None:
        place = urlparse(url)
        self.socket = socket.socket()
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        self.socket.settimeout(15)
        self.socket.connect((place.hostname, place.port))
        self._greet(url, place.netloc, session)
        self.send(type="hello", version=1, client="raw")

    def _greet(self, url: str, host: str, session: str) -> None:
        key = base64.b64encode(os.urandom(16)).decode()
        lines = (
            "GET /ws/v1/ HTTP/1.1", f"Host: {host}", "Upgrade: websocket", "Connection: Upgrade", f"Origin: {url}",
            f"Sec-WebSocket-Key: {key}", "Sec-WebSocket-Version: 13", f"Cookie: office_session={session}", "", "",
        )  # fmt: skip
        self.socket.sendall("\r\n".join(lines).encode())
        self._left = b""
        while b"\r\n\r\n" not in self._left:
            self._left += self.socket.recv(4096)
        head, _, self._left = self._left.partition(b"\r\n\r\n")
        assert b" 101 " in head.split(b"\r\n")[0] + b" ", head

    def send(self, **frame: Any) -> None:
        """One masked text frame (short ones only)."""
        payload = json.dumps(frame).encode()
        mask = os.urandom(4)
        length = bytes([0x80 | len(payload)]) if len(payload) < 126 else b"\xfe" + struct.pack(">H", len(payload))
        self.socket.sendall(b"\x81" + length + mask + bytes(byte ^ mask[i % 4] for i, byte in enumerate(payload)))

    def read(self) -> tuple[list[dict[str, Any]], int]:
        """Everything until the end: the protocol's frames, and the close code (1006 when there was none)."""
        frames: list[dict[str, Any]] = []
        while (one := self._frame()) is not None:
            kind, payload = one
            if kind == 8:
                return frames, struct.unpack(">H", payload[:2])[0]
            if kind == 1:
                frames += [json.loads(line) for line in payload.decode().split("\n")]
        return frames, 1006

    def read_until(self, kind: str) -> dict[str, Any]:
        """The next frame of that type; those before it are let go."""
        while (one := self._frame()) is not None:
            for line in one[1].decode().split("\n") if one[0] == 1 else ():
                if (frame := json.loads(line))["type"] == kind:
                    return dict(frame)
        raise AssertionError(f"closed before a frame of type {kind}")

    def _frame(self) -> tuple[int, bytes] | None:
        head = self._bytes(2)
        if head is None:
            return None
        length = head[1] & 127
        if length > 125:
            wide = self._bytes(2 if length == 126 else 8)
            length = int.from_bytes(wide or b"", "big")
        payload = self._bytes(length)
        return None if payload is None else (head[0] & 15, payload)

    def _bytes(self, count: int) -> bytes | None:
        while len(self._left) < count:
            try:
                more = self.socket.recv(65536)
            except ConnectionError:
                return None
            if not more:
                return None
            self._left += more
        taken, self._left = self._left[:count], self._left[count:]
        return taken

    def close(self) -> None:
        self.socket.close()
