"""The staff: hired, changed, retired, and never two that people could take for one another."""

import json
from typing import Any

import pytest

from tests.cast import Cast
from tests.desk import Desk


@pytest.fixture
def alice(cast: Cast) -> Desk:
    return Desk(cast.alice)


def hire(desk: Desk, cast: Cast, name: str, status: int = 201, **more: Any) -> dict:
    return desk.post("coworkers/", status, name=name, provider=cast.lead.provider_id, **more)


LOOKALIKES = [
    ("ＡＢＣ", "abc"),
    ("がいぶ", "か\u3099いぶ"),
    ("Straße", "STRASSE"),
    ("ﾃｽﾄ", "テスト"),
    ("Zenobia", "zenobia"),
]


@pytest.mark.parametrize(("one", "other"), LOOKALIKES)
def test_two_coworkers_cannot_have_names_that_look_alike(one: str, other: str, cast: Cast, alice: Desk) -> None:
    hire(alice, cast, one)
    error = hire(alice, cast, other, 409)["error"]
    assert (error["code"], error["field"]) == ("name_taken", "name")


def test_a_coworker_cannot_be_renamed_into_another(cast: Cast, alice: Desk) -> None:
    hire(alice, cast, "Nova")
    other = hire(alice, cast, "Vega")
    assert alice.refused("patch", f"coworkers/{other['id']}/", 409, {"name": "ＮＯＶＡ"}) == "name_taken"


def test_a_coworker_can_be_renamed_into_another_spelling_of_its_own(cast: Cast, alice: Desk) -> None:
    made = hire(alice, cast, "Nova")
    assert alice.patch(f"coworkers/{made['id']}/", name="NOVA")["name"] == "NOVA"


def test_the_name_of_somebody_retired_is_free_again(cast: Cast, alice: Desk) -> None:
    made = hire(alice, cast, "Nova")
    alice.post(f"coworkers/{made['id']}/retire/")
    assert hire(alice, cast, "nova")["id"] != made["id"]


def test_the_first_staff_keeps_its_names_to_itself(cast: Cast, alice: Desk) -> None:
    assert hire(alice, cast, cast.lead.name.upper(), 409)["error"]["code"] == "name_taken"


@pytest.mark.parametrize("name", ["\u3164", "\u2800", "\u200b", "  ", "a\u202eb", "admin\u200b"])
def test_an_invisible_or_disguised_name_is_refused(name: str, cast: Cast, alice: Desk) -> None:
    body = {"name": name, "provider": cast.lead.provider_id}
    assert alice.http.post("/api/v1/coworkers/", body, format="json").status_code in (400, 422)


def test_an_outdated_change_is_a_conflict_that_names_the_version(cast: Cast, alice: Desk) -> None:
    alice.patch(f"coworkers/{cast.lead.pk}/", title="Chief", version=1)
    error = alice.patch(f"coworkers/{cast.lead.pk}/", 409, title="Boss", version=1)["error"]
    assert (error["code"], error["detail"]["version"]) == ("outdated", 2)


@pytest.mark.parametrize("persona", ["a\x00b", "half \ud83d", "x" * 9000])
def test_a_persona_that_cannot_be_stored_is_refused(persona: str, cast: Cast, alice: Desk) -> None:
    answer = alice.http.generic(
        "PATCH",
        f"/api/v1/coworkers/{cast.lead.pk}/",
        data=encoded({"persona": persona}),
        content_type="application/json",
    )
    assert answer.status_code in (400, 422)


def encoded(body: dict) -> bytes:
    return json.dumps(body).encode()


def test_an_endpoint_of_another_office_cannot_be_given(cast: Cast, alice: Desk) -> None:
    theirs = Desk(cast.charlie).post("providers/", 201, name="Theirs", base_url="https://example.com/v1")
    assert alice.refused("patch", f"coworkers/{cast.lead.pk}/", 404, {"provider": theirs["id"]}) == "not_found"


def test_a_post_to_somebody_retired_is_refused_with_their_name(cast: Cast, alice: Desk) -> None:
    thread = alice.dm(cast.lead.pk)
    alice.post(f"coworkers/{cast.lead.pk}/retire/")
    body = {"client_msg_id": "0" * 32, "text": "are you there?"}
    error = alice.post(f"threads/{thread}/messages/", 409, **body)["error"]
    assert (error["code"], error["detail"]["name"]) == ("coworker_retired", cast.lead.name)
