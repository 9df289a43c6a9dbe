"""HTTP/1.1 as servers really speak it: every way to end a body, and connections used again only when clean."""

import asyncio

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from office.connections import BUFFERED, OPEN, PROMPT_READS, breath
from office.framing import Chunked
from office.transport import guarded_client
from tests.office.test_sse import cut


class Speaker:
    """A server that answers each request with the next of its raw answers; None hangs up."""

    def __init__(self, *answers):
        self.answers, self.connections = list(answers), 0

    async def __aenter__(self):
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}/"
        return self, guarded_client({f"127.0.0.1:{self.port}"})

    async def __aexit__(self, *_):
        self._server.close()

    async def _serve(self, reader, writer):
        self.connections += 1
        try:
            while self.answers:
                await reader.readuntil(b"\r\n\r\n")
                answer = self.answers.pop(0)
                writer.write(answer.removesuffix(b"HANG UP"))
                await writer.drain()
                if answer.endswith(b"HANG UP"):
                    break
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


OK = b"HTTP/1.1 200 OK\r\n"
SIZED = OK + b"content-length: 2\r\n\r\nok"
CHUNKED = OK + b"transfer-encoding: chunked\r\n\r\n1;x=y\r\no\r\n1\r\nk\r\n0\r\nx-trailer: 1\r\n\r\n"
TO_THE_END = OK + b"\r\nokHANG UP"


@pytest.mark.parametrize("answer", [SIZED, CHUNKED, TO_THE_END, b"HTTP/1.1 100 Continue\r\n\r\n" + SIZED])
async def test_a_body_is_read_however_it_is_delimited(answer):
    async with Speaker(answer) as (speaker, client), client:
        assert (await client.get(speaker.url)).text == "ok"


@pytest.mark.parametrize(("first", "connections"), [(SIZED, 1), (CHUNKED, 1), (TO_THE_END, 2)])
async def test_a_connection_is_used_again_after_a_body_that_ended_cleanly(first, connections):
    async with Speaker(first, SIZED) as (speaker, client), client:
        assert [(await client.get(speaker.url)).text for _ in range(2)] == ["ok", "ok"]
    assert speaker.connections == connections


@pytest.mark.parametrize(
    "first",
    [
        OK + b"connection: close\r\ncontent-length: 2\r\n\r\nok",
        SIZED + b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nfalse",
        b"HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\nok",
    ],
    ids=["told to close", "more than was asked for", "an old version"],
)
async def test_a_connection_in_doubt_is_not_used_again(first):
    async with Speaker(first, SIZED) as (speaker, client), client:
        assert [(await client.get(speaker.url)).text for _ in range(2)] == ["ok", "ok"]
    assert speaker.connections == 2


@pytest.mark.parametrize(
    "answer",
    [
        b"HANG UP",
        b"220 mail ready\r\n\r\nHANG UP",
        OK + b"content-length: 9\r\n\r\nokHANG UP",
        OK + b"transfer-encoding: chunked\r\n\r\n5\r\nokHANG UP",
        OK + b"transfer-encoding: chunked\r\n\r\nzz\r\nokHANG UP",
        OK + b"transfer-encoding: chunked\r\n\r\n1\r\nok\r\nHANG UP",
        OK + b"transfer-encoding: chunked\r\n\r\n" + b"1" * 50_000 + b"HANG UP",
        b"HTTP/1.1 200 OK\r\n" + b"x: y\r\n" * 100_000 + b"HANG UP",
    ],
)
async def test_a_broken_answer_is_an_error_and_leaves_no_connection(answer):
    async with Speaker(answer) as (speaker, client), client:
        with pytest.raises(httpx2.TransportError):
            await client.get(speaker.url)
    assert not [connection for connection in OPEN if not connection._transport.is_closing()]


async def test_a_header_cannot_break_out_of_its_line():
    async with Speaker(SIZED) as (speaker, client), client:
        with pytest.raises(httpx2.LocalProtocolError):
            await client.get(speaker.url, headers={"x": "a\r\nHost: other"})
    assert speaker.connections == 0


@given(st.lists(st.binary(min_size=1, max_size=40), max_size=8), st.lists(st.integers(0, 400), max_size=30))
def test_chunks_do_not_depend_on_how_the_bytes_were_split(parts, places):
    raw = b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\nrest"
    body = Chunked()
    taken = b"".join(body.take(read) for read in cut(raw, places) if not body.done)
    assert body.done
    assert taken == b"".join(parts)


async def test_a_reader_that_does_not_read_stops_the_sender():
    poured = 0

    async def pour(reader, writer):
        nonlocal poured
        await reader.readuntil(b"\r\n\r\n")
        writer.write(OK + b"\r\n")
        try:
            while True:
                writer.write(b"x" * 65536)
                await writer.drain()
                poured += 65536
        except ConnectionError:
            pass

    async with await asyncio.start_server(pour, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        client = guarded_client({f"127.0.0.1:{port}"})
        async with client, client.stream("GET", f"http://127.0.0.1:{port}/"):
            (connection,) = OPEN
            while connection._transport.is_reading():  # noqa: ASYNC110 - a pause is announced to nobody
                await asyncio.sleep(0)
            assert connection._unread < BUFFERED + 512 * 1024
            assert poured < 64 * 1024 * 1024


async def test_a_resting_connection_loses_nothing_and_joins_what_came_meanwhile(server, ask, monkeypatch):
    from office.llm import Text, stream
    from tests.fakes import story

    monkeypatch.setattr("office.connections.breath", lambda connections: 0.05)
    server.queue(story(*["x", 0.002] * 60))
    pieces = [piece.text async for piece in stream(ask()) if isinstance(piece, Text)]
    assert "".join(pieces) == "x" * 60
    assert PROMPT_READS <= len(pieces) < 30


def test_few_connections_never_rest_and_many_rest_no_longer_than_a_fifth_of_a_second():
    assert [breath(count) for count in (1, 100, 200, 400, 4000)] == [0, 0, 0.1, 0.2, 0.2]
