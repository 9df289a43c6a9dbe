"""A channel layer that fails, hangs, forgets: what is posted is stored, and everybody sees it within one beat."""

import asyncio
import logging

import pytest
from channels.layers import get_channel_layer

from office.live.hub import hub
from office.live.relay import relay
from office.live.wire import GROUP, wire

UUID = "6a1f2b1e-0f6e-4d65-9b1c-3f6a0f4f2a10"
pytestmark = pytest.mark.usefixtures("quiet_beats")


@pytest.fixture
def layer():
    """The layer of this process, whose methods a test may replace."""
    return get_channel_layer()


def silent_loss(layer, monkeypatch) -> None:
    """The layer takes everything, and nothing arrives."""

    async def swallow(group, message):
        pass

    monkeypatch.setattr(layer, "group_send", swallow)


def fail(layer, monkeypatch, work) -> None:
    async def broken(*args):
        await work()

    monkeypatch.setattr(layer, "group_send", broken)


async def refuse() -> None:
    raise ConnectionError("connection refused")


async def hang() -> None:
    await asyncio.Event().wait()


def test_a_beat_carries_the_heads_of_ones_own_streams_only(cast, tab, hall, beat) -> None:
    alice, bob = tab(cast.alice), tab(cast.bob)
    view, mine = alice.watch(hall), bob.dm(cast.lead.pk)["stream"]
    bob.subscribe(mine)
    alice.say(hall, "one")
    beat()
    heads = alice.wait_frame(lambda frame: frame["type"] == "beat")["heads"]
    assert heads == {view.stream: [view.epoch, 1]}
    assert list(bob.wait_frame(lambda frame: frame["type"] == "beat")["heads"]) == [mine]


def test_a_silently_lost_event_is_repaired_by_the_next_beat(cast, tab, hall, beat, layer, monkeypatch) -> None:
    alice, bob = tab(cast.alice), tab(cast.bob)
    view = bob.watch(hall)
    silent_loss(layer, monkeypatch)
    alice.say(hall, "lost")
    beat()
    bob.wait(lambda: view.texts == ["lost"])
    assert bob.events(view.stream) == []


@pytest.mark.parametrize("fault", [refuse, hang])
def test_a_post_while_the_layer_is_down_is_stored_and_seen(cast, tab, hall, beat, layer, monkeypatch, fault) -> None:
    monkeypatch.setattr("office.live.wire.SEND_SECONDS", 0.2)
    alice, bob = tab(cast.alice), tab(cast.bob)
    view = bob.watch(hall)
    fail(layer, monkeypatch, fault)
    answer = alice.http.post(f"threads/{hall}/messages/", json={"client_msg_id": UUID, "text": "x"})
    assert answer.status_code == 201
    assert [one["text"] for one in alice.get(f"threads/{hall}/messages/")["messages"]] == ["x"]
    beat()
    bob.wait(lambda: view.texts == ["x"])


def test_sockets_of_the_same_process_are_served_without_the_layer(cast, tab, hall, layer, monkeypatch) -> None:
    alice, bob = tab(cast.alice), tab(cast.bob)
    view = bob.watch(hall)
    fail(layer, monkeypatch, refuse)
    alice.say(hall, "without a beat")
    bob.wait(lambda: view.texts == ["without a beat"])


def test_a_dead_layer_writes_one_line_and_one_when_it_is_back(cast, tab, hall, layer, monkeypatch, caplog) -> None:
    alice, bob = tab(cast.alice), tab(cast.bob)
    view = bob.watch(hall)
    with monkeypatch.context() as broken, caplog.at_level(logging.INFO):
        fail(layer, broken, refuse)
        before = wire.lost
        for number in range(30):
            alice.say(hall, str(number))
        bob.wait(lambda: len(view.messages) == 30)
    assert wire.lost - before == 30
    alice.say(hall, "back")
    bob.wait(lambda: len(view.messages) == 31)
    lines = [record.message for record in caplog.records if record.name == "office.live.wire"]
    assert len(lines) == 2
    assert "30 parcels" in lines[1]


def test_the_relay_starts_again_when_receiving_fails_and_beats_at_once(cast, tab, hall, layer, monkeypatch) -> None:
    alice, bob = tab(cast.alice), tab(cast.bob)
    view = bob.watch(hall)
    first, receive, broken = relay.channel, layer.receive, []

    async def fail_once(channel):
        message = await receive(channel)
        if not broken:
            broken.append(message)
            raise ConnectionError("reset by peer")
        return message

    monkeypatch.setattr(layer, "receive", fail_once)
    alice.say(hall, "ends the old receive")  # that one began before the patch
    alice.say(hall, "lost")
    bob.wait(lambda: len(view.messages) == 2)
    alice.say(hall, "live again")
    bob.wait(lambda: len(view.messages) == 3)
    assert broken
    assert [frame["seq"] for frame in bob.events(view.stream)] == [1, 3]
    assert relay.channel != first
    assert list(layer.groups[GROUP]) == [relay.channel]


def test_a_membership_that_was_lost_is_back_after_a_beat(cast, tab, hall, beat, layer, live) -> None:
    alice, bob = tab(cast.alice), tab(cast.bob)
    view = bob.watch(hall)
    live.call(layer.groups.clear)  # as FLUSHALL does, or one message that grew stale
    alice.say(hall, "unheard")
    beat()
    bob.wait(lambda: view.texts == ["unheard"])
    alice.say(hall, "live again")
    bob.wait(lambda: len(bob.events(view.stream)) == 1)


def test_a_relay_task_that_ended_is_started_anew_and_nothing_is_heard_twice(cast, tab, hall, live) -> None:
    alice = tab(cast.alice)
    view = alice.watch(hall)
    live.call(relay._tasks[1].cancel)
    alice.wait(lambda: live.call(relay._tasks[1].done) or alice.pump(0.01))
    bob = tab(cast.bob)  # the next socket finds it and mends it
    bob.watch(hall)
    bob.say(hall, "one")
    bob.say(hall, "two")
    alice.wait(lambda: len(view.messages) == 2)
    assert [frame["seq"] for frame in alice.events(view.stream)] == [1, 2]


def test_a_socket_silent_for_three_beats_is_closed(cast, tab, beat, settings) -> None:
    alice, bob = tab(cast.alice), tab(cast.bob)
    hub.of_person(cast.alice.pk)[0].seen -= 3 * settings.LIVE_BEAT_SECONDS
    beat()
    assert alice.closed_with() == 4008
    bob.wait_frame(lambda frame: frame["type"] == "beat")
