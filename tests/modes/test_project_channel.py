"""Several people and coworkers in one channel: who is asked, who speaks, and what each of them sees."""

import pytest

from tests.cast import Cast
from tests.desk import Desk, work_off
from tests.fakes import ModelServer, story


@pytest.mark.parametrize("sign", ["@", "＠"])
def test_who_is_mentioned_answers(sign: str, alice: Desk, cast: Cast, model: ModelServer, hall: str) -> None:
    posted = alice.tell(hall, f"{sign}{cast.staff[1].name} what do you think?")
    assert posted["mission"]["coworkers"] == [cast.staff[1].pk]
    assert alice.messages(hall)[1]["author"]["id"] == cast.staff[1].pk


def test_a_message_that_mentions_nobody_gives_no_mission_and_asks_no_model(
    alice: Desk, model: ModelServer, hall: str
) -> None:
    assert alice.tell(hall, "good morning all")["mission"] is None
    assert not model.chats


@pytest.mark.parametrize("form", ["`@{name}`", "```\n@{name}\n```", "mail@{name}.example.com"])
def test_a_name_in_code_or_an_address_asks_nobody(
    form: str, alice: Desk, cast: Cast, model: ModelServer, hall: str
) -> None:
    assert alice.tell(hall, form.format(name=cast.lead.name))["mission"] is None


def test_an_answer_that_mentions_a_coworker_wakes_nobody(
    alice: Desk, cast: Cast, model: ModelServer, hall: str
) -> None:
    model.default = story(f"@{cast.staff[1].name} over to you, and @{cast.lead.name} too")
    alice.tell(hall, f"@{cast.lead.name} begin")
    assert len(model.chats) == 1


def test_others_speak_under_a_header_and_ones_own_words_under_none(
    alice: Desk, bob: Desk, cast: Cast, model: ModelServer, hall: str
) -> None:
    one, other = cast.staff[0], cast.staff[1]
    model.queue(story("mine"), story("theirs"))
    alice.tell(hall, f"@{one.name} first")
    bob.tell(hall, f"@{other.name} second")
    alice.tell(hall, f"@{one.name} third")
    assert [message["content"] for message in model.chats[-1].messages[1:]] == [
        f"⟦1 · Alice⟧\n@{one.name} first",
        "mine",
        f"⟦3 · Bob⟧\n@{other.name} second\n\n⟦4 · {other.name} · {other.title} · AI⟧\ntheirs"
        f"\n\n⟦5 · Alice⟧\n@{one.name} third",
    ]


def test_two_asked_at_once_see_the_same_and_not_each_others_answer(
    alice: Desk, cast: Cast, model: ModelServer, hall: str
) -> None:
    one, other = cast.staff[0], cast.staff[1]
    alice.tell(hall, "before")
    alice.tell(hall, f"@{one.name} @{other.name} both of you")
    first, second = (seen.messages[1:] for seen in model.chats)
    assert first == second


def test_a_regeneration_does_not_see_the_answer_of_the_other(
    alice: Desk, cast: Cast, model: ModelServer, hall: str
) -> None:
    one, other = cast.staff[0], cast.staff[1]
    model.default = story("told by somebody")
    alice.tell(hall, f"@{one.name} @{other.name} both of you")
    answer = alice.messages(hall)[1]
    alice.regenerate(answer["id"])
    work_off()
    assert b"told by somebody" not in model.chats[-1].raw


def test_the_system_message_says_who_is_here(alice: Desk, cast: Cast, model: ModelServer, hall: str) -> None:
    alice.tell(hall, f"@{cast.lead.name} hello")
    told = model.chats[0].messages[0]["content"]
    assert all(name in told for name in ("Alice", "Bob", cast.staff[1].name, cast.lead.persona[:20]))


def test_a_coworker_who_is_not_here_cannot_be_asked(alice: Desk, cast: Cast, model: ModelServer) -> None:
    channel = alice.post("channels/", name="Small", coworkers=[cast.lead.pk])
    body = {"client_msg_id": "0" * 32, "text": "hello", "to": [cast.staff[1].pk]}
    assert alice.refused("post", f"threads/{channel['thread']}/messages/", 422, body) == "dm_coworkers_only"


def test_the_longer_of_two_names_is_meant(alice: Desk, cast: Cast, model: ModelServer, hall: str) -> None:
    provider = cast.lead.provider_id
    al = alice.post("coworkers/", name="Al", provider=alice.get("providers/")["providers"][0]["id"])
    ally = alice.post("coworkers/", name="Al Smith", provider=provider)
    for coworker in (al, ally):
        alice.post(f"channels/{cast.project.pk}/members/", coworker=coworker["id"])
    assert alice.say(hall, "@Al Smith?")["mission"]["coworkers"] == [ally["id"]]
