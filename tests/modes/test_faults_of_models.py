"""What can go wrong at the model's side, what the person is told, and what is kept."""

import pytest

from office.models import Coworker, Provider
from office.words import LANGUAGES, say
from tests.cast import Cast
from tests.desk import Desk, work_off
from tests.fakes import (
    CUT,
    Answer,
    ModelServer,
    chat_completion,
    content_filtered,
    context_too_long,
    json_answer,
    key_refused,
    model_missing,
    not_allowed,
    page,
    quota_exhausted,
    rate_limited,
    refusal,
    server_error,
    story,
    unknown_parameter,
)

KEY = "sk-test-0123456789"
REFUSALS = {
    "401": ([key_refused(KEY)], "key_refused"),
    "403": ([not_allowed()], "not_allowed"),
    "404": ([model_missing()], "model_not_found"),
    "429 for long": ([rate_limited(120)], "rate_limited"),
    "quota": ([quota_exhausted()], "quota_exhausted"),
    "500 thrice": ([server_error()] * 3, "server_error"),
    "too long": ([context_too_long()], "context_too_long"),
    "filtered": ([content_filtered()], "content_filter"),
    "a page": ([page()], "not_a_model_server"),
    "a broken body": ([Answer(body=b'{"choices": [', kind="application/json")], "answer_not_json"),
    "json without choices": ([json_answer({"hello": "world"})], "not_a_model_server"),
    "nothing said": ([story()], "reply_empty"),
    "only blanks": ([story(" \n")], "reply_empty"),
    "filtered to nothing": ([story(finish="content_filter")], "content_filter"),
    "thought to the limit": ([story({"reasoning_content": "hm"}, finish="length")], "truncated_empty"),
    "cut before a word": ([story(CUT)] * 3, "cut_off"),
    "some bad request": ([refusal(400, "roles must alternate")], "bad_request"),
}
PARTIALS = {
    "cut": (story("Half", CUT), "failed", "cut_off"),
    "no finish": (story("Half", finish=None), "failed", "no_finish"),
    "length": (story("Half", finish="length"), "cut", "length"),
    "filter": (story("Half", finish="content_filter"), "cut", "content_filter"),
}


def failed_run(desk: Desk, thread: str) -> dict:
    """The only run a thread's snapshot shows."""
    (run,) = desk.snapshot(thread)["runs"]
    return run


@pytest.mark.parametrize("case", REFUSALS)
def test_a_failure_without_text_leaves_no_message_and_shows_its_reason(
    case: str, alice: Desk, model: ModelServer, dm: str
) -> None:
    answers, code = REFUSALS[case]
    model.queue(*answers)
    alice.tell(dm, "Hello")
    run = failed_run(alice, dm)
    assert alice.texts(dm) == ["Hello"]
    assert (run["state"], run["error"]["code"]) == ("failed", code)
    assert len(model.chats) == len(answers)


@pytest.mark.parametrize("case", REFUSALS)
def test_a_failure_is_told_in_our_own_words(case: str, alice: Desk, model: ModelServer, dm: str) -> None:
    answers, code = REFUSALS[case]
    model.queue(*answers)
    alice.tell(dm, "Hello")
    told = failed_run(alice, dm)["error"]["message"]
    assert told in (say(f"errors.{code}", "en"), say("errors.pause_named", "en", seconds=120))
    assert KEY not in str(alice.snapshot(dm))


@pytest.mark.parametrize("code", sorted({code for _, code in REFUSALS.values()} | {"cannot_unseal", "server_fault"}))
def test_every_fault_has_a_sentence_in_both_languages(code: str) -> None:
    for language in LANGUAGES:
        assert say(f"errors.{code}", language) != f"errors.{code}"


@pytest.mark.parametrize("case", PARTIALS)
def test_text_that_came_before_the_fault_is_kept_and_marked(
    case: str, alice: Desk, model: ModelServer, dm: str
) -> None:
    answer, state, code = PARTIALS[case]
    model.queue(answer)
    alice.tell(dm, "Hello")
    kept = alice.messages(dm)[1]
    assert (kept["text"], kept["state"], kept["error"]["code"]) == ("Half", state, code)
    assert len(model.chats) == 1


def test_a_short_pause_is_kept_and_the_question_asked_again(alice: Desk, model: ModelServer, dm: str) -> None:
    model.queue(rate_limited(0.2), story("Now"))
    alice.tell(dm, "Hello")
    first, second = model.chats
    assert alice.texts(dm) == ["Hello", "Now"]
    assert second.at - first.at >= 0.2


def test_a_long_pause_is_named(alice: Desk, model: ModelServer, dm: str) -> None:
    model.queue(rate_limited(120))
    alice.tell(dm, "Hello")
    error = failed_run(alice, dm)["error"]
    assert error["retry_after"] == 120
    assert "120 seconds" in error["message"]


def test_a_refused_parameter_is_left_out_once_and_for_all(alice: Desk, cast: Cast, model: ModelServer, dm: str) -> None:
    Coworker.objects.filter(pk=cast.lead.pk).update(max_output_tokens=64)
    refused = unknown_parameter("max_completion_tokens")
    model.queue(refused, story("one"), story("two"))
    alice.tell(dm, "Hello")
    alice.tell(dm, "Again")
    named = [[name for name in seen.body if name.startswith("max_")] for seen in model.chats]
    assert named == [["max_completion_tokens"], ["max_tokens"], ["max_tokens"]]
    assert alice.texts(dm) == ["Hello", "one", "Again", "two"]


def test_a_parameter_refused_again_and_again_ends_the_run(alice: Desk, model: ModelServer, dm: str) -> None:
    model.default = unknown_parameter("stream_options")
    alice.tell(dm, "Hello")
    assert failed_run(alice, dm)["error"]["code"] == "bad_request"
    assert len(model.chats) == 2


def test_each_attempt_has_its_own_receipt_with_what_it_asked(
    alice: Desk, cast: Cast, model: ModelServer, dm: str
) -> None:
    Coworker.objects.filter(pk=cast.lead.pk).update(max_output_tokens=64)
    model.queue(unknown_parameter("max_completion_tokens"), story("one"))
    alice.tell(dm, "Hello")
    told = [(one["call"]["attempt"], one["call"]["state"], one["call"]["parameters"]) for one in alice.receipts(dm)]
    assert told == [(1, "failed", {"max_completion_tokens": 64}), (2, "done", {"max_tokens": 64})]


def test_a_model_without_a_system_role_gets_the_same_words_from_the_user(
    alice: Desk, model: ModelServer, dm: str
) -> None:
    model.queue(refusal(400, "Unsupported value: role 'system' is not supported.", "unsupported_value"), story("Hi"))
    alice.tell(dm, "Hello")
    first, second = model.chats
    assert [message["role"] for message in second.messages] == ["user"]
    assert second.messages[0]["content"] == f"{first.messages[0]['content']}\n\nHello"
    assert alice.receipts(dm)[1]["messages"] == second.messages


def test_a_key_that_cannot_be_opened_any_more_is_named(alice: Desk, cast: Cast, model: ModelServer, dm: str) -> None:
    Provider.objects.filter(base_url=model.base_url).update(sealed_key="v1:not-of-this-office")
    alice.tell(dm, "Hello")
    assert failed_run(alice, dm)["error"]["code"] == "cannot_unseal"
    assert alice.receipts(dm)[0]["call"]["state"] == "failed"


def test_a_request_that_was_refused_costs_nothing(alice: Desk, cast: Cast, model: ModelServer, dm: str) -> None:
    Provider.objects.filter(base_url=model.base_url).update(prices={"scripted-1": {"input": 10, "output": 10}})
    model.queue(key_refused())
    alice.tell(dm, "Hello")
    call = alice.receipts(dm)[0]["call"]
    assert (call["usage"], call["cost"]) == (None, None)


def test_an_answer_in_one_piece_is_an_answer(alice: Desk, model: ModelServer, dm: str) -> None:
    model.queue(json_answer(chat_completion("Whole")))
    alice.tell(dm, "Hello")
    assert alice.texts(dm) == ["Hello", "Whole"]


def test_thoughts_are_neither_shown_nor_sent_again(alice: Desk, model: ModelServer, dm: str) -> None:
    model.queue(story({"reasoning_content": "secret thought"}, "42"), story("ok"))
    alice.tell(dm, "Hello")
    alice.tell(dm, "And?")
    assert alice.texts(dm)[1] == "42"
    assert b"secret thought" not in model.chats[1].raw


def test_nul_and_half_characters_in_an_answer_are_stored_as_what_can_be_stored(
    alice: Desk, model: ModelServer, dm: str
) -> None:
    half = b'data: {"choices": [{"index": 0, "delta": {"content": "c\\ud83dd"}}]}\n\n'
    model.queue(story("a\x00b", half))
    alice.tell(dm, "Hello")
    assert alice.texts(dm)[1] == "abc\ufffdd"


def test_tool_calls_without_text_end_with_a_reason_and_the_next_turn_works(
    alice: Desk, model: ModelServer, dm: str
) -> None:
    call = {"tool_calls": [{"function": {"name": "f", "arguments": "{}"}}]}
    model.queue(story(call, finish="tool_calls"), story("fine"))
    alice.tell(dm, "Hello")
    alice.tell(dm, "Again")
    assert alice.texts(dm) == ["Hello", "Again", "fine"]


def test_no_request_ever_holds_an_empty_message(alice: Desk, model: ModelServer, dm: str) -> None:
    model.queue(story(), story(CUT), story(CUT), story(CUT), story("ok"))
    for text in ("one", "two", "three"):
        alice.tell(dm, text)
    assert all(message["content"].strip() for seen in model.chats for message in seen.messages)


def test_the_words_of_the_provider_are_for_those_who_run_the_office(
    alice: Desk, bob: Desk, cast: Cast, model: ModelServer, hall: str
) -> None:
    model.queue(refusal(400, "roles must alternate"))
    alice.say(hall, f"@{cast.lead.name} hello")
    work_off()
    assert alice.receipts(hall)[0]["call"]["error"]["words"] == "roles must alternate"
    assert "words" not in bob.receipts(hall)[0]["call"]["error"]
