"""Several missions at once: one answer after another, each under its question, and repeats beside what stands."""

import pytest

from modes import runner
from modes.models import Run
from tests.cast import Cast
from tests.desk import Desk, new_uuid, work_off
from tests.fakes import CUT, ModelServer, server_error, story


def sent_texts(seen) -> list[str]:
    """What a request carried after the system message."""
    return [message["content"] for message in seen.messages if message["role"] != "system"]


def test_missions_queued_behind_each_other_are_answered_in_order_each_under_its_question(
    alice: Desk, model: ModelServer, dm: str
) -> None:
    model.queue(story("A1"), story("A2"), story("A3"))
    for text in ("Q1", "Q2", "Q3"):
        alice.say(dm, text)
    work_off()
    assert alice.texts(dm) == ["Q1", "A1", "Q2", "A2", "Q3", "A3"]


def test_each_queued_mission_is_sent_what_stands_above_its_question(alice: Desk, model: ModelServer, dm: str) -> None:
    model.queue(story("A1"), story("A2"), story("A3"))
    for text in ("Q1", "Q2", "Q3"):
        alice.say(dm, text)
    work_off()
    assert [sent_texts(seen) for seen in model.chats] == [
        ["Q1"], ["Q1", "A1", "Q2"], ["Q1", "A1", "Q2", "A2", "Q3"]
    ]  # fmt: skip


def test_a_later_run_cannot_be_claimed_while_an_earlier_one_waits(alice: Desk, dm: str) -> None:
    alice.say(dm, "Q1")
    alice.say(dm, "Q2")
    first, second = Run.objects.order_by("created", "pk")
    assert runner.begin(second.pk) is None
    assert runner.begin(first.pk) is not None


def test_two_engines_that_claim_one_run_give_one_result(alice: Desk, model: ModelServer, dm: str) -> None:
    alice.say(dm, "Q1")
    run = Run.objects.get()
    assert [runner.begin(run.pk) is None, runner.begin(run.pk) is None] == [False, True]


def test_a_stopped_mission_that_was_still_queued_is_never_sent(alice: Desk, model: ModelServer, dm: str) -> None:
    mission = alice.say(dm, "Q1")["mission"]["id"]
    stopped = alice.post(f"missions/{mission}/stop/")["mission"]
    work_off()
    assert stopped["state"] == "stopped"
    assert not model.chats


def test_stopping_twice_is_no_error(alice: Desk, dm: str) -> None:
    mission = alice.say(dm, "Q1")["mission"]["id"]
    alice.post(f"missions/{mission}/stop/")
    assert alice.post(f"missions/{mission}/stop/")["mission"]["state"] == "stopped"


def test_a_stop_leaves_an_answer_that_is_there_alone(alice: Desk, model: ModelServer, dm: str) -> None:
    mission = alice.tell(dm, "Q1")["mission"]["id"]
    assert alice.post(f"missions/{mission}/stop/")["mission"]["state"] == "answered"


def test_a_failed_mission_is_answered_after_a_retry(alice: Desk, model: ModelServer, dm: str) -> None:
    model.queue(server_error(), server_error(), server_error(), story("At last"))
    mission = alice.tell(dm, "Q1")["mission"]["id"]
    alice.post(f"missions/{mission}/retry/")
    work_off()
    assert alice.texts(dm) == ["Q1", "At last"]


def test_the_text_of_a_failed_try_is_in_no_later_request(alice: Desk, model: ModelServer, dm: str) -> None:
    model.queue(story("half of", CUT), story("whole"), story("next"))
    mission = alice.tell(dm, "Q1")["mission"]["id"]
    alice.post(f"missions/{mission}/retry/")
    work_off()
    alice.tell(dm, "Q2")
    assert sent_texts(model.chats[-1]) == ["Q1", "whole", "Q2"]


def test_a_retry_of_what_still_runs_is_a_conflict(alice: Desk, dm: str) -> None:
    mission = alice.say(dm, "Q1")["mission"]["id"]
    assert alice.refused("post", f"missions/{mission}/retry/", 409, {}) == "mission_not_over"


def test_a_retry_of_what_was_answered_is_a_conflict(alice: Desk, model: ModelServer, dm: str) -> None:
    mission = alice.tell(dm, "Q1")["mission"]["id"]
    assert alice.refused("post", f"missions/{mission}/retry/", 409, {}) == "mission_over"


def test_a_retracted_instruction_cannot_be_retried(alice: Desk, model: ModelServer, dm: str) -> None:
    model.default = server_error()
    posted = alice.tell(dm, "Q1")
    alice.delete(f"messages/{posted['message']['id']}/")
    assert alice.refused("post", f"missions/{posted['mission']['id']}/retry/", 409, {}) == "retracted"


def test_a_regenerated_answer_stands_beside_the_old_one(alice: Desk, model: ModelServer, dm: str) -> None:
    model.queue(story("old"), story("new"))
    alice.tell(dm, "Q1")
    answer = alice.messages(dm)[1]
    alice.regenerate(answer["id"], 201)
    work_off()
    versions = alice.get(f"messages/{answer['id']}/versions/")["versions"]
    assert [(one["text"], one["current"]) for one in versions] == [("old", False), ("new", True)]


def test_the_old_answer_and_later_messages_are_not_in_the_request_of_a_regeneration(
    alice: Desk, model: ModelServer, dm: str
) -> None:
    alice.tell(dm, "Q1")
    alice.tell(dm, "Q2")
    alice.regenerate(alice.messages(dm)[1]["id"])
    work_off()
    assert sent_texts(model.chats[-1]) == ["Q1"]


def test_a_regeneration_asked_for_twice_with_one_id_runs_once(alice: Desk, model: ModelServer, dm: str) -> None:
    alice.tell(dm, "Q1")
    answer, client_id = alice.messages(dm)[1]["id"], new_uuid()
    first = alice.regenerate(answer, 201, client_id)
    again = alice.regenerate(answer, 200, client_id)
    work_off()
    assert first["run"]["id"] == again["run"]["id"]
    assert len(model.chats) == 2


def test_a_regeneration_while_another_runs_is_a_conflict(alice: Desk, model: ModelServer, dm: str) -> None:
    alice.tell(dm, "Q1")
    answer = alice.messages(dm)[1]["id"]
    alice.regenerate(answer)
    assert alice.refused("post", f"messages/{answer}/regenerate/", 409, {"client_id": new_uuid()}) == "mission_not_over"


def test_only_an_answer_can_be_regenerated(alice: Desk, model: ModelServer, dm: str) -> None:
    question = alice.tell(dm, "Q1")["message"]["id"]
    assert alice.refused("post", f"messages/{question}/regenerate/", 409, {"client_id": new_uuid()}) == "not_an_answer"


def test_what_is_posted_twice_with_one_id_is_one_message_and_one_call(alice: Desk, model: ModelServer, dm: str) -> None:
    client_id = new_uuid()
    first = alice.say(dm, "Q1", 201, client_msg_id=client_id)
    again = alice.say(dm, "Q1", 200, client_msg_id=client_id)
    work_off()
    assert first["message"]["id"] == again["message"]["id"]
    assert again["mission"]["id"] == first["mission"]["id"]
    assert len(model.chats) == 1


def test_one_id_with_other_words_is_a_conflict(alice: Desk, dm: str) -> None:
    client_id = new_uuid()
    alice.say(dm, "Q1", client_msg_id=client_id)
    body = {"client_msg_id": client_id, "text": "Q2"}
    assert alice.refused("post", f"threads/{dm}/messages/", 409, body) == "id_reused"


def test_a_coworker_who_retired_while_its_mission_waited_does_not_answer(
    alice: Desk, cast: Cast, model: ModelServer, dm: str
) -> None:
    alice.say(dm, "Q1")
    alice.post(f"coworkers/{cast.lead.pk}/retire/")
    work_off()
    run = alice.snapshot(dm)["runs"][0]
    assert (run["state"], run["error"]["code"]) == ("failed", "coworker_retired")
    assert cast.lead.name in run["error"]["message"]
    assert not model.chats


def test_an_endpoint_changed_while_the_mission_waited_is_the_one_that_is_asked(
    alice: Desk, cast: Cast, model: ModelServer, dm: str
) -> None:
    alice.say(dm, "Q1")
    alice.patch(f"coworkers/{cast.lead.pk}/", model="another-model")
    work_off()
    assert model.chats[0].body["model"] == "another-model"


def test_the_same_question_to_two_coworkers_settles_when_both_have_answered(
    alice: Desk, cast: Cast, model: ModelServer, hall: str
) -> None:
    one, other = cast.staff[0], cast.staff[1]
    posted = alice.tell(hall, "Which?", to=[one.pk, other.pk])
    authors = {message["author"]["id"] for message in alice.messages(hall)[1:]}
    assert authors == {one.pk, other.pk}
    assert alice.get(f"missions/?thread={hall}")["missions"][0]["state"] == "answered"
    assert posted["mission"]["coworkers"] == [one.pk, other.pk]


def test_a_mission_given_to_somebody_else_by_an_edit_is_settled_by_that_one(
    alice: Desk, cast: Cast, model: ModelServer, hall: str
) -> None:
    one, other = cast.staff[0], cast.staff[1]
    model.queue(server_error(), server_error(), server_error(), story("done"))
    posted = alice.tell(hall, f"@{one.name} which?")
    alice.edit(posted["message"]["id"], f"@{other.name} which?")
    work_off()
    assert alice.get(f"missions/?thread={hall}")["missions"][0]["state"] == "answered"


@pytest.mark.parametrize("path", ["stop", "retry"])
def test_a_stranger_can_neither_stop_nor_retry(path: str, alice: Desk, bob: Desk, dm: str) -> None:
    mission = alice.say(dm, "Q1")["mission"]["id"]
    assert bob.refused("post", f"missions/{mission}/{path}/", 404, {}) == "not_found"
