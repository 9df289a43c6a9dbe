"""Model servers of this machine are found by asking, quickly, and whatever answers there does no harm."""

import asyncio
import socket
import time

from office.discover import Found, find_model_servers
from tests.fakes import ModelServer


async def test_a_server_that_answers_is_found_with_its_models(server):
    server.models = ["alpha", "beta"]
    found = await find_model_servers((("Ollama", server.port),))
    assert found == [Found("Ollama", server.base_url, ["alpha", "beta"])]


async def test_a_silent_server_costs_no_more_than_the_limit(server):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        started = time.monotonic()
        ports = (("silent", silent.getsockname()[1]), ("nobody", 9), ("there", server.port))
        found = await find_model_servers(ports, limit_s=0.2)
    assert [one.name for one in found] == ["there"]
    assert time.monotonic() - started < 1.5


async def test_a_stranger_on_the_port_is_left_out():
    async def stranger(reader, writer):
        writer.write(b"220 mail ready\r\n")
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(stranger, "127.0.0.1", 0) as listening:
        port = listening.sockets[0].getsockname()[1]
        assert await find_model_servers((("mail", port),)) == []


def test_it_works_on_a_loop_of_its_own_again_and_again(server: ModelServer):
    for _ in range(3):
        assert asyncio.run(find_model_servers((("Ollama", server.port),)))
