"""Model endpoints through the API: hostile addresses, sealed keys, plain words, and what a start adopts."""

import json

import pytest

from office.actions.endpoints import adopt_environment, adopt_local, let_go_local
from office.actions.staff import change_coworker
from office.events import coworker_body, office_stream
from office.live.models import Event
from office.models import Coworker, Provider
from office.words import say
from tests.cast import Cast
from tests.desk import Desk
from tests.fakes import ModelServer as Scripted

KEY = "sk-live-abcdefghijklmnop"
HOSTILE = [
    "http://169.254.169.254/latest", "http://[fd00:ec2::254]/v1", "http://127.0.0.1:9/v1", "http://10.0.0.5/v1",
    "http://localhost:5432/v1", "http://0.0.0.0:8000/v1", "http://2130706433/v1", "http://[::ffff:127.0.0.1]/v1",
    "file:///etc/passwd", "ftp://example.com/v1", "https://user:pass@example.com/v1", "https://example.com/v1?key=x",
    "javascript:alert(1)", "https://", "example.com/v1", "http://a b/v1",
]  # fmt: skip


@pytest.fixture
def alice(cast: Cast) -> Desk:
    return Desk(cast.alice)


@pytest.fixture
def scripted(settings) -> Scripted:
    with Scripted(models=["small", "large"]) as server:
        settings.OFFICE_PRIVATE_ENDPOINTS = [server.origin.removeprefix("http://")]
        yield server


def added(desk: Desk, base_url: str = "https://api.example.com/v1", key: str = KEY) -> dict:
    return desk.post("providers/", 201, name="Mine", base_url=base_url, key=key)


@pytest.mark.parametrize("url", HOSTILE)
def test_an_address_that_points_where_it_must_not_is_refused_in_words(url: str, alice: Desk) -> None:
    error = alice.post("providers/", 422, name="X", base_url=url)["error"]
    assert error["field"] == "base_url"
    assert not error["message"].startswith("errors.")


@pytest.mark.parametrize("url", HOSTILE[:3])
def test_an_endpoint_cannot_be_moved_to_such_an_address_either(url: str, alice: Desk) -> None:
    provider = added(alice)
    alice.patch(f"providers/{provider['id']}/", 422, base_url=url)
    assert alice.get("providers/")["providers"][-1]["base_url"] == "https://api.example.com/v1"


@pytest.mark.parametrize("port", [11434, 1234, 8080])
def test_the_usual_model_servers_of_this_machine_can_be_added(port: int, alice: Desk) -> None:
    assert added(alice, f"http://127.0.0.1:{port}/v1", "")["has_key"] is False


def test_the_key_is_sealed_and_only_its_end_is_shown(alice: Desk) -> None:
    provider = added(alice)
    row = Provider.objects.values().get(pk=provider["id"])
    assert KEY not in str(row)
    assert (provider["has_key"], provider["key_last4"]) == (True, "mnop")
    assert KEY not in json.dumps([provider, alice.get("providers/"), alice.get("audit/")])


def test_another_base_url_drops_the_key(alice: Desk) -> None:
    provider = added(alice)
    changed = alice.patch(f"providers/{provider['id']}/", base_url="https://elsewhere.example.com/v1")
    assert (changed["has_key"], changed["key_last4"]) == (False, "")


def test_the_same_base_url_in_other_spelling_keeps_the_key(alice: Desk) -> None:
    provider = added(alice)
    assert alice.patch(f"providers/{provider['id']}/", base_url="https://API.example.com:443/v1/")["has_key"]


def test_a_change_of_the_name_keeps_the_key(alice: Desk) -> None:
    assert alice.patch(f"providers/{added(alice)['id']}/", name="Other")["has_key"]


def test_an_endpoint_in_use_cannot_be_taken_out(alice: Desk, cast: Cast) -> None:
    provider = added(alice)
    alice.patch(f"coworkers/{cast.lead.pk}/", provider=provider["id"])
    error = alice.ask("delete", f"providers/{provider['id']}/", 409)["error"]
    assert cast.lead.name in error["message"]


def test_an_endpoint_taken_out_forgets_its_key_and_is_gone(alice: Desk) -> None:
    provider = added(alice)
    alice.delete(f"providers/{provider['id']}/", 204)
    assert Provider.objects.get(pk=provider["id"]).sealed_key == ""
    assert alice.refused("patch", f"providers/{provider['id']}/", 404, {"name": "x"}) == "not_found"


def test_the_rehearsal_cannot_be_changed(alice: Desk, cast: Cast) -> None:
    assert alice.refused("patch", f"providers/{cast.lead.provider_id}/", 409, {"name": "x"}) == "provider_fixed"


def test_the_test_says_that_it_answers_and_with_which_models(alice: Desk, scripted: Scripted) -> None:
    verdict = alice.post(f"providers/{added(alice, scripted.base_url)['id']}/test/")
    assert (verdict["ok"], verdict["models"]) == (True, ["small", "large"])
    assert "2 models" in verdict["message"]
    assert alice.get("providers/")["providers"][-1]["default_model"] == "small"


def test_the_test_of_a_dead_address_says_what_to_look_at(alice: Desk, scripted: Scripted, settings) -> None:
    settings.OFFICE_PRIVATE_ENDPOINTS = ["127.0.0.1:9"]
    verdict = alice.post(f"providers/{added(alice, 'http://127.0.0.1:9/v1')['id']}/test/")
    assert (verdict["ok"], verdict["code"], verdict["message"]) == (
        False, "unreachable", say("errors.unreachable", "en")
    )  # fmt: skip


@pytest.mark.parametrize(
    "prices", [{"m": {"input": "free"}}, {"m": {"input": -1}}, {"m": {"wage": 1}}, {"m": {"input": True}}]
)
def test_prices_that_cannot_be_reckoned_with_are_refused(prices: dict, alice: Desk) -> None:
    provider = added(alice)
    assert alice.refused("patch", f"providers/{provider['id']}/", 422, {"prices": prices}) == "prices_malformed"


def test_prices_are_kept(alice: Desk) -> None:
    prices = {"m": {"input": 1.5, "output": 6, "currency": "USD"}}
    assert alice.patch(f"providers/{added(alice)['id']}/", prices=prices)["prices"] == prices


def test_one_click_gives_an_endpoint_to_all_who_rehearse(alice: Desk, cast: Cast) -> None:
    provider = added(alice)
    moved = alice.post(f"providers/{provider['id']}/give-to-all/", model="m")["coworkers"]
    assert {one["provider"] for one in moved} == {provider["id"]}
    assert len(moved) == len(cast.staff)


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", "https://models.example.com/v1")
    return monkeypatch


def endpoints_of(cast: Cast) -> set[str]:
    return set(Coworker.objects.filter(office=cast.office).values_list("provider__base_url", flat=True))


def test_a_start_with_a_key_in_the_environment_lets_all_who_rehearse_answer_by_it(cast: Cast, environment) -> None:
    adopt_environment(cast.office)
    assert endpoints_of(cast) == {"https://models.example.com/v1"}
    assert KEY not in str(list(Provider.objects.values()))


def test_a_second_start_makes_no_second_endpoint(cast: Cast, environment) -> None:
    assert adopt_environment(cast.office) == adopt_environment(cast.office)


def test_a_choice_that_somebody_made_stays(cast: Cast, alice: Desk, environment) -> None:
    provider = added(alice)
    change_coworker(cast.alice, coworker=cast.lead.pk, provider=provider["id"])
    adopt_environment(cast.office)
    assert Coworker.objects.get(pk=cast.lead.pk).provider_id == provider["id"]


def test_a_key_that_a_person_entered_for_the_same_address_stays(cast: Cast, alice: Desk, environment) -> None:
    provider = added(alice, "https://models.example.com/v1", "sk-mine-000000001111")
    adopt_environment(cast.office)
    assert Provider.objects.get(pk=provider["id"]).key_last4 == "1111"


def test_a_changed_key_in_the_environment_is_taken_over(cast: Cast, environment) -> None:
    adopt_environment(cast.office)
    environment.setenv("OPENAI_API_KEY", "sk-fresh-00000002222")
    assert adopt_environment(cast.office).key_last4 == "2222"  # type: ignore[union-attr]


def test_without_the_variables_on_a_later_start_the_stored_endpoint_stays(cast: Cast, environment) -> None:
    adopt_environment(cast.office)
    environment.delenv("OPENAI_API_KEY")
    environment.delenv("OPENAI_BASE_URL")
    assert adopt_environment(cast.office) is None
    assert endpoints_of(cast) == {"https://models.example.com/v1"}


def told_by(step) -> dict[str, dict]:
    """What events say of coworkers after a step: the last word on each."""
    before = Event.objects.count()
    step()
    events = Event.objects.order_by("pk")[before:]
    assert {event.type for event in events} <= {"coworker.changed"}
    return {event.payload["coworker"]["id"]: event.payload["coworker"] for event in events}


def now(cast: Cast) -> dict[str, dict]:
    rows = cast.office.coworkers.select_related("provider").all()
    return {coworker.pk: coworker_body(coworker) for coworker in rows}


def test_a_start_tells_which_coworkers_answer_otherwise_than_before(cast: Cast, monkeypatch) -> None:
    assert told_by(lambda: adopt_local(cast.office, "http://127.0.0.1:9999/v1")) == now(cast)
    assert told_by(lambda: adopt_local(cast.office, "http://127.0.0.1:9998/v1")) == {}
    assert told_by(lambda: let_go_local(cast.office)) == now(cast)
    assert told_by(lambda: let_go_local(cast.office)) == {}
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    assert told_by(lambda: adopt_environment(cast.office)) == now(cast)
    monkeypatch.setenv("OPENAI_MODEL", "another")
    assert told_by(lambda: adopt_environment(cast.office)) == now(cast)
    assert {one["model"] for one in now(cast).values()} == {"another"}


def test_a_model_that_a_test_brings_to_light_is_told(cast: Cast, alice: Desk, scripted: Scripted) -> None:
    provider = added(alice, scripted.base_url)
    Coworker.objects.filter(pk=cast.lead.pk).update(provider=provider["id"], model="")
    told = told_by(lambda: alice.post(f"providers/{provider['id']}/test/"))
    assert told == {cast.lead.pk: now(cast)[cast.lead.pk]}
    assert told[cast.lead.pk]["model"] == "small"
    assert Event.objects.last().stream_id == office_stream(cast.office)
