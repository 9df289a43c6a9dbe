"""What is not yours answers as if it were not there, on every address that takes an id, for every method."""

import pytest
from django.db import transaction
from django.urls import URLPattern, URLResolver, get_resolver
from rest_framework.test import APIClient

from office.actions.people import create_person, seat
from tests.cast import Cast, extra_person
from tests.desk import Desk, new_uuid, work_off

ID = "0" * 26
BODIES = {
    "role": "member", "client_id": "0" * 32, "client_msg_id": "0" * 32, "text": "hello", "version": 1, "number": 1,
    "name": "Name", "model": "m", "coworker": ID,
}  # fmt: skip


def addresses(patterns: list, before: str = "") -> list[str]:
    """Every address under the API, as written in the patterns."""
    found = []
    for pattern in patterns:
        here = before + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            found += addresses(pattern.url_patterns, here)
        elif isinstance(pattern, URLPattern):
            found.append(here)
    return found


ALL = [one.removeprefix("api/v1/") for one in addresses(get_resolver().url_patterns) if one.startswith("api/v1/")]
WITH_ID = [one for one in ALL if "<" in one and "(?P" not in one]
METHODS = ("get", "post", "patch", "delete")


def filled(address: str, ids: dict[str, str]) -> str:
    for name, value in ids.items():
        address = address.replace(f"<str:{name}>", value)
    return address


@pytest.fixture
def owned(cast: Cast) -> dict[str, str]:
    """One thing of Alice's of every kind that has an id, all of them hers alone."""
    alice = Desk(cast.alice)
    thread = alice.dm(cast.lead.pk)
    posted = alice.tell(thread, "Hello")
    snapshot = alice.snapshot(thread)
    call = alice.get(f"threads/{thread}/calls/")["calls"][0]
    return {
        "channel": snapshot["thread"]["channel"], "thread": thread, "message": posted["message"]["id"],
        "mission": posted["mission"]["id"], "run": call["run"], "call": call["id"], "coworker": cast.lead.pk,
        "provider": cast.lead.provider_id, "person": cast.bob.pk, "stream": f"thread:{thread}",
        "token": alice.post("tokens/", name="script")["id"], "invite": alice.post("invites/", role="member")["id"],
    }  # fmt: skip


def statuses(desk: Desk, address: str, ids: dict[str, str]) -> dict[str, tuple[int, str]]:
    """(status, body) of each method on an address."""
    path = "/api/v1/" + filled(address, ids)
    answers = {method: getattr(desk.http, method)(path, BODIES, format="json") for method in METHODS if method != "get"}
    answers["get"] = desk.http.get(path)
    return {method: (answer.status_code, answer.content.decode()) for method, answer in answers.items()}


def absent_ids(owned: dict[str, str]) -> dict[str, str]:
    return {name: f"thread:{ID}" if name == "stream" else ID for name in owned}


def test_somebody_from_another_office_learns_nothing_anywhere(cast: Cast, owned: dict[str, str]) -> None:
    charlie = Desk(cast.charlie)
    for address in WITH_ID:
        theirs, nothing = statuses(charlie, address, owned), statuses(charlie, address, absent_ids(owned))
        assert theirs == nothing, address
        assert not any(status < 400 for status, _ in theirs.values()), address


ALICES_OWN = ("channel", "thread", "message", "mission", "run", "call", "stream", "token")


def test_a_colleague_learns_nothing_of_a_dm(cast: Cast, owned: dict[str, str]) -> None:
    bob = Desk(cast.bob)
    for address in WITH_ID:
        if any(f"<str:{name}>" in address for name in ALICES_OWN):
            theirs, nothing = statuses(bob, address, owned), statuses(bob, address, absent_ids(owned))
            assert theirs == nothing, address
            assert {status for status, _ in theirs.values()} <= {404, 405}, address


def test_the_table_covers_every_kind_of_id(owned: dict[str, str]) -> None:
    named = {part.partition(">")[0] for address in WITH_ID for part in address.split("<str:")[1:]}
    assert named <= set(owned)


@pytest.mark.parametrize("address", ALL)
def test_nothing_is_open_without_a_sign_in(address: str, transactional_db: None) -> None:
    path = "/api/v1/" + filled(address, {name: ID for name in ("channel", "thread")}).replace("^(?P<rest>.*)$", "no")
    answer = APIClient().get(path)
    assert answer.status_code == 401
    assert b"not_signed_in" in answer.content


def test_nul_in_an_address_is_absent_and_no_fault(cast: Cast) -> None:
    alice = Desk(cast.alice)
    for path in ("threads/a%00b/", "messages/%00/", "streams/thread:%00/events/", "coworkers/%00/", "runs/%00/"):
        assert alice.refused("get", path, 404) == "not_found"


def test_nul_in_a_query_finds_nothing(cast: Cast) -> None:
    alice = Desk(cast.alice)
    assert alice.http.get("/api/v1/missions/?thread=%00").status_code in (200, 404)


def guest_of(cast: Cast) -> Desk:
    """A guest who has been let into a channel of their own."""
    with transaction.atomic():
        guest = create_person(name="Gus", email="gus@example.com", password="a long sentence", language="en")
        seat(cast.office, guest, "guest")
    Desk(cast.alice).post("channels/", name="Guests", people=[guest.pk], coworkers=[cast.lead.pk])
    return Desk(guest)


def test_a_guest_sees_only_the_channels_people_and_coworkers_of_their_channels(cast: Cast) -> None:
    guest = guest_of(cast)
    sidebar = guest.get("sidebar/")
    assert [channel["name"] for channel in sidebar["channels"]] == ["Guests"]
    assert {person["name"] for person in sidebar["people"]} == {"Alice", "Gus"}
    assert [coworker["id"] for coworker in sidebar["coworkers"]] == [cast.lead.pk]
    assert {person["name"] for person in guest.get("members/")["members"]} == {"Alice", "Gus"}
    assert [coworker["id"] for coworker in guest.get("coworkers/")["coworkers"]] == [cast.lead.pk]
    assert guest.refused("get", f"coworkers/{cast.staff[1].pk}/", 404) == "not_found"


@pytest.mark.parametrize(
    ("path", "body"), [("channels/", {"name": "Mine"}), ("coworkers/{lead}/dm/", {}), ("invites/", {"role": "guest"})]
)
def test_a_guest_opens_nothing(path: str, body: dict, cast: Cast) -> None:
    guest = guest_of(cast)
    assert guest.refused("post", path.format(lead=cast.lead.pk), 403, body) == "role_too_low"


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("get", "providers/"), ("post", "providers/"), ("patch", "providers/{provider}/"),
        ("delete", "providers/{provider}/"), ("post", "providers/{provider}/test/"), ("get", "providers/found/"),
        ("post", "providers/{provider}/give-to-all/"), ("post", "coworkers/"), ("patch", "coworkers/{lead}/"),
        ("post", "coworkers/{lead}/retire/"), ("get", "invites/"), ("post", "invites/"), ("patch", "members/{bob}/"),
        ("delete", "members/{alice}/"), ("patch", "office/"), ("get", "audit/"),
    ],
)  # fmt: skip
def test_a_member_does_not_run_the_office(method: str, path: str, cast: Cast) -> None:
    ids = {"lead": cast.lead.pk, "provider": cast.lead.provider_id, "bob": cast.bob.pk, "alice": cast.alice.pk}
    body = {"name": "X", "provider": ID, "base_url": "https://example.com/v1", "role": "member", "model": ""}
    code = Desk(cast.bob).refused(method, path.format(**ids), 403, None if method in ("get", "delete") else body)
    assert code == "role_too_low"


def test_an_admin_runs_the_office(cast: Cast) -> None:
    Desk(cast.alice).patch(f"members/{cast.bob.pk}/", role="admin")
    bob = Desk(cast.bob)
    bob.post("providers/", 201, name="X", base_url="https://example.com/v1")
    bob.post("invites/", 201, role="guest")


def test_a_channel_is_closed_to_members_it_does_not_hold(cast: Cast) -> None:
    channel = Desk(cast.alice).post("channels/", name="Two of us")
    bob = Desk(cast.bob)
    assert bob.refused("get", f"threads/{channel['thread']}/", 404) == "not_found"
    assert channel["id"] not in str(bob.get("sidebar/"))


def test_who_joins_later_is_not_in_the_channels_that_people_opened(cast: Cast) -> None:
    Desk(cast.alice).post("channels/", name="Two of us", people=[cast.bob.pk])
    dora = Desk(extra_person(cast, "Dora"))
    assert [channel["id"] for channel in dora.get("sidebar/")["channels"]] == [cast.project.pk]


def test_somebody_taken_out_of_a_channel_can_read_and_write_there_no_more(cast: Cast) -> None:
    alice, bob = Desk(cast.alice), Desk(cast.bob)
    thread = bob.enter(cast.project.pk)
    alice.ask("delete", f"channels/{cast.project.pk}/members/", body={"person": cast.bob.pk})
    assert bob.refused("get", f"threads/{thread}/", 404) == "not_found"
    body = {"client_msg_id": new_uuid(), "text": "still here?"}
    assert bob.refused("post", f"threads/{thread}/messages/", 404, body) == "not_found"


def test_an_archived_channel_can_be_read_and_not_written_to(cast: Cast) -> None:
    alice = Desk(cast.alice)
    thread = alice.enter(cast.project.pk)
    alice.say(thread, "last words")
    alice.delete(f"channels/{cast.project.pk}/")
    assert alice.texts(thread) == ["last words"]
    body = {"client_msg_id": new_uuid(), "text": "one more"}
    assert alice.refused("post", f"threads/{thread}/messages/", 409, body) == "archived"
    work_off()
