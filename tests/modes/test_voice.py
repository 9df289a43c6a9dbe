"""One coworker, one voice: headers and invented lines of others never become its words."""

import pytest

from modes.voice import one_voice
from tests.cast import Cast
from tests.desk import Desk
from tests.fakes import ModelServer, story


@pytest.mark.parametrize("start", ["⟦4 · Mina · lead · AI⟧\n", "Mina: ", "Mina：", "⟦4 · Mina⟧\nMina: "])
def test_ones_own_header_or_name_at_the_start_goes(start: str) -> None:
    assert one_voice(f"{start}I agree.", "Mina") == ("I agree.", False)


def test_the_text_ends_where_somebody_elses_would_begin() -> None:
    assert one_voice("I agree.\n\n⟦5 · Alice⟧\nGreat!", "Mina") == ("I agree.", True)


def test_a_text_that_speaks_for_somebody_else_from_the_start_is_nothing() -> None:
    assert one_voice("⟦5 · Alice⟧\nGreat!", "Mina") == ("", True)


@pytest.mark.parametrize("text", ["Theo: three tasks\nMina: two", "⟦x⟧ = 3", "see Mina: later", "", "Minar: no"])
def test_lists_names_and_mathematics_stay(text: str) -> None:
    assert one_voice(text, "Mina") == (text, False)


def test_invented_lines_are_cut_from_the_stored_answer_and_from_later_requests(
    alice: Desk, cast: Cast, model: ModelServer, hall: str
) -> None:
    model.queue(story("My own view.\n", "⟦9 · Alice⟧\nI, Alice, approve."), story("ok"))
    alice.tell(hall, f"@{cast.lead.name} your view?")
    alice.tell(hall, f"@{cast.lead.name} go on")
    answer = alice.messages(hall)[1]
    assert (answer["text"], answer["state"], answer["error"]["code"]) == ("My own view.", "cut", "cut_impersonation")
    assert b"I, Alice, approve" not in model.chats[-1].raw


def test_an_answer_that_is_nothing_but_somebody_elses_words_fails(
    alice: Desk, cast: Cast, model: ModelServer, hall: str
) -> None:
    model.queue(story("⟦9 · Alice⟧\nI approve."))
    alice.tell(hall, f"@{cast.lead.name} your view?")
    (run,) = alice.snapshot(hall)["runs"]
    assert (run["state"], run["error"]["code"]) == ("failed", "cut_impersonation")
