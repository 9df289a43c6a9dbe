"""A lean scripted model server for load: chat completions over HTTP and SSE, written straight to the socket.

`python -m tests.bench.model PORT --chunks 10 --pause-ms 10`. With `--chunks 0` answers go on until `POST /end`, which
ends one after another. Each chunk holds the time it was written, `t=` and 15 digits; `GET /report` tells how many were
written, and how late this server itself was, so that its lateness is not taken for the product's.
"""

import argparse
import asyncio
import json
from array import array
from typing import Any

from tests.bench.clock import stamp
from tests.bench.figures import percentile

MOST_SECONDS = 180  # an answer without an end stops by itself after this
HEAD = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nCache-Control: no-cache\r\n"
    b"Transfer-Encoding: chunked\r\n\r\n"
)


def sse(choices: list[dict[str, Any]], **more: Any) -> bytes:
    """One chunk of the answer as an event, in HTTP's chunked framing."""
    body = {
        "id": "c",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "scripted-1",
        "choices": choices,
        **more,
    }
    text = b"data: " + json.dumps(body, separators=(",", ":")).encode() + b"\n\n"
    return framed(text)


def framed(text: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(text), text)


def delta(finish: str | None = None, **fields: str) -> list[dict[str, Any]]:
    return [{"index": 0, "delta": fields, "finish_reason": finish}]


FIRST = sse(delta(role="assistant", content=""))
USAGE = {"prompt_tokens": 9, "completion_tokens": 9, "total_tokens": 18}
LAST = sse(delta("stop")) + sse([], usage=USAGE) + framed(b"data: [DONE]\n\n") + b"0\r\n\r\n"
SPOT = "t=" + "0" * 15
BEFORE, AFTER = sse(delta(content=SPOT + " ")).split(SPOT.encode())  # only the digits differ from chunk to chunk


class Script:
    """What every answer is made of, and what was measured while answering."""

    def __init__(self, chunks: int, pause: float) -> None:
        self.chunks, self.pause = chunks or int(MOST_SECONDS / pause), pause
        self.late = array("d")  # ms behind the schedule, of each chunk
        self.written = 0
        self.open: dict["Answering", None] = {}  # noqa: UP037 - the class stands below

    def report(self) -> dict[str, Any]:
        """How it went since the last report."""
        late, self.late = sorted(self.late), array("d")
        shares = {f"late_p{int(share * 100)}": percentile(late, share) for share in (0.5, 0.99)}
        return {"written": self.written, "open": len(self.open), **shares, "late_max": late[-1] if late else 0.0}

    def end(self, spacing: float) -> None:
        """Ends what is open, one answer each `spacing` seconds."""
        loop = asyncio.get_running_loop()
        for place, answer in enumerate(list(self.open)):
            loop.call_later(place * spacing, answer.finish)


class Answering(asyncio.Protocol):
    """One connection; a request is read whole and answered before the next."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self._buffer = b""
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport, self.loop = transport, asyncio.get_running_loop()

    def connection_lost(self, error: Exception | None) -> None:
        self.stop()

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        head, found, rest = self._buffer.partition(b"\r\n\r\n")
        if not found:
            return
        fields = [line.partition(b":") for line in head.split(b"\r\n")[1:]]
        length = next((int(value) for name, _, value in fields if name.lower() == b"content-length"), 0)
        if len(rest) >= length:
            self._buffer = rest[length:]
            self.route(head.split(b" ", 2)[1].decode(), rest[:length])

    def route(self, path: str, body: bytes) -> None:
        if path.endswith("/chat/completions"):
            self.begin()
        elif path.endswith("/models"):
            self.answer({"object": "list", "data": [{"id": "scripted-1", "object": "model"}]})
        elif path == "/end":
            self.script.end(json.loads(body)["spacing"])
            self.answer({})
        else:
            self.answer(self.script.report())

    def answer(self, body: dict[str, Any]) -> None:
        raw = json.dumps(body).encode()
        head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(raw)}\r\n\r\n"
        self.transport.write(head.encode() + raw)

    def begin(self) -> None:
        """The head, a first chunk with nothing but the role, and the first text at once."""
        self.script.open[self] = None
        self._left, self._due = self.script.chunks, self.loop.time()
        self.transport.write(HEAD + FIRST)
        self.step()

    def step(self) -> None:
        """Writes the chunk that is due and sets the time of the next; a late one does not move those after it."""
        script = self.script
        script.late.append((self.loop.time() - self._due) * 1000)
        script.written += 1
        self.transport.write(BEFORE + stamp().encode() + AFTER)
        self._left -= 1
        if self._left <= 0:
            self.finish()
            return
        self._due += script.pause
        self._timer = self.loop.call_at(self._due, self.step)

    def finish(self) -> None:
        if self in self.script.open:
            self.transport.write(LAST)
            self.stop()

    def stop(self) -> None:
        self.script.open.pop(self, None)
        if self._timer:
            self._timer.cancel()


async def main(port: int, chunks: int, pause: float) -> None:
    script = Script(chunks, pause)
    server = await asyncio.get_running_loop().create_server(lambda: Answering(script), "127.0.0.1", port, backlog=2048)
    await server.serve_forever()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("port", type=int)
    parser.add_argument("--chunks", type=int, default=10)
    parser.add_argument("--pause-ms", type=float, default=10)
    given = parser.parse_args()
    asyncio.run(main(given.port, given.chunks, given.pause_ms / 1000))
