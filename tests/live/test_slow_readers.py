"""A socket that does not keep up: its memory is bounded, it is closed with 4008, and nobody else notices."""

import pytest
from django.db import transaction

from office.live import log
from office.live.hub import Socket, hub
from tests.live.raw import RawSocket


@pytest.fixture
def raw(live):
    """`raw(client)` is a socket of that client's person which reads only when told to."""
    opened: list[RawSocket] = []

    def connect(client, stream: str, **options) -> RawSocket:
        opened.append(RawSocket(live.url, client.session, **options))
        opened[-1].read_until("hello")
        opened[-1].send(type="subscribe", stream=stream)
        opened[-1].read_until("subscribed")
        return opened[-1]

    yield connect
    for one in opened:
        one.close()


def rename(view, count: int, size: int) -> None:
    """So many events of about that size, twenty a transaction; the view keeps pace, as one that reads does."""
    for done in range(20, count + 1, 20):
        with transaction.atomic():
            stream = log.lock(view.stream)
            for _ in range(20):
                log.append(stream, "thread.renamed", {"thread": {"id": view.thread, "title": "x" * size}})
        view.client.wait(lambda done=done: view.seq == done)


def slow_socket(client) -> Socket:
    """The hub's end of the only socket of that person."""
    return hub.of_person(client.person.pk)[0]


def test_a_socket_that_never_acknowledges_is_closed_4008_within_its_credit(cast, tab, hall, raw) -> None:
    alice, bob = tab(cast.alice), tab(cast.bob, connect=False)
    view = alice.watch(hall)
    slow = raw(bob, view.stream, buffer=1 << 20)
    end = slow_socket(bob)
    rename(view, 1000, 200)
    frames, code = slow.read()
    assert code == 4008
    assert frames[-1] == {"type": "goodbye", "code": 4008, "retry": True, "retry_after": 1}
    seqs = [frame["seq"] for frame in frames if frame["type"] == "event"]
    assert seqs == list(range(1, len(seqs) + 1))
    assert len(seqs) <= 500
    assert len(end.queue) <= 256
    assert hub.of_person(cast.bob.pk) == []


@pytest.mark.parametrize("credit", [1 << 20, 1 << 40], ids=["stopped by its credit", "stopped in the midst of sending"])
def test_a_socket_that_never_reads_is_let_go_and_others_lose_nothing(cast, tab, hall, raw, settings, credit) -> None:
    settings.LIVE_UNACKED_BYTES = credit
    alice, bob = tab(cast.alice), tab(cast.bob, connect=False)
    view = alice.watch(hall)
    slow = raw(bob, view.stream, buffer=2048)
    rename(view, 500, 30_000)
    alice.wait(lambda: not hub.of_person(cast.bob.pk) or alice.pump(0.01))
    assert view.fills == 0
    assert sum(len(one) for one in hub.by_stream.values()) == 1
    slow.close()


def test_after_4008_the_client_comes_back_and_is_complete(cast, tab, hall, settings) -> None:
    settings.LIVE_UNACKED_FRAMES, settings.LIVE_QUEUE_FRAMES = 5, 5
    alice, bob = tab(cast.alice, connect=False), tab(cast.bob)
    view = bob.watch(hall)
    send = bob.send
    bob.send = lambda **frame: None if frame["type"] == "ack" else send(**frame)
    for number in range(20):
        alice.say(hall, str(number))
    assert bob.closed_with() == 4008
    bob.send = send
    settings.LIVE_UNACKED_FRAMES, settings.LIVE_QUEUE_FRAMES = 500, 256
    bob.reconnect()
    bob.wait(lambda: view.texts == [str(number) for number in range(20)])


async def test_under_pressure_deltas_go_first_then_typing_and_events_never(settings) -> None:
    settings.LIVE_QUEUE_FRAMES = 4
    socket = Socket("s", "p", "k")
    for kind in ("delta", "typing", "event", "delta"):
        socket.offer(kind, kind, kind == "event")
    socket.offer("delta", "delta", False)
    assert [frame.kind for frame in socket.queue] == ["delta", "typing", "event", "delta"]
    socket.offer("second event", "event", True)
    assert [frame.kind for frame in socket.queue] == ["typing", "event", "event"]
    socket.offer("third event", "event", True), socket.offer("fourth event", "event", True)
    assert [frame.kind for frame in socket.queue] == ["event"] * 4
    assert socket.closing is None
    socket.offer("fifth event", "event", True)
    assert socket.closing == 4008


async def test_a_beat_is_rather_lost_than_closes_a_full_socket(settings) -> None:
    settings.LIVE_QUEUE_FRAMES = 1
    socket = Socket("s", "p", "k")
    socket.offer("event", "event", True)
    socket.offer("beat", "beat", False)
    assert (socket.closing, len(socket.queue)) == (None, 1)


async def test_the_queue_is_bounded_in_bytes_too(settings) -> None:
    socket = Socket("s", "p", "k")
    for _ in range(4):
        socket.offer("x" * 300_000, "event", True)
    assert socket.closing == 4008


async def test_acknowledgements_that_go_back_or_run_ahead_change_nothing_for_others() -> None:
    socket = Socket("s", "p", "k")
    for _ in range(3):
        socket.offer("x", "event", True)
    await socket.take()
    assert socket.acknowledge(10**12, 0) == 3
    assert socket.acknowledge(-5, 3) == 3
    assert socket.acknowledge(1, 3) == 3
