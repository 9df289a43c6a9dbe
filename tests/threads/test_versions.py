"""Versions beside each other: edit and resend, choosing an older one, taking words back."""

from tests.cast import Cast
from tests.desk import Desk, new_uuid, work_off
from tests.fakes import ModelServer, story


def said(seen) -> list[str]:
    """What a request carried after the system message."""
    return [message["content"] for message in seen.messages if message["role"] != "system"]


def versions(desk: Desk, message: str) -> list[tuple[str, bool]]:
    return [(one["text"], one["current"]) for one in desk.get(f"messages/{message}/versions/")["versions"]]


def test_an_edit_makes_a_new_version_of_question_and_answer(alice: Desk, model: ModelServer, dm: str) -> None:
    model.queue(story("A1"), story("A2"))
    question = alice.tell(dm, "Q1")["message"]["id"]
    answer = alice.messages(dm)[1]["id"]
    alice.edit(question, "Q2")
    work_off()
    assert versions(alice, question) == [("Q1", False), ("Q2", True)]
    assert versions(alice, answer) == [("A1", False), ("A2", True)]
    assert alice.texts(dm) == ["Q2", "A2"]


def test_the_request_after_an_edit_holds_the_new_words_alone(alice: Desk, model: ModelServer, dm: str) -> None:
    question = alice.tell(dm, "Q1")["message"]["id"]
    alice.edit(question, "Q2")
    work_off()
    assert said(model.chats[-1]) == ["Q2"]


def test_an_edit_sent_twice_is_one_version_and_one_answer(alice: Desk, model: ModelServer, dm: str) -> None:
    question, client_id = alice.tell(dm, "Q1")["message"]["id"], new_uuid()
    first = alice.edit(question, "Q2", client_msg_id=client_id)
    again = alice.edit(question, "Q2", client_msg_id=client_id)
    work_off()
    assert first["message"]["id"] == again["message"]["id"]
    assert len(model.chats) == 2


def test_an_edit_of_an_outdated_version_is_a_conflict_that_names_the_newest(
    alice: Desk, model: ModelServer, dm: str
) -> None:
    question = alice.tell(dm, "Q1")["message"]["id"]
    alice.edit(question, "Q2")
    work_off()
    error = alice.edit(question, "Q3", version=1, status=409)["error"]
    assert (error["code"], error["detail"]["version"]) == ("outdated", 2)


def test_an_older_version_that_was_chosen_can_be_edited(alice: Desk, model: ModelServer, dm: str) -> None:
    question = alice.tell(dm, "Q1")["message"]["id"]
    alice.edit(question, "Q2")
    work_off()
    alice.post(f"messages/{question}/select/")
    assert alice.edit(question, "Q3", version=1)["message"]["version"] == 3


def test_an_edit_while_the_answer_is_being_written_is_a_conflict(alice: Desk, dm: str) -> None:
    question = alice.say(dm, "Q1")["message"]["id"]
    assert alice.edit(question, "Q2", status=409)["error"]["code"] == "mission_not_over"


def test_an_edit_id_used_for_another_message_is_a_conflict(
    alice: Desk, cast: Cast, model: ModelServer, dm: str
) -> None:
    other, client_id = alice.dm(cast.staff[1].pk), new_uuid()
    alice.tell(other, "Same words", client_msg_id=client_id)
    question = alice.tell(dm, "Q1")["message"]["id"]
    answered = alice.edit(question, "Same words", status=409, client_msg_id=client_id)
    assert answered["error"]["code"] == "id_reused"


def test_only_the_author_may_edit_choose_or_retract(
    alice: Desk, bob: Desk, cast: Cast, model: ModelServer, hall: str
) -> None:
    question = alice.say(hall, "Mine")["message"]["id"]
    newer = alice.edit(question, "Still mine")["message"]["id"]
    body = {"client_msg_id": new_uuid(), "text": "Yours", "version": 2}
    assert bob.refused("patch", f"messages/{newer}/", 403, body) == "not_yours"
    assert bob.refused("post", f"messages/{question}/select/", 403, {}) == "not_yours"
    assert bob.refused("delete", f"messages/{newer}/", 403) == "not_yours"


def test_the_version_chosen_is_the_one_that_later_requests_hold(alice: Desk, model: ModelServer, dm: str) -> None:
    model.queue(story("A1"), story("A2"), story("A3"))
    alice.tell(dm, "Q1")
    old = alice.messages(dm)[1]["id"]
    alice.regenerate(old)
    work_off()
    alice.post(f"messages/{old}/select/")
    alice.tell(dm, "Q2")
    assert said(model.chats[-1]) == ["Q1", "A1", "Q2"]


def test_choosing_an_older_question_brings_the_answer_it_had(alice: Desk, model: ModelServer, dm: str) -> None:
    model.queue(story("A1"), story("A2"))
    question = alice.tell(dm, "Q1")["message"]["id"]
    alice.edit(question, "Q2")
    work_off()
    alice.post(f"messages/{question}/select/")
    assert alice.texts(dm) == ["Q1", "A1"]


def test_regenerating_under_an_older_question_answers_that_one(alice: Desk, model: ModelServer, dm: str) -> None:
    question = alice.tell(dm, "Q1")["message"]["id"]
    alice.edit(question, "Q2")
    work_off()
    alice.post(f"messages/{question}/select/")
    alice.regenerate(alice.messages(dm)[1]["id"])
    work_off()
    assert said(model.chats[-1]) == ["Q1"]


def test_choosing_what_is_chosen_changes_nothing(alice: Desk, model: ModelServer, dm: str) -> None:
    question = alice.tell(dm, "Q1")["message"]["id"]
    before = alice.snapshot(dm)["seq"]
    alice.post(f"messages/{question}/select/")
    assert alice.snapshot(dm)["seq"] == before


def test_retracted_words_leave_every_version_and_every_later_request(alice: Desk, model: ModelServer, dm: str) -> None:
    question = alice.tell(dm, "Secret one")["message"]["id"]
    newer = alice.edit(question, "Secret two")["message"]["id"]
    work_off()
    alice.delete(f"messages/{newer}/")
    alice.tell(dm, "Next")
    assert versions(alice, question) == [("", False), ("", True)]
    assert b"Secret" not in model.chats[-1].raw


def test_a_retracted_message_keeps_its_place(alice: Desk, model: ModelServer, dm: str) -> None:
    question = alice.tell(dm, "Q1")["message"]["id"]
    alice.delete(f"messages/{question}/")
    first = alice.messages(dm)[0]
    assert (first["number"], first["state"], first["text"], first["html"]) == (1, "retracted", "", "")


def test_retracting_twice_or_editing_what_was_retracted_is_a_conflict(alice: Desk, model: ModelServer, dm: str) -> None:
    question = alice.tell(dm, "Q1")["message"]["id"]
    alice.delete(f"messages/{question}/")
    assert alice.refused("delete", f"messages/{question}/", 409) == "retracted"
    assert alice.edit(question, "Q2", status=409)["error"]["code"] == "retracted"


def test_an_answer_left_alone_by_its_question_is_still_sent_in_proper_order(
    alice: Desk, model: ModelServer, dm: str
) -> None:
    question = alice.tell(dm, "Q1")["message"]["id"]
    alice.delete(f"messages/{question}/")
    alice.tell(dm, "Q2")
    roles = [message["role"] for message in model.chats[-1].messages]
    assert roles == ["system", "user", "assistant", "user"]


def test_an_edit_that_names_nobody_goes_to_those_who_were_asked(
    alice: Desk, cast: Cast, model: ModelServer, hall: str
) -> None:
    question = alice.tell(hall, "Q1", to=[cast.staff[1].pk])["message"]["id"]
    edited = alice.edit(question, "Q2")
    work_off()
    assert edited["mission"]["coworkers"] == [cast.staff[1].pk]
    assert len(model.chats) == 2


def test_an_edit_that_addresses_somebody_for_the_first_time_gives_a_mission(
    alice: Desk, cast: Cast, model: ModelServer, hall: str
) -> None:
    question = alice.tell(hall, "Just saying")["message"]["id"]
    edited = alice.edit(question, f"@{cast.lead.name} just saying")
    work_off()
    assert edited["mission"]["coworkers"] == [cast.lead.pk]
    assert len(alice.messages(hall)) == 2


def test_the_first_send_can_still_be_repeated_after_an_edit(alice: Desk, model: ModelServer, dm: str) -> None:
    client_id = new_uuid()
    first = alice.tell(dm, "Q1", client_msg_id=client_id)
    alice.edit(first["message"]["id"], "Q2")
    work_off()
    again = alice.say(dm, "Q1", 200, client_msg_id=client_id)
    assert again["mission"]["id"] == first["mission"]["id"]
