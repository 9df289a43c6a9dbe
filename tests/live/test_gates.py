"""The gates of streams asked for everybody at once: the same answers as one by one, in as many queries for all."""

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from office.actions.people import change_role
from office.events import office_stream, person_stream
from office.live import beat, streams
from office.live.models import Stream
from office.models import Membership, Person
from tests.cast import Cast, extra_person, sit
from tests.desk import Desk


@pytest.fixture
def guest(cast: Cast) -> Person:
    """Somebody who was let into one channel, and may know nothing else."""
    with transaction.atomic():
        person = sit("Gus", cast.office, "guest")
    Desk(cast.alice).post("channels/", name="Guests", people=[person.pk], coworkers=[cast.lead.pk])
    return person


def everything_said(cast: Cast, *people: Person) -> set[tuple[str, str]]:
    """Every person with every stream there is, and with some that are not."""
    for person in (cast.alice, cast.bob, cast.charlie):
        desk = Desk(person)
        staff = desk.get("coworkers/")["coworkers"]
        if staff:
            desk.dm(staff[0]["id"])
        desk.get("sidebar/")
    named = set(Stream.objects.values_list("name", flat=True)) | {"thread:none", "office:none", "thread:", "x:y", "x"}
    return {(person.pk, stream) for person in (cast.alice, cast.bob, cast.charlie, *people) for stream in named}


def test_asked_together_the_gates_answer_as_one_by_one(cast: Cast, guest: Person) -> None:
    gone = extra_person(cast, "Gone")
    left = extra_person(cast, "Left")
    Person.objects.filter(pk=gone.pk).update(is_active=False)
    Membership.objects.filter(person=left).delete()
    pairs = everything_said(cast, guest, gone, left)
    singly = {pair for pair in pairs if streams.may_follow(*pair)}
    assert streams.those_who_may(pairs) == singly
    assert 0 < len(singly) < len(pairs)


def queries_of_a_beat(pairs: set[tuple[str, str]]) -> int:
    people = {person for person, _ in pairs}
    with CaptureQueriesContext(connection) as asked:
        beat.still_valid({"none"}, people, pairs)
    return len(asked)


def test_a_beat_asks_as_often_for_many_sockets_as_for_one(cast: Cast) -> None:
    pairs = everything_said(cast)
    thread = next(pair for pair in pairs if pair[1].startswith("thread:") and streams.may_follow(*pair))
    few = {thread, (thread[0], person_stream(thread[0])), (thread[0], office_stream(cast.office))}
    crowd = [extra_person(cast, f"Person{number}") for number in range(12)]
    many = pairs | everything_said(cast, *crowd)
    assert len(many) > 20 * len(few)
    assert queries_of_a_beat(many) == queries_of_a_beat(few) <= 8


def test_a_guest_is_told_nothing_of_the_whole_office(cast: Cast, guest: Person, tab) -> None:
    everybody = office_stream(cast.office)
    desk = Desk(guest)
    assert desk.get("sidebar/")["stream"] is None
    assert desk.get("sidebar/")["me_stream"]["name"] == person_stream(guest.pk)
    assert desk.refused("get", f"streams/{everybody}/events/", 404) == "not_found"
    socket = tab(guest)
    assert socket.subscribe(everybody) == {"type": "error", "code": "not_found", "ref": everybody}
    assert socket.subscribe(person_stream(guest.pk))["type"] == "subscribed"


def test_who_becomes_a_guest_stops_hearing_the_whole_office(cast: Cast, tab) -> None:
    everybody = office_stream(cast.office)
    bob = tab(cast.bob)
    assert bob.subscribe(everybody)["type"] == "subscribed"
    change_role(cast.alice, person=cast.bob.pk, role="guest")
    bob.wait_frame(lambda frame: frame == {"type": "dropped", "stream": everybody})
