"""Channels: opened once, found again, and read without a query for each row."""

from collections.abc import Callable

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from office.models import Channel
from tests.cast import Cast, extra_person
from tests.desk import Desk, work_off
from tests.fakes import ModelServer, story


@pytest.fixture
def alice(cast: Cast) -> Desk:
    return Desk(cast.alice)


def queries(step: Callable[[], object]) -> int:
    with CaptureQueriesContext(
        connection,
    ) as seen:
        step()
    return len(seen)


def test_a_dm_is_opened_once_and_found_again(cast: Cast, alice: Desk) -> None:
    first = alice.post(f"coworkers/{cast.lead.pk}/dm/")
    assert alice.post(f"coworkers/{cast.lead.pk}/dm/")["id"] == first["id"]
    assert Channel.objects.filter(kind="dm").count() == 1


def test_two_people_have_two_dms_with_one_coworker(cast: Cast, alice: Desk) -> None:
    assert alice.dm(cast.lead.pk) != Desk(cast.bob).dm(cast.lead.pk)


def test_a_channel_with_somebody_of_another_office_is_refused_whole(cast: Cast, alice: Desk) -> None:
    assert alice.refused("post", "channels/", 404, {"name": "X", "people": [cast.charlie.pk]}) == "not_found"
    assert not Channel.objects.filter(name="X").exists()


def test_a_retired_coworker_joins_no_channel(cast: Cast, alice: Desk) -> None:
    alice.post(f"coworkers/{cast.lead.pk}/retire/")
    path = f"channels/{cast.project.pk}/members/"
    assert alice.refused("post", path, 409, {"coworker": cast.lead.pk}) == "coworker_retired"


@pytest.mark.parametrize("name", ["経理部", "a b", "x:y", "👩‍💻", "</script>"])
def test_a_channel_may_have_any_visible_name(name: str, cast: Cast, alice: Desk) -> None:
    channel = alice.post("channels/", 201, name=name)
    assert alice.say(channel["thread"], "hello", 201)["message"]["number"] == 1
    assert alice.get("sidebar/")["channels"][-1]["name"] == name


def test_reading_moves_forward_only_and_not_beyond_the_end(cast: Cast, alice: Desk) -> None:
    thread = alice.enter(cast.project.pk)
    for number in range(3):
        alice.say(thread, f"{number}")
    path = f"channels/{cast.project.pk}/read/"
    assert [alice.post(path, number=number)["last_read_number"] for number in (2, 1, 99, 0)] == [2, 2, 3, 3]


def test_the_sidebar_costs_the_same_with_five_channels_and_with_fifty(cast: Cast, alice: Desk) -> None:
    def grow(count: int) -> int:
        for number in range(count):
            alice.post("channels/", name=f"Channel {number}")
        alice.get("sidebar/")
        return queries(lambda: alice.get("sidebar/"))

    assert grow(5) == grow(45) <= 20


def test_a_snapshot_costs_the_same_with_two_messages_and_with_a_hundred(cast: Cast, alice: Desk) -> None:
    thread = alice.enter(cast.project.pk)

    def grow(count: int) -> int:
        for number in range(count):
            alice.say(thread, f"message {number}")
        return queries(lambda: alice.snapshot(thread))

    assert grow(2) == grow(98) <= 20


def test_the_list_of_calls_costs_the_same_with_one_and_with_ten(
    cast: Cast, alice: Desk, settings, server: ModelServer
) -> None:
    settings.OFFICE_PRIVATE_ENDPOINTS = [f"127.0.0.1:{server.port}"]
    server.default = story("ok")
    cast.provider(server.base_url)
    thread = alice.dm(cast.lead.pk)

    def grow(count: int) -> int:
        for number in range(count):
            alice.say(thread, f"{number}")
        work_off()
        return queries(lambda: alice.get(f"threads/{thread}/calls/"))

    assert grow(1) == grow(9)


def test_a_post_that_gives_a_mission_stays_within_its_budget_of_queries(cast: Cast, alice: Desk) -> None:
    thread = alice.dm(cast.lead.pk)
    alice.say(thread, "first")
    assert queries(lambda: alice.say(thread, "second")) <= 30


def test_opening_a_channel_asks_once_for_all_its_people(cast: Cast, alice: Desk) -> None:
    people = [extra_person(cast, f"Person{number}").pk for number in range(6)]
    two = queries(lambda: alice.post("channels/", name="two", people=people[:2]))
    six = queries(lambda: alice.post("channels/", name="six", people=people))
    # What remains for each person is their seat, their event and its place in their own stream.
    assert six - two <= 4 * 9


def test_removing_somebody_costs_the_same_however_many_are_signed_in(cast: Cast, alice: Desk) -> None:
    one, other = extra_person(cast, "One"), extra_person(cast, "Other")
    few = queries(lambda: alice.delete(f"members/{one.pk}/"))
    desks = [Desk(cast.bob) for _ in range(12)]
    assert queries(lambda: alice.delete(f"members/{other.pk}/")) == few
    assert desks
