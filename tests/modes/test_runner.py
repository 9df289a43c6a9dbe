"""The rows of a run: claims, fences, and what a restart finds and puts in order."""

import pytest

from modes import runner
from modes.models import Run, RunState
from modes.runner import Work
from modes.stream import LiveText
from tests.cast import Cast
from tests.desk import Desk, work_off
from tests.fakes import ModelServer, story


@pytest.fixture
def begun(alice: Desk, dm: str) -> Work:
    """A run that an engine has claimed, with nothing sent yet."""
    alice.say(dm, "Q1")
    work = runner.begin(Run.objects.get().pk)
    assert work is not None
    return work


def end(work: Work, text: str, state: str = "done", code: str = "") -> None:
    runner.store_end(work.run.pk, work.live.token, text, state, code)


def test_a_second_delivery_of_the_same_end_stores_no_second_message(alice: Desk, dm: str, begun: Work) -> None:
    end(begun, "A1")
    end(begun, "A1 again")
    assert alice.texts(dm) == ["Q1", "A1"]


def test_an_end_that_comes_after_the_run_was_given_to_another_attempt_is_dropped(
    alice: Desk, model: ModelServer, dm: str, begun: Work
) -> None:
    model.queue(story("of the second attempt"))
    runner.put_in_order(begun.run.pk, begun.live.token, "")
    work_off()
    end(begun, "of the first, too late")
    assert alice.texts(dm) == ["Q1", "of the second attempt"]


def test_an_end_between_two_attempts_is_dropped(alice: Desk, dm: str, begun: Work) -> None:
    runner.put_in_order(begun.run.pk, begun.live.token, "")
    end(begun, "too late")
    assert alice.texts(dm) == ["Q1"]
    assert Run.objects.get().state == RunState.QUEUED


def test_a_server_that_ends_with_text_under_way_keeps_it_and_marks_it(alice: Desk, dm: str, begun: Work) -> None:
    runner.put_in_order(begun.run.pk, begun.live.token, "half an ans")
    kept = alice.messages(dm)[1]
    assert (kept["text"], kept["state"], kept["error"]["code"]) == ("half an ans", "failed", "interrupted")


def test_a_server_that_ends_before_the_first_word_asks_again_after_the_restart(
    alice: Desk, model: ModelServer, dm: str, begun: Work
) -> None:
    model.queue(story("after the restart"))
    runner.put_in_order(begun.run.pk, begun.live.token, "")
    work_off()
    assert alice.texts(dm) == ["Q1", "after the restart"]


def test_going_back_to_the_queue_is_told(alice: Desk, dm: str, begun: Work) -> None:
    runner.put_in_order(begun.run.pk, begun.live.token, "")
    snapshot = alice.snapshot(dm)
    events = alice.get(f"streams/thread:{dm}/events/?after=0")["events"]
    assert events[-1]["payload"]["run"]["state"] == snapshot["runs"][0]["state"] == "queued"


def test_a_run_that_never_gets_to_its_first_word_fails_in_the_end(alice: Desk, dm: str) -> None:
    alice.say(dm, "Q1")
    key = Run.objects.get().pk
    for _ in range(runner.ATTEMPTS):
        work = runner.begin(key)
        assert work is not None
        runner.put_in_order(key, work.live.token, "")
    (run,) = alice.snapshot(dm)["runs"]
    assert (run["state"], run["error"]["code"]) == ("failed", "interrupted")


def test_recovery_closes_a_dead_run_with_the_text_that_was_saved(alice: Desk, dm: str, begun: Work) -> None:
    Run.objects.update(partial="saved before the power went")
    runner.recover()
    assert alice.texts(dm) == ["Q1", "saved before the power went"]
    assert alice.get(f"missions/?thread={dm}")["missions"][0]["state"] == "failed"


def test_recovery_without_text_puts_the_run_back_and_it_is_answered_once(
    alice: Desk, model: ModelServer, dm: str, begun: Work
) -> None:
    model.queue(story("A1"))
    runner.recover()
    work_off()
    assert alice.texts(dm) == ["Q1", "A1"]


def test_recovery_finishes_a_stop_that_was_asked_for(alice: Desk, dm: str, begun: Work) -> None:
    Run.objects.update(partial="so far", stop_requested=True)
    runner.recover()
    assert alice.messages(dm)[1]["state"] == "stopped"


def test_recovery_twice_changes_nothing_more(alice: Desk, dm: str, begun: Work) -> None:
    Run.objects.update(partial="saved")
    runner.recover()
    seq = alice.snapshot(dm)["seq"]
    runner.recover()
    assert alice.snapshot(dm)["seq"] == seq


def test_a_run_retired_from_the_queue_by_a_stop_cannot_be_claimed(alice: Desk, dm: str) -> None:
    mission = alice.say(dm, "Q1")["mission"]["id"]
    key = Run.objects.get().pk
    alice.post(f"missions/{mission}/stop/")
    assert runner.begin(key) is None


def test_a_coworker_answers_in_two_threads_at_once(alice: Desk, cast: Cast, dm: str, hall: str) -> None:
    alice.say(dm, "here")
    alice.say(hall, f"@{cast.lead.name} and there")
    assert len(runner.ready(10)) == 2


def test_only_so_many_runs_start_as_there_is_room_for(alice: Desk, cast: Cast, hall: str) -> None:
    alice.say(hall, "all", to=[coworker.pk for coworker in cast.staff])
    assert len(runner.ready(2)) == 2


async def test_reading_a_growing_text_from_another_thread_never_loses_a_piece() -> None:
    live = LiveText("run", "thread:x", 1, "token")
    for piece in ("a", "b"):
        live.add(piece)
    pieces = live._pieces
    assert live.text == "ab"
    pieces.append("c")  # what the loop adds while another thread is about to join
    assert live.text == "abc"


async def test_many_small_pieces_stay_one_text() -> None:
    live = LiveText("run", "thread:x", 1, "token")
    for number in range(1500):
        live.add(f"{number},")
    assert live.text == "".join(f"{number}," for number in range(1500))
    assert live.length == len(live.text)
