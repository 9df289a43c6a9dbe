"""Every way a model server can fail has a stable code, and none of them leaks a key."""

import json

import pytest

from office.llm import ModelError, Text, complete, list_models, stream, without_roles
from office.model_errors import clean_words
from tests import fakes
from tests.fakes import CUT, page, refusal, story
from tests.office.conftest import KEY
from tests.scripts import Answer, event


async def failure_of(ask, call=None):
    """The error of a request, and the text that came before it."""
    text = ""
    try:
        if call is not None:
            await call(ask)
        else:
            async for piece in stream(ask):
                text += piece.text if isinstance(piece, Text) else ""
    except ModelError as error:
        return error, text
    raise AssertionError("the request succeeded")


REFUSALS = [
    (fakes.key_refused(KEY), "key_refused", False),
    (fakes.not_allowed(), "not_allowed", False),
    (fakes.model_missing(), "model_not_found", False),
    (refusal(404, "Not Found"), "not_a_model_server", False),
    (fakes.rate_limited(), "rate_limited", True),
    (fakes.quota_exhausted(), "quota_exhausted", False),
    (refusal(402, "Insufficient Balance"), "quota_exhausted", False),
    (fakes.server_error(500), "server_error", True),
    (fakes.server_error(503), "server_error", True),
    (fakes.context_too_long(), "context_too_long", False),
    (refusal(413, "Payload too large"), "context_too_long", False),
    (refusal(400, "the request exceeds the available context size"), "context_too_long", False),
    (fakes.content_filtered(), "content_filter", False),
    (refusal(400, "Conversation roles must alternate user/assistant"), "bad_request", False),
    (page(), "not_a_model_server", False),
    (page(status=502), "server_error", True),
    (Answer(body=b"", kind="application/json"), "answer_not_json", False),
    (Answer(body=b'{"choices": [{"del', kind="application/json"), "answer_not_json", False),
    (Answer(body=b'{"id": "c"}', kind="application/json"), "not_a_model_server", False),
    (Answer(body=b"[]", kind="application/json"), "not_a_model_server", False),
]


@pytest.mark.parametrize("call", [None, complete], ids=["streamed", "whole"])
@pytest.mark.parametrize(("answer", "code", "retryable"), REFUSALS)
async def test_a_refusal_has_its_code_and_is_tried_once(server, ask, answer, code, retryable, call):
    server.queue(answer)
    error, _ = await failure_of(ask(), call)
    assert (error.code, error.retryable) == (code, retryable)
    assert len(server.requests) == 1


async def test_an_empty_stream_is_no_answer(server, ask):
    server.queue(story(role=False, finish=None, usage=None, done=False))
    assert (await failure_of(ask()))[0].code == "answer_not_json"


async def test_a_stream_of_broken_json_keeps_what_came_before(server, ask):
    server.queue(story("はい", b"data: {broken\n\n"))
    error, text = await failure_of(ask())
    assert (error.code, text) == ("answer_not_json", "はい")


async def test_a_cut_connection_keeps_what_came_before(server, ask):
    server.queue(story("はい", CUT))
    error, text = await failure_of(ask())
    assert (error.code, text, error.retryable) == ("cut_off", "はい", True)


@pytest.mark.parametrize("done", [True, False])
async def test_a_stream_that_ends_without_a_finish_reason_is_not_a_success(server, ask, done):
    server.queue(story("はい", finish=None, done=done))
    error, text = await failure_of(ask())
    assert (error.code, text) == ("no_finish", "はい")


async def test_a_cut_after_the_finish_reason_is_no_loss(server, ask):
    server.queue(story("はい", event({"choices": [{"delta": {}, "finish_reason": "stop"}]}), CUT))
    assert [type(piece).__name__ for piece in [piece async for piece in stream(ask())]] == ["Text", "Finish"]


@pytest.mark.parametrize(
    ("content", "code"),
    [
        ({"message": "overloaded", "code": 503}, "server_error"),
        ({"message": "slow down", "code": "rate_limit_exceeded"}, "rate_limited"),
        ("something broke", "server_error"),
    ],
)
async def test_an_error_event_in_mid_stream_ends_it_with_its_code(server, ask, content, code):
    server.queue(story("はい", event({"error": content}), "never"))
    error, text = await failure_of(ask())
    assert (error.code, text) == (code, "はい")


async def test_a_server_that_is_not_there_is_unreachable(ask):
    endpoint = type(ask().endpoint)("http://127.0.0.1:9/v1", pinned=frozenset({"127.0.0.1:9"}))
    assert (await failure_of(ask(endpoint=endpoint)))[0].code == "unreachable"


async def test_an_address_that_is_not_allowed_is_refused_before_a_connection(server, ask):
    endpoint = type(ask().endpoint)(server.base_url)
    assert (await failure_of(ask(endpoint=endpoint)))[0].code == "address_refused"
    assert server.requests == []


async def test_silence_before_the_first_output_is_its_own_time_out(server, ask):
    server.queue(story(fakes.gate()))
    assert (await failure_of(ask(first_token_s=0.05)))[0].code == "timed_out_first"


async def test_comments_that_keep_the_line_open_do_not_count_as_output(server, ask):
    server.queue(story(*[b": keep-alive\n\n", 0.01] * 200, fakes.gate()))
    assert (await failure_of(ask(first_token_s=0.1)))[0].code == "timed_out_first"


async def test_silence_in_mid_answer_is_its_own_time_out(server, ask):
    server.queue(story("はい", fakes.gate()))
    error, text = await failure_of(ask(between_s=0.05))
    assert (error.code, text) == ("timed_out_between", "はい")


async def test_an_answer_that_never_ends_runs_into_the_total(server, ask):
    server.queue(story(*["x", 0.01] * 500))
    error, text = await failure_of(ask(total_s=0.2))
    assert error.code == "timed_out_total"
    assert text


async def test_a_whole_answer_has_the_total_as_its_limit(server, ask):
    server.choose = lambda seen: story("x")
    server.queue(Answer((), make=lambda body: story("x")))
    assert (await failure_of(ask(total_s=0.0), complete))[0].code == "timed_out_total"


@pytest.mark.parametrize(("header", "seconds"), [({"retry-after": "7"}, 7), ({"retry-after-ms": "1500"}, 1.5)])
async def test_the_time_to_wait_is_passed_on(server, ask, header, seconds):
    server.queue(refusal(429, "slow down", headers=header))
    assert (await failure_of(ask()))[0].retry_after == seconds


async def test_a_date_to_wait_for_is_passed_on_in_seconds(server, ask):
    server.queue(refusal(503, "busy", headers={"retry-after": "Fri, 01 Jan 2100 00:00:00 GMT"}))
    assert (await failure_of(ask()))[0].retry_after > 3600


USE_THE_OTHER = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
EXTRA_FIELD = {"detail": [{"loc": ["body", "temperature"], "msg": "extra fields not permitted"}]}
NO_SYSTEM = "messages[0].role does not support 'system' with this model"


@pytest.mark.parametrize(
    ("answer", "parameter"),
    [
        (refusal(400, "Conversation roles must alternate user/assistant"), None),
        (fakes.unknown_parameter("stream_options"), "stream_options"),
        (refusal(400, "Unsupported value", "unsupported_value", "temperature"), "temperature"),
        (refusal(400, USE_THE_OTHER, None, "max_tokens"), "max_tokens"),
        (refusal(400, "Unknown parameter: stream_options.include_usage"), "stream_options"),
        (fakes.json_answer(EXTRA_FIELD, 422), "temperature"),
        (refusal(400, "System role not supported"), "role:system"),
        (refusal(400, "Unsupported value", "unsupported_value", "messages[0].role"), "role:system"),
        (refusal(400, NO_SYSTEM, "unsupported_value"), "role:system"),
        (refusal(400, "Only user and assistant roles are supported!"), "role:system"),
    ],
)
async def test_a_refused_parameter_is_named(server, ask, answer, parameter):
    server.queue(answer)
    messages = [{"role": "system", "content": "r"}, {"role": "user", "content": "u"}]
    error, _ = await failure_of(ask(messages=messages, parameters={"temperature": 2, "max_tokens": 5}))
    assert (error.code, error.parameter) == ("unknown_parameter" if parameter else "bad_request", parameter)


async def test_a_value_out_of_range_is_not_taken_for_a_parameter_to_drop(server, ask):
    server.queue(refusal(400, "max_tokens is too large: 5000", "invalid_value", "max_tokens"))
    assert (await failure_of(ask(parameters={"max_tokens": 5000})))[0].code == "bad_request"


@pytest.mark.parametrize("status", [400, 401, 429, 500])
async def test_a_key_repeated_by_the_provider_is_in_no_part_of_the_error(server, ask, status):
    server.queue(refusal(status, f"bad key {KEY} at https://user:{KEY}@host/v1?key={KEY}"))
    error, _ = await failure_of(ask())
    assert KEY not in json.dumps([str(error), repr(error), error.provider_words, error.args])
    assert error.__cause__ is None
    assert "://" not in error.provider_words


async def test_a_key_that_fits_in_no_header_is_refused(ask):
    endpoint = type(ask().endpoint)(ask().endpoint.base_url, "キー", ask().endpoint.pinned)
    assert (await failure_of(ask(endpoint=endpoint)))[0].code == "key_refused"


def test_words_are_short_plain_and_free_of_markup():
    assert len(clean_words("x" * 5000)) == 200
    assert clean_words("<!doctype html><p>no") == ""
    assert clean_words("a\n\tb \ud800") == "a b ?"


async def test_listing_models_of_a_page_says_that_it_is_no_model_server(server, ask):
    endpoint = ask().endpoint
    server.models = []
    assert await list_models(endpoint) == []
    wrong = type(endpoint)(server.origin + "/elsewhere", pinned=endpoint.pinned)
    server.queue(page())
    with pytest.raises(ModelError, match="not_a_model_server"):
        await complete(ask(endpoint=wrong))


def test_refused_roles_are_folded_into_the_first_user_message():
    messages = [
        {"role": "system", "content": "rules"},
        {"role": "assistant", "content": "a"},
        {"role": "user", "content": "q"},
    ]
    folded = without_roles(messages, frozenset({"role:system", "temperature"}))
    assert folded == [{"role": "assistant", "content": "a"}, {"role": "user", "content": "rules\n\nq"}]
    assert messages[2]["content"] == "q"
