"""The rules every address keeps: one shape of errors, who may ask, and bodies that try to hurt."""

import json

import pytest
from django.core.management import call_command
from rest_framework.test import APIClient

from office.models import Membership, Person
from office.web.security import POLICY
from tests.cast import Cast
from tests.desk import Desk, new_uuid

POSTS = ["threads/{thread}/messages/", "channels/", "providers/", "coworkers/", "invites/", "tokens/"]
DEEP = b"[" * 20_000 + b"]" * 20_000
BROKEN = {
    "cut": (b'{"text": "a', "not_json"),
    "deep": (DEEP, "not_json"),
    "deep inside": (b'{"text": ' + DEEP + b"}", "not_json"),
    "not utf-8": (b'{"text": "\xff\xfe"}', "not_json"),
    "not a number": (b'{"text": NaN}', "not_json"),
    "a list": (b"[1, 2]", "bad_input"),
    "a word": (b'"hello"', "bad_input"),
    "nothing": (b"{}", "bad_input"),
}


@pytest.fixture
def alice(cast: Cast) -> Desk:
    return Desk(cast.alice)


def raw(desk: Desk, path: str, body: bytes, kind: str = "application/json") -> tuple[int, dict]:
    answer = desk.http.generic("POST", "/api/v1/" + path, body, content_type=kind)
    return answer.status_code, json.loads(answer.content)["error"]


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_body_is_refused_in_the_one_shape(case: str, cast: Cast, alice: Desk) -> None:
    body, code = BROKEN[case]
    thread = alice.dm(cast.lead.pk)
    for path in POSTS:
        status, error = raw(alice, path.format(thread=thread), body)
        assert (status, error["code"]) == (400, code), path
        assert set(error) == {"code", "message", "field", "detail"}


@pytest.mark.parametrize("number", [b"1e400", b"9" * 300, b"-1", b'"x"', b"true", b"null"])
def test_a_number_that_is_none_is_refused(number: bytes, cast: Cast, alice: Desk) -> None:
    thread = alice.dm(cast.lead.pk)
    status, error = raw(
        alice, f"channels/{alice.snapshot(thread)['thread']['channel']}/read/", b'{"number": %s}' % number
    )
    assert status == 400 or number == b"true"
    assert status == 200 or error["field"] == "number"


def test_a_body_beyond_the_limit_is_too_large(cast: Cast, alice: Desk) -> None:
    thread = alice.dm(cast.lead.pk)
    body = json.dumps({"client_msg_id": new_uuid(), "text": "a" * 3_000_000}).encode()
    status, error = raw(alice, f"threads/{thread}/messages/", body)
    assert (status, error["code"]) == (413, "too_large")


def test_a_form_where_json_is_wanted_is_refused(alice: Desk) -> None:
    status, error = raw(alice, "channels/", b"name=x", "application/x-www-form-urlencoded")
    assert (status, error["code"]) == (415, "bad_input")


@pytest.mark.parametrize("method", ["get", "post", "patch", "put", "delete"])
def test_an_unknown_address_answers_in_the_same_shape(method: str, alice: Desk) -> None:
    assert alice.refused(method, "no/such/thing/", 404) == "not_found"


def test_a_method_an_address_does_not_take_is_named(alice: Desk) -> None:
    assert alice.refused("put", "office/", 405, {}) == "method_not_allowed"


@pytest.mark.parametrize(
    ("language", "sentence"), [("ja", "見つかりませんでした。"), ("en", "There is nothing here by that name.")]
)
def test_errors_speak_the_persons_language(language: str, sentence: str, cast: Cast) -> None:
    Person.objects.filter(pk=cast.alice.pk).update(language=language)
    assert Desk(Person.objects.get(pk=cast.alice.pk)).get("threads/x/", 404)["error"]["message"] == sentence


def test_before_the_sign_in_errors_speak_the_browsers_language(transactional_db: None) -> None:
    answer = APIClient().get("/api/v1/office/", headers={"accept-language": "ja-JP,ja;q=0.9"})
    assert answer.json()["error"]["message"] == "サインインが必要です。"


def test_a_session_that_has_ended_is_a_401_that_says_so(alice: Desk) -> None:
    alice.http.session.flush()
    assert alice.refused("get", "sidebar/", 401) == "not_signed_in"


def test_a_removed_member_is_signed_out_at_once_and_their_tokens_end(cast: Cast, alice: Desk) -> None:
    bob = Desk(cast.bob)
    token = bob.post("tokens/", name="script")["token"]
    alice.delete(f"members/{cast.bob.pk}/", 204)
    assert bob.refused("get", "sidebar/", 401) == "not_signed_in"
    assert APIClient(headers={"authorization": f"Bearer {token}"}).get("/api/v1/office/").status_code == 401


def test_a_cookie_without_the_csrf_token_cannot_write(cast: Cast) -> None:
    http = APIClient(enforce_csrf_checks=True)
    http.login(username=cast.alice.email, password="a long enough sentence")
    answer = http.post("/api/v1/channels/", {"name": "X"}, format="json")
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "csrf")


def test_a_bearer_token_writes_without_csrf(cast: Cast, alice: Desk) -> None:
    token = alice.post("tokens/", 201, name="script")["token"]
    http = APIClient(enforce_csrf_checks=True, headers={"authorization": f"Bearer {token}"})
    assert http.post("/api/v1/channels/", {"name": "X"}, format="json").status_code == 201


def test_a_token_is_shown_once_and_stored_as_a_hash(cast: Cast, alice: Desk) -> None:
    token = alice.post("tokens/", 201, name="script")["token"]
    listed = alice.get("tokens/")["tokens"]
    assert token not in json.dumps(listed)
    assert token not in str(list(cast.alice.tokens.values()))


def test_a_dropped_token_is_out_at_once(alice: Desk) -> None:
    made = alice.post("tokens/", 201, name="script")
    alice.delete(f"tokens/{made['id']}/", 204)
    assert APIClient(headers={"authorization": f"Bearer {made['token']}"}).get("/api/v1/office/").status_code == 401


def test_privileged_fields_in_ones_own_sheet_change_nothing(cast: Cast) -> None:
    bob = Desk(cast.bob)
    bob.patch("me/", role="owner", is_active=False, is_staff=True, id="x", email="x@example.com", office="y")
    person = Person.objects.get(pk=cast.bob.pk)
    assert (person.is_active, person.email) == (True, cast.bob.email)
    assert Membership.objects.get(person=person).role == "member"


def test_a_message_cannot_be_given_another_author_or_time(cast: Cast) -> None:
    bob = Desk(cast.bob)
    thread = bob.enter(cast.project.pk)
    posted = bob.say(
        thread, "mine", author=cast.alice.pk, person=cast.alice.pk, created="2001-01-01T00:00:00Z", number=9
    )
    message = posted["message"]
    assert (message["author"]["id"], message["number"]) == (cast.bob.pk, 1)
    assert not message["created"].startswith("2001")


def test_an_empty_change_changes_nothing(cast: Cast, alice: Desk) -> None:
    before = alice.get(f"coworkers/{cast.lead.pk}/")
    after = alice.patch(f"coworkers/{cast.lead.pk}/")
    assert {**after, "version": 0} == {**before, "version": 0}


def test_the_schema_is_complete_and_without_a_warning(transactional_db: None, tmp_path) -> None:
    call_command("spectacular", "--validate", "--fail-on-warn", "--file", str(tmp_path / "schema.yaml"))


def test_the_page_of_the_api_lists_every_operation_under_the_strict_policy(cast: Cast, alice: Desk) -> None:
    answer = alice.http.get("/api/v1/docs/", HTTP_ACCEPT="text/html,*/*;q=0.8")
    page = answer.content.decode()
    assert answer.status_code == 200
    assert answer.headers["Content-Security-Policy"] == POLICY
    assert "<script" not in page
    assert "style=" not in page
    described = alice.http.get("/api/v1/schema/?format=json").json()
    assert described["paths"]
    assert [path for path in described["paths"] if f"<code>{path}</code>" not in page] == []
    assert "<code>client_msg_id</code>" in page


@pytest.mark.parametrize("address", ["schema/", "docs/"])
def test_strangers_get_the_schema_and_its_page_refused_in_the_usual_shape(address: str, cast: Cast) -> None:
    answer = Desk(None).http.get(f"/api/v1/{address}")
    assert (answer.status_code, answer.headers["Content-Type"]) == (401, "application/json")
    assert answer.json()["error"]["code"] == "not_signed_in"


@pytest.mark.parametrize("value", ["-1", "x", "1e3", "９", "9" * 30])
def test_a_query_number_that_is_none_is_refused(value: str, cast: Cast, alice: Desk) -> None:
    thread = alice.dm(cast.lead.pk)
    assert alice.refused("get", f"threads/{thread}/messages/?before={value}", 400) == "bad_input"


def test_the_largest_number_finds_everything_and_no_fault(cast: Cast, alice: Desk) -> None:
    thread = alice.dm(cast.lead.pk)
    alice.say(thread, "one")
    assert len(alice.get(f"threads/{thread}/messages/?before={'9' * 18}")["messages"]) == 1
    assert alice.get(f"threads/{thread}/messages/?after={'9' * 18}")["messages"] == []
