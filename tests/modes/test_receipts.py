"""The receipt is what was sent: byte for byte, before it went, with an account of every part and every omission."""

import hashlib
import json
import threading

from django.db import connection

from modes import runner
from modes.models import Run
from office.models import Provider
from tests.cast import Cast
from tests.desk import Desk, beside, work_off
from tests.fakes import ModelServer, story, usage_chunk
from threads.models import Call

KEY = "sk-test-0123456789"


def raw_messages(raw: bytes) -> bytes:
    """The bytes of `messages` as they stand in a request's body."""
    start = raw.index(b'"messages":') + len(b'"messages":')
    _, end = json.JSONDecoder().raw_decode(raw[start:].decode())
    return raw.decode()[len(raw[:start].decode()) :][:end].encode()


def test_the_receipts_messages_are_byte_for_byte_what_the_server_received(
    alice: Desk, model: ModelServer, dm: str
) -> None:
    model.default = story("返事 🧑‍🚀 «ok»\n```py\nx\n```")
    for text in ("こんにちは <b>&amp;</b>", '２つ目 \\ " / \u2028 <|endoftext|>', "third\n\n🇯🇵"):
        alice.tell(dm, text)
    receipts = alice.receipts(dm)
    assert len(receipts) == 3
    for receipt, seen in zip(receipts, model.chats, strict=True):
        sent = json.dumps(receipt["messages"], ensure_ascii=False, separators=(",", ":")).encode()
        assert sent == raw_messages(seen.raw)


def test_the_hash_can_be_computed_again_from_the_receipt_and_from_the_request(
    alice: Desk, model: ModelServer, dm: str
) -> None:
    alice.tell(dm, "こんにちは")
    (receipt,) = alice.receipts(dm)
    assert receipt["hash"] == "sha256:" + hashlib.sha256(raw_messages(model.chats[0].raw)).hexdigest()


def test_the_receipt_is_stored_before_the_request_leaves(alice: Desk, model: ModelServer, dm: str) -> None:
    gate = threading.Event()
    model.queue(story(gate, "ok"))
    alice.say(dm, "Hello")
    working = beside(work_off)
    (seen,) = model.wait_for(1)
    (call,) = Call.objects.all()
    gate.set()
    working.join()
    assert (call.state, call.messages) == ("sent", seen.messages)


def joined(receipt: dict) -> list[str]:
    """Each message's content as its segments make it, with the blank line between neighbours."""
    contents = [""] * len(receipt["messages"])
    for part in receipt["segments"]:
        content = receipt["messages"][part["index"]]["content"]
        assert receipt["messages"][part["index"]]["role"] == part["role"]
        between = "\n\n" if contents[part["index"]] else ""
        assert part["start"] == len(contents[part["index"]] + between)
        contents[part["index"]] += between + content[part["start"] : part["end"]]
    return contents


def test_the_segments_cover_every_message_exactly(alice: Desk, cast: Cast, model: ModelServer, hall: str) -> None:
    for number in range(4):
        alice.say(hall, f"😀 aside {number}")
        alice.tell(hall, f"@{cast.lead.name} question {number}")
    for receipt in alice.receipts(hall):
        assert joined(receipt) == [message["content"] for message in receipt["messages"]]


def test_every_earlier_message_is_either_a_source_or_left_out_exactly_once(
    alice: Desk, model: ModelServer, dm: str
) -> None:
    model.queue(story("ok"), story(), story("ok"))
    gone = alice.tell(dm, "to be taken back")["message"]["id"]
    alice.delete(f"messages/{gone}/")
    for number in range(25):
        alice.tell(dm, f"question {number}")
    earlier = alice.messages(dm)[:-1]  # with the question itself, without its answer
    receipt = alice.receipts(dm)[-1]
    ids = {message["id"]: message["number"] for message in earlier}
    sources = [ids[part["source"]] for part in receipt["segments"] if part["source"]]
    left_out = [number for entry in receipt["left_out"] for number in entry["numbers"]]
    assert all(entry["count"] == len(entry["numbers"]) for entry in receipt["left_out"])
    assert sorted(sources + left_out) == sorted(message["number"] for message in earlier)


def test_a_message_taken_back_is_left_out_by_that_name(alice: Desk, model: ModelServer, dm: str) -> None:
    gone = alice.tell(dm, "to be taken back")["message"]["id"]
    alice.delete(f"messages/{gone}/")
    alice.tell(dm, "next")
    told = [(entry["reason"], entry["numbers"]) for entry in alice.receipts(dm)[-1]["left_out"]]
    assert told == [("retracted", [1])]


def test_what_falls_out_by_length_is_told_apart_from_what_is_too_old(alice: Desk, model: ModelServer, dm: str) -> None:
    model.default = story("ok")
    for text in ("first", "second", "word " * 13_000, "last"):
        alice.tell(dm, text)
    reasons = [entry["reason"] for entry in alice.receipts(dm)[-1]["left_out"]]
    assert reasons == ["over_tokens"]


def test_no_key_stands_in_any_table_or_any_body(alice: Desk, cast: Cast, model: ModelServer, dm: str) -> None:
    alice.tell(dm, "Hello")
    bodies = [
        alice.get(path)
        for path in ("sidebar/", "providers/", "coworkers/", f"threads/{dm}/", f"threads/{dm}/calls/", "audit/")
    ]
    assert model.chats[0].headers["authorization"] == f"Bearer {KEY}"
    assert KEY not in json.dumps([bodies, alice.receipts(dm)])
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f'SELECT * FROM "{table}"')
            assert KEY not in str(cursor.fetchall()), table


def test_no_header_stands_in_a_receipt(alice: Desk, model: ModelServer, dm: str) -> None:
    alice.tell(dm, "Hello")
    told = json.dumps(alice.receipts(dm)).lower()
    assert not any(word in told for word in ("authorization", "bearer", "user-agent"))


def test_reported_usage_is_taken_over_with_what_was_cached(alice: Desk, model: ModelServer, dm: str) -> None:
    model.queue(story("ok", usage_chunk(100, 20, prompt_tokens_details={"cached_tokens": 60}), usage=None))
    alice.tell(dm, "Hello")
    usage = alice.receipts(dm)[0]["call"]["usage"]
    assert usage == {
        "prompt": 100, "completion": 20, "total": 120, "cached": 60, "reasoning": None, "source": "reported"
    }  # fmt: skip


def test_usage_that_was_not_reported_is_estimated_and_says_so(alice: Desk, model: ModelServer, dm: str) -> None:
    model.queue(story("eins zwei drei", usage=None))
    alice.tell(dm, "Hello")
    receipt = alice.receipts(dm)[0]
    usage = receipt["call"]["usage"]
    assert usage["source"] == "estimated"
    assert usage["prompt"] == receipt["tokens"]["total"]
    assert usage["completion"] > 0


def test_the_cost_follows_the_prices_that_were_entered(alice: Desk, model: ModelServer, dm: str) -> None:
    prices = {"scripted-1": {"input": 2, "cached": 1, "output": 8, "currency": "USD"}}
    Provider.objects.filter(base_url=model.base_url).update(prices=prices)
    model.queue(story("ok", usage=(1_000_000, 500_000)))
    alice.tell(dm, "Hello")
    cost = alice.receipts(dm)[0]["call"]["cost"]
    assert (cost["amount"], cost["currency"]) == (6.0, "USD")


def test_without_prices_there_is_no_cost(alice: Desk, model: ModelServer, dm: str) -> None:
    alice.tell(dm, "Hello")
    assert alice.receipts(dm)[0]["call"]["cost"] is None


def test_an_answer_names_the_calls_that_made_it(alice: Desk, model: ModelServer, dm: str) -> None:
    alice.tell(dm, "Hello")
    answer = alice.messages(dm)[1]
    calls = alice.get(f"messages/{answer['id']}/calls/")["calls"]
    assert [call["id"] for call in calls] == [alice.receipts(dm)[0]["call"]["id"]]
    assert calls[0]["first_token_ms"] > 0


def test_a_receipt_of_a_dm_is_nobody_elses(alice: Desk, bob: Desk, model: ModelServer, dm: str) -> None:
    alice.tell(dm, "Hello")
    call = alice.receipts(dm)[0]["call"]["id"]
    for path in (f"calls/{call}/", f"calls/{call}/receipt/", f"threads/{dm}/calls/"):
        assert bob.refused("get", path, 404) == "not_found"


def test_a_receipt_of_a_channel_is_open_to_all_its_members(
    alice: Desk, bob: Desk, cast: Cast, model: ModelServer, hall: str
) -> None:
    alice.tell(hall, f"@{cast.lead.name} hello")
    assert bob.receipts(hall)[0]["messages"] == model.chats[0].messages


def test_a_call_whose_process_died_is_closed_as_interrupted(alice: Desk, model: ModelServer, dm: str) -> None:
    alice.say(dm, "Hello")
    runner.begin(Run.objects.get().pk)
    runner.recover()
    (call,) = alice.get(f"threads/{dm}/calls/")["calls"]
    assert (call["state"], call["error"]["code"]) == ("failed", "interrupted")
    work_off()
