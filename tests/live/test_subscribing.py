"""Following streams: who may, in which order, and how it ends."""

import pytest

from office.actions import channels
from office.live import log, streams
from office.live.hub import hub


def test_subscribing_answers_with_epoch_and_head(cast, tab, hall) -> None:
    alice = tab(cast.alice)
    alice.say(hall, "one")
    answer = alice.subscribe(f"thread:{hall}")
    snapshot = alice.get(f"threads/{hall}/")
    assert (answer["epoch"], answer["head"]) == (snapshot["epoch"], snapshot["seq"]) == (snapshot["epoch"], 1)


def test_a_foreign_stream_answers_as_an_absent_one(cast, tab) -> None:
    alice, bob, charlie = tab(cast.alice), tab(cast.bob), tab(cast.charlie)
    private = alice.dm(cast.lead.pk)["stream"]
    for stream in (private, f"person:{cast.alice.pk}", "thread:absent", "person:absent", "office:absent"):
        assert bob.subscribe(stream) == {"type": "error", "code": "not_found", "ref": stream}
    assert charlie.subscribe(f"office:{cast.office.pk}")["code"] == "not_found"
    for path in (
        f"streams/{private}/events/",
        "streams/thread:absent/events/",
        f"streams/person:{cast.alice.pk}/events/",
    ):
        assert bob.http.get(path).json()["error"]["code"] == "not_found"


@pytest.mark.parametrize(
    "stream", ["", "nonsense", "thread:", ":x", "thread:\0", "thread:\ud800", "thread:" + "x" * 999, "office:' or 1=1"]
)
def test_a_stream_that_cannot_be_answers_not_found(cast, tab, stream) -> None:
    alice = tab(cast.alice)
    alice.send(type="subscribe", stream=stream)
    alice.wait_frame(lambda frame: frame["type"] == "error" and frame["code"] == "not_found")
    assert alice.subscribe(f"person:{cast.alice.pk}")["type"] == "subscribed"


def test_what_is_posted_between_joining_and_the_head_is_heard_live(cast, tab, hall, gate) -> None:
    alice, bob = tab(cast.alice), tab(cast.bob)
    stream = f"thread:{hall}"
    head = gate(log, "head", holds=lambda name: name == stream)
    alice.send(type="subscribe", stream=stream, cursor=None)
    assert head.reached()
    bob.say(hall, "in between")
    alice.wait(lambda: alice.events(stream))
    assert not [frame for frame in alice.frames if frame["type"] == "subscribed"]
    head.open()
    answer = alice.wait_frame(lambda frame: frame["type"] == "subscribed")
    assert answer["head"] == 0  # read before the post: the event came live, so nothing is missing


def test_who_is_taken_out_of_a_channel_stops_hearing_it_at_once(cast, tab, hall) -> None:
    alice, bob = tab(cast.alice), tab(cast.bob)
    view = bob.watch(hall)
    bob.subscribe(f"person:{cast.bob.pk}")
    channels.remove_from_channel(cast.alice, channel=cast.project.pk, person=cast.bob.pk)
    bob.wait_frame(lambda frame: frame == {"type": "dropped", "stream": view.stream})
    alice.say(hall, "not for Bob")
    bob.dm(cast.lead.pk)  # parcels keep their order: with this event here, the other would be too
    bob.wait(lambda: [event for event in bob.events(f"person:{cast.bob.pk}") if event["event"] == "channel.opened"])
    assert bob.events(view.stream) == []
    assert bob.http.get(f"threads/{hall}/").status_code == 404
    assert bob.http.get(f"streams/{view.stream}/events/").status_code == 404


def test_who_is_taken_out_while_subscribing_does_not_get_in(cast, tab, hall, gate) -> None:
    alice, bob = tab(cast.alice), tab(cast.bob)
    alice.watch(hall)
    stream = f"thread:{hall}"
    allowed = gate(streams, "may_follow", holds=lambda person, name: (person, name) == (cast.bob.pk, stream))
    bob.send(type="subscribe", stream=stream)
    assert allowed.reached()
    channels.remove_from_channel(cast.alice, channel=cast.project.pk, person=cast.bob.pk)
    alice.say(hall, "witness")
    alice.wait(lambda: alice.events(stream))
    allowed.open()
    bob.wait_frame(lambda frame: frame == {"type": "error", "code": "not_found", "ref": stream})
    assert stream not in hub.of_person(cast.bob.pk)[0].streams


def test_who_was_taken_out_unheard_is_dropped_by_the_beat(cast, tab, hall, beat) -> None:
    bob = tab(cast.bob)
    view = bob.watch(hall)
    cast.project.members.filter(person=cast.bob).delete()
    beat()
    bob.wait_frame(lambda frame: frame == {"type": "dropped", "stream": view.stream})
    last = [frame for frame in bob.frames if frame["type"] == "beat"][-1:]
    assert all(view.stream not in frame["heads"] for frame in last)


def test_unsubscribing_ends_the_events(cast, tab, hall) -> None:
    alice, bob = tab(cast.alice), tab(cast.bob)
    alice.watch(hall), bob.watch(hall)
    bob.send(type="unsubscribe", stream=f"thread:{hall}")
    bob.subscribe(f"person:{cast.bob.pk}")
    alice.say(hall, "nobody told Bob")
    bob.dm(cast.lead.pk)
    bob.wait(lambda: bob.events(f"person:{cast.bob.pk}"))
    assert bob.events(f"thread:{hall}") == []


def test_unsubscribing_before_the_answer_wins(cast, tab, hall, gate) -> None:
    alice = tab(cast.alice)
    stream = f"thread:{hall}"
    allowed = gate(streams, "may_follow", holds=lambda _, name: name == stream)
    alice.send(type="subscribe", stream=stream)
    assert allowed.reached()
    alice.send(type="unsubscribe", stream=stream)
    alice.send(type="dance")
    alice.wait_frame(lambda frame: frame["type"] == "error")
    allowed.open()
    alice.subscribe(f"person:{cast.alice.pk}")  # a socket's subscriptions are answered one after another
    assert hub.by_stream.get(stream) is None


def test_more_streams_than_allowed_are_refused_even_at_once(cast, tab, settings) -> None:
    settings.LIVE_STREAMS_PER_SOCKET = 2
    alice = tab(cast.alice)
    names = [alice.dm(coworker.pk)["stream"] for coworker in cast.staff[:4]]
    for name in names:
        alice.send(type="subscribe", stream=name)
    answered = lambda kind: [frame for frame in alice.frames if frame["type"] == kind]  # noqa: E731
    alice.wait(lambda: len(answered("subscribed")) + len(answered("error")) == 4)
    assert len(answered("subscribed")) == 2
    assert {frame["code"] for frame in answered("error")} == {"too_many_streams"}
    assert alice.subscribe(answered("subscribed")[0]["stream"])["type"] == "subscribed"  # again is no more


def test_a_blocked_subscription_delays_no_event_of_another_socket(cast, tab, hall, gate) -> None:
    alice, bob = tab(cast.alice), tab(cast.bob)
    bob.watch(hall)
    slow = gate(streams, "may_follow", holds=lambda person, _: person == cast.alice.pk)
    for number in range(30):
        alice.send(type="subscribe", stream=f"thread:slow{number}")
    assert slow.reached()
    tab(cast.alice, connect=False).say(hall, "still quick")
    bob.wait(lambda: bob.events(f"thread:{hall}"), seconds=5)


def test_many_blocked_subscriptions_of_one_socket_leave_room_for_others(cast, tab, hall, gate) -> None:
    alice, bob = tab(cast.alice), tab(cast.bob)
    slow = gate(streams, "may_follow", holds=lambda person, _: person == cast.alice.pk)
    for number in range(50):
        alice.send(type="subscribe", stream=f"thread:slow{number}")
    assert slow.reached()
    assert bob.subscribe(f"thread:{hall}")["type"] == "subscribed"
    slow.open()
    refused = lambda: [frame for frame in alice.frames if frame["type"] == "error"]  # noqa: E731
    alice.wait(lambda: len(refused()) == 50)


def test_a_socket_that_left_is_on_no_stream(cast, tab, hall) -> None:
    alice = tab(cast.alice)
    alice.watch(hall)
    alice.cut()
    bob = tab(cast.bob)
    bob.wait(lambda: bob.pump(0.01) or not hub.of_person(cast.alice.pk))
    assert f"thread:{hall}" not in hub.by_stream
