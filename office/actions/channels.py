"""Opening channels and letting people and coworkers in and out."""

from collections.abc import Callable, Collection

from django.db import transaction
from django.utils import timezone

from office.access import channel_for, check_not_guest, coworker_for, member_for
from office.actions.audit import audit
from office.errors import Refused, absent
from office.events import channel_body, person_stream
from office.live import announce, log
from office.models import Channel, ChannelKind, ChannelMember, Coworker, Membership, Person
from office.naming import check_name


@transaction.atomic(durable=True)
def open_dm(actor: Person, *, coworker: str) -> Channel:
    """The actor's DM with a coworker, made if need be; two openings at once give one channel."""
    stream = log.lock(person_stream(actor.pk))
    office = check_not_guest(actor).office
    found = coworker_for(actor, coworker)
    channel, made = Channel.objects.get_or_create(
        kind=ChannelKind.DM, person=actor, coworker=found, defaults={"office": office}
    )
    if made:
        log.append(stream, "channel.opened", {"channel": channel_body(channel)})
    return channel


@transaction.atomic(durable=True)
def open_channel(actor: Person, *, name: str, people: Collection[str] = (), coworkers: Collection[str] = ()) -> Channel:
    """A project channel with the actor, the people and the coworkers named."""
    office = check_not_guest(actor).office
    wanted = {actor.pk, *people}
    seats = Membership.objects.filter(office=office, person__in=wanted, person__is_active=True)
    staff = Coworker.objects.filter(office=office, retired=None, pk__in=set(coworkers))
    guests = [seat.person for seat in seats.select_related("person").order_by("person")]
    if len(guests) != len(wanted) or len(staff) != len(set(coworkers)):
        raise absent()
    channel = Channel.objects.create(office=office, kind=ChannelKind.PROJECT, name=check_name(name))
    for person in guests:  # always in the same order, so that two openings never wait for each other
        seat_person(channel, person)
    ChannelMember.objects.bulk_create([ChannelMember(channel=channel, coworker=coworker) for coworker in staff])
    audit(office, actor, "channel.opened", channel.pk)
    return channel


def seat_person(channel: Channel, person: Person) -> None:
    """Adds a person and tells that person alone: others learn of a closed channel by nothing, not even by timing."""
    stream = log.lock(person_stream(person.pk))
    _, made = ChannelMember.objects.get_or_create(channel=channel, person=person)
    if made:
        log.append(stream, "channel.opened", {"channel": channel_body(channel)})


@transaction.atomic(durable=True)
def add_member(actor: Person, *, channel: str, person: str | None = None, coworker: str | None = None) -> Channel:
    """Lets a person or a coworker into a project channel; twice is once."""
    found = project_channel_for(actor, channel)
    if not person and not coworker:
        raise Refused("bad_input", status=400, reason="person | coworker")
    if person:
        seat_person(found, member_for(actor, person).person)
    if coworker:
        hired = coworker_for(actor, coworker)
        if hired.retired:
            raise Refused("coworker_retired", status=409, field="coworker", name=hired.name)
        ChannelMember.objects.get_or_create(channel=found, coworker=hired)
    audit(found.office, actor, "channel.member_added", found.pk, person=person, coworker=coworker)
    return found


@transaction.atomic(durable=True)
def remove_from_channel(actor: Person, *, channel: str, person: str | None = None, coworker: str | None = None) -> None:
    """Takes somebody out; a person's sockets stop hearing the channel at once. The streams to leave are told after."""
    found = project_channel_for(actor, channel)
    if bool(person) == bool(coworker):
        raise Refused("bad_input", status=400, reason="person | coworker")
    gone, _ = ChannelMember.objects.filter(channel=found, person=person, coworker=coworker).delete()
    if gone and person:
        stream = log.lock(person_stream(person))
        log.append(stream, "channel.dropped", {"channel": found.pk})
        for name in streams_of(found):
            announce.drop(name, person)
    audit(found.office, actor, "channel.member_removed", found.pk, person=person, coworker=coworker)


@transaction.atomic(durable=True)
def archive_channel(actor: Person, *, channel: str) -> Channel:
    """Closed for writing, open for reading."""
    found = project_channel_for(actor, channel)
    found.archived = found.archived or timezone.now()
    found.save(update_fields=["archived"])
    tell_members(found)
    audit(found.office, actor, "channel.archived", found.pk)
    return found


def tell_members(channel: Channel) -> None:
    """The channel as it is now, to each person in it and to nobody else."""
    seats = channel.members.exclude(person=None).order_by("person")  # one order, so that two never wait for each other
    for person in seats.values_list("person_id", flat=True):
        stream = log.lock(person_stream(person))
        log.append(stream, "channel.changed", {"channel": channel_body(channel)})


def project_channel_for(actor: Person, channel: str) -> Channel:
    """A project channel the actor may change the members of."""
    check_not_guest(actor)
    found = channel_for(actor, channel)
    if found.kind != ChannelKind.PROJECT:
        raise Refused("members_fixed", status=409)
    return found


# Threads live to the right of this package, so they say which streams belong to a channel: (channel id) -> names.
STREAM_SOURCES: list[Callable[[str], list[str]]] = []


def streams_of(channel: Channel) -> list[str]:
    """Every stream that only members of the channel may follow."""
    return [name for source in STREAM_SOURCES for name in source(channel.pk)]
