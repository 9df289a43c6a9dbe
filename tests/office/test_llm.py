"""What a streamed or whole answer looks like to the caller, whatever shape the server gives it."""

import json

import pytest

from office.llm import Finish, ModelError, Reasoning, Text, Usage, complete, list_models, stream
from tests.fakes import chat_completion, echo, json_answer, story, usage_chunk
from tests.scripts import chunk, event


async def told(ask):
    return [piece async for piece in stream(ask)]


async def text_of(ask):
    return "".join(piece.text for piece in await told(ask) if isinstance(piece, Text))


async def test_text_usage_and_finish_come_in_this_order(server, ask):
    server.queue(story("Hel", "lo"))
    pieces = await told(ask())
    assert "".join(piece.text for piece in pieces[:-2]) == "Hello"
    assert pieces[-2:] == [Usage(10, 5, 15), Finish("stop")]


async def test_pieces_that_arrive_in_one_read_are_given_as_one(server, ask):
    both = event(chunk({"content": "Hel"})) + event(chunk({"content": "lo"}))
    server.queue(story(both))
    assert Text("Hello") in await told(ask())


@pytest.mark.parametrize("first", [True, False])
async def test_a_usage_chunk_without_choices_is_recorded_once_wherever_it_stands(server, ask, first):
    steps = [usage_chunk(10, 5), "はい"] if first else ["はい", usage_chunk(10, 5)]
    server.queue(story(*steps, usage=None))
    assert await told(ask()) == [Text("はい"), Usage(10, 5, 15), Finish("stop")]


async def test_usage_keeps_cached_and_reasoning_tokens(server, ask):
    details = {"prompt_tokens_details": {"cached_tokens": 4}, "completion_tokens_details": {"reasoning_tokens": 3}}
    server.queue(story("x", usage_chunk(10, 5, **details), usage=None))
    assert Usage(10, 5, 15, 4, 3) in await told(ask())


async def test_running_totals_in_every_chunk_end_as_one_usage(server, ask):
    server.queue(story("a", usage_chunk(10, 1), "b", usage_chunk(10, 2), usage=None))
    assert [piece for piece in await told(ask()) if isinstance(piece, Usage)] == [Usage(10, 2, 12)]


async def test_null_empty_and_role_only_deltas_leave_no_trace(server, ask):
    steps = [{"role": "assistant", "content": None}, event(chunk(None)), {"content": ""}, {"content": "はい"}, {}]
    server.queue(story(*steps, role=False))
    assert await text_of(ask()) == "はい"


async def test_reasoning_is_kept_apart_from_the_answer(server, ask):
    server.queue(story({"reasoning_content": "考え中"}, "答えは42", usage=None))
    assert await told(ask()) == [Reasoning("考え中"), Text("答えは42"), Finish("stop")]


async def test_thoughts_in_tags_split_over_chunks_are_kept_apart(server, ask):
    server.queue(story("<thi", "nk>考え中</th", "ink>答えは42"))
    assert await text_of(ask()) == "答えは42"


async def test_thoughts_that_never_close_do_not_swallow_the_answer(server, ask):
    server.queue(story("<thi", "nk>考え中", "答えは42"))
    assert (await text_of(ask())).endswith("答えは42")


async def test_a_closing_tag_in_a_code_sample_is_shown_as_it_is(server, ask):
    sample = "例:\n```\n<think>x</think>\n```\n"
    server.queue(story(*sample))
    assert await text_of(ask()) == sample


async def test_an_answer_of_tool_calls_alone_ends_with_that_reason_and_no_text(server, ask):
    calls = [
        {"tool_calls": [{"id": "a", "function": {"name": "f", "arguments": "{"}}]},
        {"tool_calls": [{"index": 0, "id": "b", "function": {"name": "g"}}]},
        {"tool_calls": [{"index": 0, "id": "c", "function": {"name": "h"}}]},
    ]
    server.queue(story(*calls, finish="tool_calls", usage=None))
    assert await told(ask()) == [Finish("tool_calls")]


@pytest.mark.parametrize("reason", ["length", "content_filter"])
async def test_an_answer_cut_short_says_why(server, ask, reason):
    server.queue(story("あ" * 200, finish=reason))
    assert (await told(ask()))[-1] == Finish(reason)


async def test_reasoning_alone_up_to_the_limit_is_no_text(server, ask):
    server.queue(story({"reasoning_content": "長い考え"}, finish="length", usage=None))
    assert await told(ask()) == [Reasoning("長い考え"), Finish("length")]


async def test_a_character_cut_between_two_sends_arrives_whole(server, ask):
    raw = event(chunk({"content": "世界"}))
    middle = raw.index("世".encode()) + 1
    server.queue(story(raw[:middle], 0.0, raw[middle:]))
    assert await text_of(ask()) == "世界"


async def test_a_last_event_without_its_empty_line_counts(server, ask):
    server.queue(story("a", event(chunk({}, "stop")).rstrip(), finish=None, usage=None, done=False))
    assert await told(ask()) == [Text("a"), Finish("stop")]


async def test_a_server_that_answers_a_stream_request_in_one_piece_is_understood(server, ask):
    server.queue(json_answer(chat_completion("はい", usage=(10, 5))))
    assert await told(ask()) == [Text("はい"), Usage(10, 5, 15), Finish("stop")]


async def test_a_plain_call_gives_text_usage_and_finish(server, ask):
    server.queue(story("はい"))
    whole = await complete(ask())
    assert (whole.text, whole.usage, whole.finish) == ("はい", Usage(10, 5, 15), "stop")


async def test_the_messages_go_out_byte_for_byte(server, ask):
    messages = [{"role": "system", "content": "決まり\u2028"}, {"role": "user", "content": '「😀」 "é" \\ </x>\n'}]
    server.queue(echo())
    answer = await text_of(ask(messages=messages))
    written = json.dumps(messages, ensure_ascii=False, separators=(",", ":")).encode()
    assert b'"messages":' + written in server.requests[0].raw
    assert json.loads(answer) == messages


@pytest.mark.parametrize("call", [told, complete])
async def test_an_unpaired_surrogate_is_refused_before_anything_is_sent(server, ask, call):
    with pytest.raises(ModelError) as caught:
        await call(ask("broken \ud83d"))
    assert caught.value.code == "unsendable_text"
    assert server.requests == []


async def test_usage_is_asked_for_unless_the_endpoint_refuses_the_question(server, ask):
    await told(ask())
    await told(ask(unsupported=frozenset({"stream_options"})))
    assert [seen.body.get("stream_options") for seen in server.chats] == [{"include_usage": True}, None]


async def test_unsupported_parameters_are_left_out_and_the_limit_goes_by_its_other_name(server, ask):
    refused = frozenset({"max_completion_tokens", "temperature"})
    await told(ask(unsupported=refused, parameters={"max_completion_tokens": 9, "temperature": 1, "seed": 2}))
    sent = server.chats[0].body
    assert sent["max_tokens"] == 9
    assert sent["seed"] == 2
    assert not refused & set(sent)


async def test_only_the_office_key_goes_out_whatever_the_environment_says(server, ask, monkeypatch):
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Private: other\nAuthorization: Bearer other")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-other")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-other")
    await told(ask())
    headers = server.chats[0].headers
    assert headers["authorization"] == "Bearer TESTKEY-0123456789"
    assert not any("other" in value or name.startswith("x-stainless") for name, value in headers.items())


async def test_an_endpoint_without_a_key_gets_no_authorization(server, ask, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-from-the-environment")
    given = ask()
    keyless = type(given.endpoint)(given.endpoint.base_url, "", given.endpoint.pinned)
    await told(ask(endpoint=keyless))
    assert "authorization" not in server.chats[0].headers


async def test_the_models_of_an_endpoint_are_listed(server, ask):
    server.models = ["alpha", "beta"]
    assert await list_models(ask().endpoint) == ["alpha", "beta"]


async def test_the_key_is_not_in_the_endpoint_s_representation(ask):
    assert "TESTKEY" not in repr(ask())
