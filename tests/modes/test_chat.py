"""A message to a coworker becomes a mission, a run, a streamed answer, and a stored one."""

import threading

from tests.fakes import ModelServer, story


def test_a_post_in_a_dm_is_answered_and_the_answer_is_stored(cast, server: ModelServer, tab) -> None:
    cast.provider(server.base_url)
    server.queue(story("Good ", "morning"))
    alice = tab(cast.alice)
    view = alice.watch(alice.dm(cast.lead.pk)["thread"])
    alice.say(view.thread, "Hello")
    alice.wait(lambda: len(view.messages) == 2 and not view.state["missions"])
    assert view.texts == ["Hello", "Good morning"]
    assert view.messages[1]["author"]["id"] == cast.lead.pk


def test_deltas_arrive_before_the_answer_is_complete(cast, server: ModelServer, tab) -> None:
    cast.provider(server.base_url)
    gate = threading.Event()
    server.queue(story("half", gate, " whole"))
    alice = tab(cast.alice)
    view = alice.watch(alice.dm(cast.lead.pk)["thread"])
    alice.say(view.thread, "Hello")
    alice.wait(lambda: view.running_text() == "half")
    gate.set()
    alice.wait(lambda: view.texts == ["Hello", "half whole"])


def test_without_a_model_the_rehearsal_answers_and_says_so(cast, tab) -> None:
    alice = tab(cast.alice)
    view = alice.watch(alice.dm(cast.lead.pk)["thread"])
    alice.say(view.thread, "Hello")
    alice.wait(lambda: len(view.messages) == 2)
    assert "no model" in view.texts[1].lower()
