"""A lean client of the REST API: one kept connection, no library whose own time would be measured."""

import asyncio
import json
import uuid
from typing import Any

from tests.bench.processes import Failed

TOKEN = "c" * 32


class Rest:
    """One signed-in connection. Answers are read whole before the next request goes out."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, head: str) -> None:
        self._reader, self._writer, self._head = reader, writer, head

    @classmethod
    async def open(cls, port: int, session: str = "") -> "Rest":
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        head = (
            f"Host: 127.0.0.1:{port}\r\nOrigin: http://127.0.0.1:{port}\r\nX-CSRFToken: {TOKEN}\r\n"
            f"Cookie: office_session={session}; csrftoken={TOKEN}\r\nContent-Type: application/json\r\n"
        )
        return cls(reader, writer, head)

    async def close(self) -> None:
        self._writer.close()
        await self._writer.wait_closed()

    async def post_message(self, path: str, text: str, to: list[str] | None = None) -> dict[str, Any]:
        """Posts a message with a fresh client id; fails on anything but success."""
        body: dict[str, Any] = {"client_msg_id": str(uuid.uuid4()), "text": text}
        if to:
            body["to"] = to
        return await self.ask("POST", f"/api/v1/{path}", body)

    async def ask(self, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        """One request; the JSON of the answer."""
        raw = json.dumps(body).encode() if body is not None else b""
        head = f"{method} {path} HTTP/1.1\r\n{self._head}Content-Length: {len(raw)}\r\n\r\n"
        self._writer.write(head.encode() + raw)
        lines = (await self._reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
        answer = await self._reader.readexactly(int(fields["content-length"]))
        status = int(lines[0].split()[1])
        if status >= 300:
            raise Failed(f"{method} {path} was answered {status}: {answer[:300].decode(errors='replace')}")
        return dict(json.loads(answer))
