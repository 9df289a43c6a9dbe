"""The only look-ups by id from outside. Each takes the actor first and answers the same for absent and not yours."""

from collections.abc import Callable
from typing import NamedTuple

from django.db.models import Q, QuerySet

from office.errors import Refused, absent
from office.models import Channel, ChannelKind, ChannelMember, Coworker, Membership, Office, Person, Provider, Role

OPEN_TO_MEMBERS = (ChannelKind.MASTER, ChannelKind.EVERYONE)  # all but guests are in them
RUNS_THE_OFFICE = (Role.OWNER, Role.ADMIN)
SEAT = "_seat_of_this_request"


def membership_for(actor: Person) -> Membership:
    """The actor's place in the office; raises `Refused("not_found")` for somebody who has none."""
    found: Membership | None = getattr(actor, SEAT, None)
    if found is None:
        found = Membership.objects.select_related("office", "person").filter(person=actor).first()
    if found is None or not actor.is_active:
        raise absent()
    return found


def seat_of_request(actor: Person) -> Membership | None:
    """The actor's membership, remembered on this object, which lives as long as one request."""
    found = Membership.objects.select_related("office").filter(person=actor).first() if actor.is_active else None
    if found is not None:
        found.person = actor
        setattr(actor, SEAT, found)
    return found


def office_for(actor: Person) -> Office:
    return membership_for(actor).office


def check_runs_office(actor: Person) -> Membership:
    """The actor's membership, if it is owner or admin; else `Refused("role_too_low")` (403)."""
    member = membership_for(actor)
    if member.role not in RUNS_THE_OFFICE:
        raise Refused("role_too_low", status=403)
    return member


def runs_office(actor: Person) -> bool:
    return membership_for(actor).role in RUNS_THE_OFFICE


def check_not_guest(actor: Person) -> Membership:
    """Guests see the channels they were let into and nothing else."""
    member = membership_for(actor)
    if member.role == Role.GUEST:
        raise Refused("role_too_low", status=403)
    return member


def channels_for(actor: Person) -> QuerySet[Channel]:
    """The channels the actor may read: own DMs, project channels joined, and for all but guests master and everyone."""
    member = membership_for(actor)
    visible = Q(kind=ChannelKind.DM, person=actor) | Q(members__person=actor)
    if member.role != Role.GUEST:
        visible |= Q(kind__in=OPEN_TO_MEMBERS)
    return Channel.objects.filter(visible, office=member.office).select_related("coworker", "office").distinct()


class Place(NamedTuple):
    """What decides about a channel: which one, its office and kind, and whose DM it is."""

    channel: str
    office: str
    kind: str
    owner: str | None


def place_may_be_read(person: str, office: str, role: str, place: Place, seated: Callable[[], bool]) -> bool:
    """The rule of `channels_for` on values at hand; `seated` says whether the person was let in, and is asked last."""
    if place.office != office:
        return False
    if place.kind == ChannelKind.DM and place.owner == person:
        return True
    if place.kind in OPEN_TO_MEMBERS and role != Role.GUEST:
        return True
    return seated()


def may_read(actor: Person, channel: Channel) -> bool:
    """The question of `channels_for` about a channel at hand; it costs a fraction of asking for all of them."""
    member = membership_for(actor)
    place = Place(channel.pk, channel.office_id, channel.kind, channel.person_id)
    seated = channel.members.filter(person=actor).exists
    return place_may_be_read(actor.pk, member.office_id, member.role, place, seated)


def channel_for(actor: Person, channel: str) -> Channel:
    found = channels_for(actor).filter(pk=channel).first()
    if found is None:
        raise absent()
    return found


def coworkers_for(actor: Person) -> QuerySet[Coworker]:
    """The staff as the actor may know it: a guest meets those of their own channels alone."""
    member = membership_for(actor)
    rows = Coworker.objects.select_related("provider").filter(office=member.office).order_by("created", "pk")
    if member.role != Role.GUEST:
        return rows
    mine = channels_for(actor).values("pk")
    seated = ChannelMember.objects.filter(channel__in=mine).exclude(coworker=None).values("coworker")
    return rows.filter(Q(pk__in=seated) | Q(dms__person=actor)).distinct()


def members_for(actor: Person) -> QuerySet[Membership]:
    """The people of the office as the actor may know them; a guest meets those of their own channels alone."""
    member = membership_for(actor)
    rows = Membership.objects.filter(office=member.office).select_related("person").order_by("created", "pk")
    if member.role != Role.GUEST:
        return rows
    seated = ChannelMember.objects.filter(channel__in=channels_for(actor).values("pk")).exclude(person=None)
    return rows.filter(Q(person__in=seated.values("person")) | Q(person=actor))


def coworker_for(actor: Person, coworker: str) -> Coworker:
    found = coworkers_for(actor).filter(pk=coworker).first()
    if found is None:
        raise absent()
    return found


def provider_for(actor: Person, provider: str) -> Provider:
    """A model endpoint, for those who run the office."""
    office = check_runs_office(actor).office
    found = Provider.objects.filter(office=office, pk=provider, retired=None).first()
    if found is None:
        raise absent()
    return found


def member_for(actor: Person, person: str) -> Membership:
    """Another member of the actor's office, by the person's id."""
    found = Membership.objects.select_related("person").filter(office=office_for(actor), person=person).first()
    if found is None:
        raise absent()
    return found
