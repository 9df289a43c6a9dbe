"""A model's window: history gives way to it, what is required is sent whole or refused, nothing is cut in silence."""

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from modes.prompt import Scene, build, plain, weight
from office.errors import Refused
from office.models import Provider
from tests.cast import Cast
from tests.desk import Desk
from tests.fakes import ModelServer
from tests.modes.test_prompt import count, scenes

LONG = "word " * 1500


def check_refusal(refused: Refused, scene: Scene, room: int) -> None:
    """Only what is required is too much, save for the word that something is left out."""
    assert (refused.code, refused.detail["limit"]) == ("does_not_fit", room)
    assert refused.detail["tokens"] > room
    assert weight(build(replace(scene, earlier=[]), count), count) > room - 40


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(scenes(), st.integers(100, 4000))
def test_a_request_fits_or_is_refused_and_the_mission_is_whole(scene: Scene, room: int) -> None:
    try:
        built = build(replace(scene, room=room), count)
    except Refused as found:
        check_refusal(found, scene, room)
        return
    assert weight(built, count) <= room
    assert built.messages[-1]["content"].endswith(plain(scene.mission.text))
    sent = {one["source"] for one in built.segments if one["source"]} - {scene.mission.id}
    assert len(sent) + sum(one["count"] for one in built.left_out) == len(scene.earlier)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(scenes())
def test_a_window_that_is_large_enough_changes_nothing(scene: Scene) -> None:
    assert build(replace(scene, room=10_000_000), count) == build(scene, count)


@pytest.fixture
def small(model: ModelServer) -> ModelServer:
    """The scripted server, whose model takes 2,048 tokens at once."""
    Provider.objects.exclude(base_url="").update(context_window=2048)
    return model


def test_a_mission_that_does_not_fit_is_not_sent_and_the_choice_is_said(
    cast: Cast, alice: Desk, small: ModelServer, dm: str
) -> None:
    alice.tell(dm, LONG)
    error = alice.snapshot(dm)["runs"][0]["error"]
    assert error["code"] == "does_not_fit"
    assert cast.lead.name in error["message"]
    assert "{" not in error["message"]
    assert small.requests == []
    assert alice.get(f"threads/{dm}/calls/")["calls"] == []


def test_a_bigger_window_and_another_try_answer_it(cast: Cast, alice: Desk, small: ModelServer, dm: str) -> None:
    mission = alice.tell(dm, LONG)["mission"]["id"]
    provider = alice.get("coworkers/")["coworkers"][0]["provider"]
    alice.patch(f"providers/{provider}/", 200, context_window=128_000)
    alice.post(f"missions/{mission}/retry/")
    alice.tell(dm, "And?")
    assert not alice.snapshot(dm)["runs"]
    assert len(small.requests) == 2


def test_history_that_does_not_fit_gives_way_and_is_accounted_for(alice: Desk, small: ModelServer, dm: str) -> None:
    for _ in range(4):
        alice.tell(dm, "word " * 400)
    receipt = alice.receipts(dm)[-1]
    assert receipt["tokens"]["total"] <= 1024
    assert [one["reason"] for one in receipt["left_out"]] == ["over_tokens"]
    assert len(small.requests) == 4


@pytest.mark.parametrize("window", [0, 1023, -1, "many", 1.5])
def test_a_window_that_is_none_is_refused(window: object, alice: Desk) -> None:
    sheet = {"name": "X", "base_url": "https://api.example.com/v1", "context_window": window}
    assert alice.refused("post", "providers/", 400, sheet) == "bad_input"


def test_the_window_can_be_set_and_taken_back(alice: Desk) -> None:
    made = alice.post("providers/", 201, name="X", base_url="https://api.example.com/v1", context_window=8192)
    assert made["context_window"] == 8192
    assert alice.patch(f"providers/{made['id']}/", context_window=None)["context_window"] is None
