"""Who may go on following which threads, asked for all followers of a process at once, at each beat."""

from collections.abc import Iterable, Iterator

from office.access import Place, place_may_be_read
from office.models import ChannelMember, Membership
from threads.models import Thread

Pairs = set[tuple[str, str]]  # (person, thread)
SLICE = 10_000  # ids in one query; SQLite takes 32,766 values


def all_who_may_follow(pairs: Pairs) -> Pairs:
    """The pairs for which `access.may_follow_thread` holds, in three queries for up to ten thousand of each."""
    seats = seats_of({person for person, _ in pairs})
    places = places_of({thread for _, thread in pairs})
    seated = seated_in({place.channel for place in places.values()})
    return {
        (person, thread)
        for person, thread in pairs
        if person in seats and thread in places and allowed(person, seats[person], places[thread], seated)
    }


def allowed(person: str, seat: tuple[str, str], place: Place, seated: Pairs) -> bool:
    office, role = seat
    return place_may_be_read(person, office, role, place, lambda: (person, place.channel) in seated)


def seats_of(people: set[str]) -> dict[str, tuple[str, str]]:
    """Office and role of each person who is still in one."""
    rows = Membership.objects.filter(person__is_active=True)
    found = (rows.filter(person__in=some).values_list("person_id", "office_id", "role") for some in slices(people))
    return {person: (office, role) for some in found for person, office, role in some}


def places_of(threads: set[str]) -> dict[str, Place]:
    way = "session__channel"
    fields = ("pk", f"{way}_id", f"{way}__office_id", f"{way}__kind", f"{way}__person_id")
    found = (Thread.objects.filter(pk__in=some).values_list(*fields) for some in slices(threads))
    return {row[0]: Place(*row[1:]) for some in found for row in some}


def seated_in(channels: set[str]) -> Pairs:
    """(person, channel) of everybody who was let into one of the channels."""
    rows = ChannelMember.objects.exclude(person=None)
    found = (rows.filter(channel__in=some).values_list("person_id", "channel_id") for some in slices(channels))
    return {pair for some in found for pair in some}


def slices(ids: Iterable[str]) -> Iterator[list[str]]:
    rest = sorted(ids)
    return (rest[start : start + SLICE] for start in range(0, len(rest), SLICE))
