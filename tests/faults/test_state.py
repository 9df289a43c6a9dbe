"""For each action: what one knew before, with the events, is what the server says after."""

import uuid

import pytest

from office.live.models import Event
from tests.cast import extra_person
from tests.fakes import CUT, key_refused, story
from tests.faults import shapes
from tests.faults.mirror import Side, assert_same


@pytest.fixture
def dm(office, tab, sound_log):
    """Alice's view of a DM whose coworker answered once; compared with a fresh snapshot after the test."""
    alice = tab(office.alice)
    view = alice.watch(alice.dm(office.lead.pk)["thread"])
    alice.say(view.thread, "Hello")
    alice.wait(lambda: len(view.messages) == 2 and not view.state["missions"])
    yield view
    assert_same(view)


def settled(view) -> bool:
    return not view.state["missions"] and not [run for run in view.state["runs"].values() if run["state"] in LIVE]


LIVE = ("queued", "running")


def test_posting_and_an_answer(dm) -> None:
    dm.client.say(dm.thread, "And again")
    dm.client.wait(lambda: len(dm.messages) == 4 and settled(dm))
    assert_same(dm)


def test_every_moment_of_an_answer(dm, server, gate) -> None:
    server.queue(story("half", gate, " whole"))
    dm.client.say(dm.thread, "Slowly")
    dm.client.wait(lambda: dm.running_text() == "half")
    assert_same(dm)
    gate.set()
    dm.client.wait(lambda: len(dm.messages) == 4 and settled(dm))


def test_several_missions_queued_while_one_runs(dm, server, gate) -> None:
    server.queue(story("one", gate), story("two"), story("three"))
    for text in ("1", "2", "3"):
        dm.client.say(dm.thread, text)
    dm.client.wait(lambda: dm.running_text() == "one")
    assert_same(dm)
    gate.set()
    dm.client.wait(lambda: len(dm.messages) == 8 and settled(dm))
    assert dm.texts[2:] == ["1", "one", "2", "two", "3", "three"]


def test_editing_and_sending_again(dm) -> None:
    own = dm.messages[0]
    sheet = {"text": "Hello, better", "version": 1, "client_msg_id": str(uuid.uuid4())}
    assert dm.client.http.patch(f"messages/{own['id']}/", json=sheet).status_code == 200
    dm.client.wait(lambda: dm.messages[1]["version"] == 2 and settled(dm))
    assert [one["versions"] for one in dm.messages] == [2, 2]


def test_selecting_a_version(dm) -> None:
    answer = dm.messages[1]
    dm.client.post(f"messages/{answer['id']}/regenerate/", client_id=str(uuid.uuid4()))
    dm.client.wait(lambda: dm.messages[1]["version"] == 2 and settled(dm))
    assert_same(dm)
    dm.client.post(f"messages/{answer['id']}/select/")
    dm.client.wait(lambda: dm.messages[1]["id"] == answer["id"])


def test_retracting(dm) -> None:
    assert dm.client.http.delete(f"messages/{dm.messages[0]['id']}/").status_code == 200
    dm.client.wait(lambda: dm.messages[0]["state"] == "retracted")


def test_regenerating(dm, server, gate) -> None:
    server.queue(story("other", gate))
    dm.client.post(f"messages/{dm.messages[1]['id']}/regenerate/", client_id=str(uuid.uuid4()))
    dm.client.wait(lambda: dm.running_text() == "other")
    assert_same(dm)
    gate.set()
    dm.client.wait(lambda: dm.texts[1] == "other" and settled(dm))


@pytest.mark.parametrize("text", ["half an answer", ""], ids=["with text", "without"])
def test_stopping(dm, server, gate, text) -> None:
    server.queue(story(*([text] if text else []), gate, "never"))
    mission = dm.client.say(dm.thread, "Stop me")["mission"]["id"]
    server.wait_for(2)
    dm.client.wait(
        lambda: dm.running_text() == text and [r for r in dm.state["runs"].values() if r["state"] == LIVE[1]]
    )
    dm.client.post(f"missions/{mission}/stop/")
    dm.client.wait(lambda: settled(dm))
    assert_same(dm)
    assert dm.texts[2:] == ["Stop me", *([text] if text else [])]


def test_stopping_what_waits(dm, server, gate) -> None:
    server.queue(story("first", gate))
    dm.client.say(dm.thread, "1")
    waiting = dm.client.say(dm.thread, "2")["mission"]["id"]
    dm.client.post(f"missions/{waiting}/stop/")
    dm.client.wait(lambda: waiting not in dm.state["missions"])
    assert_same(dm)
    gate.set()
    dm.client.wait(lambda: settled(dm))


def test_failing_and_retrying(dm, server) -> None:
    server.queue(key_refused(), story("now it works"))
    mission = dm.client.say(dm.thread, "Try")["mission"]["id"]
    dm.client.wait(lambda: [run for run in dm.state["runs"].values() if run["state"] == "failed"])
    assert_same(dm)
    dm.client.post(f"missions/{mission}/retry/")
    dm.client.wait(lambda: dm.texts[-1] == "now it works" and settled(dm))


def test_a_stream_that_breaks_off_keeps_its_text_and_can_be_retried(dm, server) -> None:
    server.queue(story("part of it", CUT), story("all of it"))
    mission = dm.client.say(dm.thread, "Try")["mission"]["id"]
    dm.client.wait(lambda: len(dm.messages) == 4 and settled(dm))
    assert (dm.texts[3], dm.messages[3]["state"]) == ("part of it", "failed")
    assert_same(dm)
    dm.client.post(f"missions/{mission}/retry/")
    dm.client.wait(lambda: dm.texts[3] == "all of it" and settled(dm))
    assert dm.messages[3]["versions"] == 2


def test_several_coworkers_answer_one_message(office, tab, hall, server, sound_log) -> None:
    alice, bob = tab(office.alice), tab(office.bob)
    views = [alice.watch(hall), bob.watch(hall)]
    alice.say(hall, "All of you", to=[one.pk for one in office.staff[:3]])
    for view in views:
        view.client.wait(lambda view=view: len(view.messages) == 4 and settled(view))
        assert_same(view)


@pytest.fixture
def sides(office, tab, sound_log):
    """The sidebars of Alice and Bob; compared with fresh ones after the test."""
    both = [Side(tab(person)) for person in (office.alice, office.bob)]
    yield both
    for side in both:
        side.assert_same()


def test_hiring_changing_and_retiring(office, sides) -> None:
    alice = sides[0].client
    provider = office.lead.provider_id
    hired = alice.post("coworkers/", name="Nils", title="Cook", persona="You cook.", provider=provider)
    for side in sides:
        side.assert_same()
    changed = alice.http.patch(f"coworkers/{hired['id']}/", json={"title": "Baker", "version": hired["version"]})
    assert changed.status_code == 200
    alice.post(f"coworkers/{hired['id']}/retire/")


def test_renaming_a_coworker_renames_its_dm(office, sides) -> None:
    alice = sides[0].client
    alice.dm(office.lead.pk)
    sides[0].assert_same()
    assert alice.http.patch(f"coworkers/{office.lead.pk}/", json={"name": "Renamed"}).status_code == 200


def test_changing_what_a_provider_is_called_or_answers_by(office, sides) -> None:
    alice = sides[0].client
    provider = alice.get("coworkers/")["coworkers"][0]["provider"]
    answer = alice.http.patch(f"providers/{provider}/", json={"name": "Another", "default_model": "m2"})
    assert answer.status_code == 200
    sides[1].assert_same()


def test_opening_a_channel_and_letting_people_in_and_out(office, sides) -> None:
    alice = sides[0].client
    opened = alice.post("channels/", name="Launch", coworkers=[office.lead.pk])
    for side in sides:
        side.assert_same()
    alice.post(f"channels/{opened['id']}/members/", person=office.bob.pk)
    sides[1].assert_same()
    assert opened["id"] in sides[1].state["channels"]
    gone = alice.http.request("DELETE", f"channels/{opened['id']}/members/", json={"person": office.bob.pk})
    assert gone.status_code == 204


def test_archiving_a_channel(office, sides) -> None:
    assert sides[0].client.http.delete(f"channels/{office.project.pk}/").status_code == 204
    sides[1].assert_same()


def test_opening_a_dm(office, sides) -> None:
    sides[1].client.dm(office.staff[1].pk)


def test_reading(office, sides, hall) -> None:
    alice = sides[0].client
    alice.say(hall, "one")
    alice.post(f"channels/{office.project.pk}/read/", number=1)


def test_a_new_member_another_role_and_a_leave(office, sides) -> None:
    dora = extra_person(office, "Dora")
    for side in sides:
        side.assert_same()
    alice = sides[0].client
    assert alice.http.patch(f"members/{dora.pk}/", json={"role": "admin"}).status_code == 200
    for side in sides:
        side.assert_same()
    assert alice.http.delete(f"members/{dora.pk}/").status_code == 204


def test_changing_ones_name(office, sides) -> None:
    assert sides[1].client.http.patch("me/", json={"name": "Robert"}).status_code == 200
    sides[0].assert_same()


def test_an_event_nobody_declared_is_a_fault() -> None:
    assert "not declared" in str(shapes.fault_of(Event(stream_id="thread:x", seq=1, type="thread.danced", payload={})))


def test_a_key_too_many_or_too_few_is_a_fault() -> None:
    right = {"thread": "t", "channel": "c", "last_read_number": 1}
    one = lambda payload: shapes.fault_of(Event(stream_id="person:x", seq=1, type="read.moved", payload=payload))  # noqa: E731
    assert one(right) is None
    assert one({**right, "more": 1})
    assert one({"thread": "t"})
    assert one({**right, "last_read_number": "1"})


def test_applying_every_event_twice_changes_nothing(dm, server) -> None:
    server.queue(story("again"))
    dm.client.post(f"messages/{dm.messages[1]['id']}/regenerate/", client_id=str(uuid.uuid4()))
    dm.client.wait(lambda: dm.texts[1] == "again" and settled(dm))
    from tests.client import apply

    state = {"thread": dict(dm.state["thread"]), "messages": {}, "missions": {}, "runs": {}}
    for event in dm.client.get(f"streams/{dm.stream}/events/", limit=500)["events"]:
        apply(state, event["event"], event["payload"])
        apply(state, event["event"], event["payload"])
    assert state == dm.state
