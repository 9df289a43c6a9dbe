"""Answers while they grow: few frames, right offsets, whole after a reload."""

import json
import threading
import time

import pytest

from tests.fakes import story
from tests.scripts import chunk

FACES = "👩‍👩‍👧‍👦 é 🇯🇵 x "


@pytest.fixture
def office(cast, server):
    cast.provider(server.base_url)
    return cast


def deltas(client) -> list[dict]:
    return [frame for frame in client.frames if frame["type"] == "delta"]


def test_a_run_sends_at_most_ten_frames_a_second_and_all_of_its_text(office, server, tab) -> None:
    steps = [step for number in range(100) for step in (f"w{number} ", 0.005)]
    server.queue(story(*steps))
    alice = tab(office.alice)
    view = alice.watch(alice.dm(office.lead.pk)["thread"])
    began = time.monotonic()
    alice.say(view.thread, "Hello")
    alice.wait(lambda: len(view.messages) == 2)
    took = time.monotonic() - began
    assert len(deltas(alice)) <= 10 * took + 2
    items = [item for frame in deltas(alice) for item in frame["items"]]
    assert view.texts[1].startswith("".join(item["text"] for item in items))
    assert [item["offset"] for item in items] == [
        sum(len(before["text"]) for before in items[:place]) for place in range(len(items))
    ]


def test_offsets_count_code_points(office, server, tab) -> None:
    second, end = threading.Event(), threading.Event()
    server.queue(story(FACES, second, FACES, end, "!"))
    alice = tab(office.alice)
    view = alice.watch(alice.dm(office.lead.pk)["thread"])
    alice.say(view.thread, "Hello")
    alice.wait(lambda: view.running_text() == FACES)
    second.set()
    alice.wait(lambda: view.running_text() == FACES * 2)
    items = [item for frame in deltas(alice) for item in frame["items"]]
    assert [item["offset"] for item in items] == [0, len(FACES)]
    end.set()
    alice.wait(lambda: view.texts == ["Hello", FACES * 2 + "!"])


def test_two_answers_of_one_tick_share_a_frame(office, server, tab, hall) -> None:
    gate, end = threading.Event(), threading.Event()
    for _ in range(2):
        server.queue(story("first ", gate, "second ", end, "third"))
    alice = tab(office.alice)
    view = alice.watch(hall)
    alice.say(hall, "Both of you", to=[one.pk for one in office.staff[:2]])
    alice.wait(lambda: len([run for run in view.state["runs"].values() if run["text"] == "first "]) == 2)
    gate.set()
    alice.wait(lambda: view.running_text() == "first second " * 2)
    end.set()
    alice.wait(lambda: len(view.messages) == 3)
    assert max(len(frame["items"]) for frame in deltas(alice)) == 2


def test_a_reload_in_mid_stream_shows_the_text_whole_and_once(office, server, tab) -> None:
    gate = threading.Event()
    server.queue(story("half ", gate, "and ", "half"))
    alice = tab(office.alice)
    view = alice.watch(alice.dm(office.lead.pk)["thread"])
    alice.say(view.thread, "Hello")
    alice.wait(lambda: view.running_text() == "half ")
    reloaded = tab(office.alice)
    again = reloaded.watch(view.thread)
    assert again.running_text() == "half "
    gate.set()
    for client, seen in ((alice, view), (reloaded, again)):
        client.wait(lambda seen=seen: len(seen.messages) == 2 and not seen.state["missions"])
        assert seen.texts == ["Hello", "half and half"]
        assert not seen.state["runs"]


def test_a_socket_cut_in_mid_stream_comes_back_to_the_whole_text(office, server, tab) -> None:
    middle, end = threading.Event(), threading.Event()
    server.queue(story("one ", middle, "two ", end, "three"))
    alice, other = tab(office.alice), tab(office.alice)
    view = alice.watch(alice.dm(office.lead.pk)["thread"])
    witness = other.watch(view.thread)
    alice.say(view.thread, "Hello")
    alice.wait(lambda: view.running_text() == "one ")
    alice.cut()
    middle.set()
    other.wait(lambda: witness.running_text() == "one two ")
    alice.reconnect()
    end.set()
    alice.wait(lambda: view.texts == ["Hello", "one two three"])


def test_a_lost_delta_is_made_good_by_the_next(office, server, tab) -> None:
    second, third, end = (threading.Event() for _ in range(3))
    server.queue(story("one ", second, "two ", third, "three ", end, "."))
    alice, other = tab(office.alice), tab(office.alice)
    view = alice.watch(alice.dm(office.lead.pk)["thread"])
    witness = other.watch(view.thread)
    alice.lose = lambda frame: frame["type"] == "delta" and frame["items"][0]["offset"] == 4
    alice.say(view.thread, "Hello")
    alice.wait(lambda: view.running_text() == "one ")
    second.set()
    other.wait(lambda: witness.running_text() == "one two ")
    third.set()
    alice.wait(lambda: view.running_text() == "one two three ")
    end.set()
    alice.wait(lambda: len(view.messages) == 2)


@pytest.mark.parametrize("half", [{"content": "\ud83d"}, {"content": "a\ud83d"}, {"content": "\x00"}])
def test_half_a_character_from_a_model_closes_no_socket(office, server, tab, half) -> None:
    gate = threading.Event()
    server.queue(story("good ", escaped(half), gate, " end"))
    alice = tab(office.alice)
    view = alice.watch(alice.dm(office.lead.pk)["thread"])
    alice.say(view.thread, "Hello")
    alice.wait(lambda: view.running_text().startswith("good "))
    gate.set()
    alice.wait(lambda: len(view.messages) == 2)
    text = view.texts[1]
    assert text.startswith("good ")
    assert text.endswith(" end")
    assert "\x00" not in text
    assert text.encode()


def test_a_character_split_over_two_chunks_is_one_character(office, server, tab) -> None:
    server.queue(story(escaped({"content": "face \ud83d"}), escaped({"content": "\ude00!"})))
    alice = tab(office.alice)
    view = alice.watch(alice.dm(office.lead.pk)["thread"])
    alice.say(view.thread, "Hello")
    alice.wait(lambda: len(view.messages) == 2)
    assert view.texts[1] == "face 😀!"


def escaped(delta: dict[str, str]) -> bytes:
    """The chunk as a server sends it that escapes everything, half a pair too."""
    return b"data: " + json.dumps(chunk(delta)).encode() + b"\n\n"


def test_somebody_outside_the_thread_hears_no_delta(office, server, tab) -> None:
    alice, bob = tab(office.alice), tab(office.bob)
    bob.subscribe(f"office:{office.office.pk}")
    view = alice.watch(alice.dm(office.lead.pk)["thread"])
    alice.say(view.thread, "Hello")
    alice.wait(lambda: len(view.messages) == 2)
    bob.wait(lambda: [frame for frame in bob.frames if frame.get("state") == "idle"])
    assert not deltas(bob)


def test_the_partial_text_can_be_fetched_while_it_grows(office, server, tab) -> None:
    gate = threading.Event()
    server.queue(story("so far", gate, "."))
    alice, bob = tab(office.alice), tab(office.bob, connect=False)
    view = alice.watch(alice.dm(office.lead.pk)["thread"])
    alice.say(view.thread, "Hello")
    alice.wait(lambda: view.running_text() == "so far")
    run = next(iter(view.state["runs"]))
    partial = alice.get(f"runs/{run}/partial/")
    assert (partial["text"], partial["offset"], partial["attempt"], partial["state"]) == ("so far", 6, 1, "running")
    assert bob.http.get(f"runs/{run}/partial/").status_code == 404
    gate.set()
    alice.wait(lambda: len(view.messages) == 2)
