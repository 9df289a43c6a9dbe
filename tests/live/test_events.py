"""The event log as clients meet it: order, holes, cursors, and what an event promises."""

import uuid
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import transaction

from office.live import log
from office.live.models import Event, Stream


def sheet(text: str) -> dict[str, str]:
    return {"client_msg_id": str(uuid.uuid4()), "text": text}


def post_many(clients, thread: str, each: int) -> None:
    """All clients post at the same time."""
    with ThreadPoolExecutor(len(clients)) as pool:
        work = [pool.submit(client.say, thread, f"{n} {i}") for n, client in enumerate(clients) for i in range(each)]
        assert all(job.result()["message"]["number"] for job in work)


def test_eight_posters_at_once_leave_a_dense_log_in_one_order_for_all(cast, tab, hall) -> None:
    watchers = [tab(cast.alice), tab(cast.bob)]
    views = [watcher.watch(hall) for watcher in watchers]
    post_many([tab(cast.bob, connect=False) for _ in range(8)], hall, each=5)
    for watcher, view in zip(watchers, views, strict=True):
        watcher.wait(lambda view=view: len(view.messages) == 40)
    seqs = list(Event.objects.filter(stream=f"thread:{hall}").order_by("seq").values_list("seq", flat=True))
    assert seqs == list(range(1, 41))
    assert [one["number"] for one in views[0].messages] == list(range(1, 41))
    assert views[0].messages == views[1].messages


def test_events_of_one_poster_arrive_live_in_order_without_a_fill(cast, tab, hall) -> None:
    alice, bob = tab(cast.alice), tab(cast.bob)
    view = bob.watch(hall)
    for number in range(30):
        alice.say(hall, str(number))
    bob.wait(lambda: len(view.messages) == 30)
    assert [frame["seq"] for frame in bob.events(view.stream)] == list(range(1, 31))
    assert view.fills == 0


def test_a_burst_of_five_hundred_events_from_one_action_arrives_whole(cast, tab, hall) -> None:
    alice = tab(cast.alice)
    view = alice.watch(hall)
    with transaction.atomic():
        stream = log.lock(view.stream)
        for number in range(500):
            log.append(stream, "thread.renamed", {"thread": {"id": hall, "title": str(number)}})
    alice.wait(lambda: view.seq == 500)
    assert view.state["thread"]["title"] == "499"


def test_a_hole_in_the_live_events_leads_to_one_fill(cast, tab, hall) -> None:
    alice, bob = tab(cast.alice), tab(cast.bob)
    view = bob.watch(hall)
    bob.lose = lambda frame: frame["type"] == "event" and frame["seq"] <= 3
    for number in range(4):
        alice.say(hall, str(number))
    bob.wait(lambda: view.texts == ["0", "1", "2", "3"])
    assert view.fills == 1


def test_the_gap_fill_is_contiguous_and_keeps_to_its_limit(cast, tab, hall) -> None:
    alice = tab(cast.alice)
    for number in range(7):
        alice.say(hall, str(number))
    path = f"streams/thread:{hall}/events/"
    page = alice.get(path, after=2, limit=3)
    assert [event["seq"] for event in page["events"]] == [3, 4, 5]
    assert page["head"] == 7
    assert alice.get(path, after=7)["events"] == []
    assert len(alice.get(path, limit=100_000)["events"]) == 7


@pytest.mark.parametrize(
    "query", ["after=-1", "after=x", "limit=-1", "limit=x", "after=1e3", "after=99999999999999999999"]
)
def test_a_number_that_is_none_is_refused_in_the_gap_fill(cast, tab, hall, query) -> None:
    answer = tab(cast.alice, connect=False).http.get(f"streams/thread:{hall}/events/?{query}")
    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == "bad_input"


def test_a_cursor_of_another_epoch_a_pruned_or_a_future_one_is_410(cast, tab, hall) -> None:
    alice = tab(cast.alice)
    for number in range(5):
        alice.say(hall, str(number))
    path = f"streams/thread:{hall}/events/"
    Stream.objects.filter(pk=f"thread:{hall}").update(pruned_seq=2)
    for query in ({"after": 3, "epoch": "another"}, {"after": 1}, {"after": 6}):
        answer = alice.http.get(path, params=query)
        assert (answer.status_code, answer.json()["error"]["code"]) == (410, "cursor_too_old")
        assert answer.json()["error"]["detail"]["head"] == 5
    assert [event["seq"] for event in alice.get(path, after=2)["events"]] == [3, 4, 5]


def test_after_a_new_epoch_the_client_reloads_once_and_is_right(cast, tab, hall, beat) -> None:
    alice, bob = tab(cast.alice), tab(cast.bob)
    view = bob.watch(hall)
    alice.say(hall, "before")
    bob.wait(lambda: view.texts == ["before"])
    Stream.objects.filter(pk=view.stream).update(epoch="restored", last_seq=0)
    Event.objects.filter(stream=view.stream).delete()
    beat()
    bob.wait(lambda: view.epoch == "restored")
    alice.say(hall, "after")
    bob.wait(lambda: view.texts == ["before", "after"])
    assert view.seq == 1


def test_when_an_event_arrives_its_row_can_be_read(cast, tab, hall) -> None:
    alice, bob = tab(cast.alice), tab(cast.bob)
    stream = bob.watch(hall).stream
    for number in range(10):
        alice.say(hall, str(number))
        bob.wait(lambda number=number: len(bob.events(stream)) == number + 1)
        message = bob.events(stream)[-1]["payload"]["message"]
        assert bob.get(f"messages/{message['id']}/") == message


def test_an_action_that_raises_after_announcing_publishes_nothing(cast, tab, hall, monkeypatch) -> None:
    alice, bob = tab(cast.alice), tab(cast.bob)
    view = bob.watch(hall)

    append = log.append

    def append_and_fail(*args, **kwargs):
        append(*args, **kwargs)
        raise RuntimeError("the disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(log, "append", append_and_fail)
        assert alice.http.post(f"threads/{hall}/messages/", json=sheet("never")).status_code == 500
    alice.say(hall, "witness")
    bob.wait(lambda: view.texts == ["witness"])
    assert [frame["event"] for frame in bob.events(view.stream)] == ["message.posted"]
    assert (view.seq, view.fills) == (1, 0)


def test_an_event_over_32_kib_travels_as_fetch_and_arrives_whole(cast, tab, hall) -> None:
    alice, bob = tab(cast.alice), tab(cast.bob)
    view = bob.watch(hall)
    long = "長い話 " * 10_000
    alice.say(hall, long)
    alice.say(hall, "short")
    bob.wait(lambda: view.texts == [long, "short"])
    large = bob.events(view.stream)[0]
    assert (large["fetch"], large["payload"], large["seq"]) == (True, None, 1)


def test_two_tabs_of_one_person_see_the_same(cast, tab, hall) -> None:
    tabs = [tab(cast.alice), tab(cast.alice), tab(cast.bob)]
    views = [one.watch(hall) for one in tabs]
    tabs[0].say(hall, "from the first")
    tabs[1].say(hall, "from the second")
    for one, view in zip(tabs, views, strict=True):
        one.wait(lambda view=view: len(view.messages) == 2)
    assert views[0].state == views[1].state == views[2].state
