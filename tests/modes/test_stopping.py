"""Stop: the request is closed upstream within two seconds, the text so far is kept, from whichever tab it comes."""

import threading
import time
from collections.abc import Callable

from modes.models import Run
from tests.cast import Cast
from tests.client import Client
from tests.fakes import ModelServer, story

Tab = Callable[..., Client]
WITHIN = 2.0


def mission_of(tab: Client, thread: str, text: str = "Hello") -> str:
    return str(tab.say(thread, text)["mission"]["id"])


def test_a_stop_before_the_first_byte_closes_the_request(cast: Cast, server: ModelServer, tab: Tab) -> None:
    cast.provider(server.base_url)
    server.queue(story(threading.Event(), "never"))
    alice = tab(cast.alice)
    view = alice.watch(alice.dm(cast.lead.pk)["thread"])
    mission = mission_of(alice, view.thread)
    (seen,) = server.wait_for(1)
    asked = time.monotonic()
    alice.post(f"missions/{mission}/stop/")
    assert seen.closed.wait(WITHIN)
    assert time.monotonic() - asked < WITHIN
    alice.wait(lambda: [run["state"] for run in view.state["runs"].values()] == ["stopped"])
    assert view.texts == ["Hello"]


def test_a_stop_in_mid_stream_closes_the_request_and_keeps_the_text(cast: Cast, server: ModelServer, tab: Tab) -> None:
    cast.provider(server.base_url)
    server.queue(story("1, 2, 3", threading.Event(), " never"))
    alice = tab(cast.alice)
    view = alice.watch(alice.dm(cast.lead.pk)["thread"])
    mission = mission_of(alice, view.thread)
    alice.wait(lambda: view.running_text() == "1, 2, 3")
    alice.post(f"missions/{mission}/stop/")
    assert server.chats[0].closed.wait(WITHIN)
    alice.wait(lambda: len(view.messages) == 2)
    kept = view.messages[1]
    assert (kept["text"], kept["state"], kept["error"]["code"]) == ("1, 2, 3", "stopped", "stopped")


def test_a_stop_from_a_tab_opened_in_mid_stream_is_seen_in_every_tab(cast: Cast, server: ModelServer, tab: Tab) -> None:
    cast.provider(server.base_url)
    server.queue(story("half", threading.Event()))
    first = tab(cast.alice)
    view = first.watch(first.dm(cast.lead.pk)["thread"])
    mission = mission_of(first, view.thread)
    first.wait(lambda: view.running_text() == "half")
    second = tab(cast.alice)
    other = second.watch(view.thread)
    assert other.running_text() == "half"
    second.post(f"missions/{mission}/stop/")
    first.wait(lambda: view.texts == ["Hello", "half"])
    second.wait(lambda: other.texts == ["Hello", "half"])
    assert view.messages[1]["state"] == other.messages[1]["state"] == "stopped"


def test_no_text_comes_after_a_stop(cast: Cast, server: ModelServer, tab: Tab) -> None:
    cast.provider(server.base_url)
    gate = threading.Event()
    server.queue(story("kept", gate, " late"), story("next"))
    alice = tab(cast.alice)
    view = alice.watch(alice.dm(cast.lead.pk)["thread"])
    mission = mission_of(alice, view.thread)
    alice.wait(lambda: view.running_text() == "kept")
    alice.post(f"missions/{mission}/stop/")
    gate.set()
    alice.wait(lambda: len(view.messages) == 2)
    alice.say(view.thread, "Go on")
    alice.wait(lambda: view.texts == ["Hello", "kept", "Go on", "next"])


def test_a_stopped_mission_leaves_no_run_and_the_next_one_goes_on(cast: Cast, server: ModelServer, tab: Tab) -> None:
    cast.provider(server.base_url)
    server.queue(story(threading.Event()), story("second answer"))
    alice = tab(cast.alice)
    view = alice.watch(alice.dm(cast.lead.pk)["thread"])
    mission = mission_of(alice, view.thread, "first")
    alice.say(view.thread, "second")
    server.wait_for(1)
    alice.post(f"missions/{mission}/stop/")
    alice.wait(lambda: view.texts == ["first", "second", "second answer"])


def test_a_stopped_call_is_booked_as_an_estimate(cast: Cast, server: ModelServer, tab: Tab) -> None:
    cast.provider(server.base_url)
    server.queue(story("one two three", threading.Event()))
    alice = tab(cast.alice)
    view = alice.watch(alice.dm(cast.lead.pk)["thread"])
    mission = mission_of(alice, view.thread)
    alice.wait(lambda: view.running_text())
    alice.post(f"missions/{mission}/stop/")
    alice.wait(lambda: len(view.messages) == 2)
    (call,) = alice.get(f"threads/{view.thread}/calls/")["calls"]
    assert (call["state"], call["usage"]["source"]) == ("stopped", "estimated")
    assert call["usage"]["completion"] > 0


def test_stopping_one_of_two_coworkers_question_stops_both(cast: Cast, server: ModelServer, tab: Tab) -> None:
    cast.provider(server.base_url)
    server.default = story("part", threading.Event())
    alice = tab(cast.alice)
    view = alice.watch(alice.enter(cast.project.pk))
    asked = [one.pk for one in cast.staff[:2]]
    mission = alice.say(view.thread, "both", to=asked)["mission"]["id"]
    for seen in server.wait_for(2):
        assert not seen.closed.is_set()
    alice.wait(lambda: view.running_text() == "partpart")
    alice.post(f"missions/{mission}/stop/")
    alice.wait(lambda: [message["state"] for message in view.messages] == ["done", "stopped", "stopped"])
    assert all(seen.closed.wait(WITHIN) for seen in server.chats)


def test_a_stop_asked_for_in_another_process_is_heeded_within_two_seconds(
    cast: Cast, server: ModelServer, tab: Tab, settings
) -> None:
    settings.LIVE_PROCESSES = 2
    cast.provider(server.base_url)
    server.queue(story("so far", threading.Event()))
    alice = tab(cast.alice)
    view = alice.watch(alice.dm(cast.lead.pk)["thread"])
    mission_of(alice, view.thread)
    alice.wait(lambda: view.running_text() == "so far")
    Run.objects.update(stop_requested=True)  # all that the other process can do
    alice.wait(lambda: len(view.messages) == 2)
    assert view.messages[1]["state"] == "stopped"
    assert server.chats[0].closed.wait(WITHIN)
