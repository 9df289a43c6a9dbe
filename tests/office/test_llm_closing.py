"""Whoever stops listening closes the connection to the model server at once, so that it stops writing."""

import asyncio
import gc
import time
from contextlib import aclosing

import pytest

from office.llm import Text, close_clients, complete, stream
from office.providers import wire_for
from tests.fakes import gate, story

CLOSED_WITHIN = 2.0


async def listen(ask, heard: asyncio.Event | None = None, hold: asyncio.Event | None = None):
    async with aclosing(stream(ask)) as pieces:
        async for piece in pieces:
            if heard and isinstance(piece, Text):
                heard.set()
            if hold:
                await hold.wait()


async def closed_after(seen, task):
    """Seconds between cancelling the task and the server noticing."""
    started = time.monotonic()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await asyncio.to_thread(seen.closed.wait, CLOSED_WITHIN)
    return seen.closed_at - started


async def test_cancelling_before_the_first_byte_closes_the_connection(server, ask):
    server.queue(story(gate(), role=False))
    task = asyncio.create_task(listen(ask()))
    (seen,) = await server.arrived(1)
    assert await closed_after(seen, task) < CLOSED_WITHIN


async def test_cancelling_in_mid_answer_closes_the_connection(server, ask):
    server.queue(story("はい", gate()))
    heard = asyncio.Event()
    task = asyncio.create_task(listen(ask(), heard))
    await heard.wait()
    assert await closed_after(server.chats[0], task) < CLOSED_WITHIN


async def test_cancelling_while_the_listener_is_busy_with_a_piece_closes_the_connection(server, ask):
    server.queue(story("はい", gate()))
    heard = asyncio.Event()
    task = asyncio.create_task(listen(ask(), heard, hold=asyncio.Event()))
    await heard.wait()
    assert await closed_after(server.chats[0], task) < CLOSED_WITHIN


async def test_cancelling_a_whole_answer_closes_the_connection(server, ask):
    server.queue(story(gate()))
    task = asyncio.create_task(complete(ask()))
    (seen,) = await server.arrived(1)
    assert await closed_after(seen, task) < CLOSED_WITHIN


async def test_leaving_the_loop_early_closes_the_connection(server, ask):
    server.queue(story("はい", gate()))
    async with aclosing(stream(ask())) as pieces:
        await anext(pieces)
    assert await asyncio.to_thread(server.chats[0].closed.wait, CLOSED_WITHIN)


async def test_a_finished_answer_leaves_its_connection_for_the_next(server, ask):
    for _ in range(3):
        await listen(ask())
    assert len({seen.client for seen in server.chats}) == 1
    assert not any(seen.closed.is_set() for seen in server.chats)


async def test_a_client_is_kept_for_its_endpoint_and_closed_on_demand(server, ask):
    first = wire_for(ask().endpoint)
    await listen(ask())
    assert wire_for(ask().endpoint) is first
    assert first.in_use == 0
    await close_clients()
    assert first.client.is_closed()


def test_each_event_loop_has_its_own_client(server, made_ask):
    async def once():
        await listen(made_ask())
        await close_clients()

    for _ in range(3):
        asyncio.run(once())
    gc.collect()
    assert len(server.chats) == 3


async def test_many_streams_at_once_all_arrive_whole(server, ask):
    server.default = story(*["x"] * 20)

    async def text():
        return "".join([piece.text async for piece in stream(ask()) if isinstance(piece, Text)])

    assert await asyncio.gather(*(text() for _ in range(100))) == ["x" * 20] * 100
