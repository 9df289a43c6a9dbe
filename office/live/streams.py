"""Who may follow which stream: one question for REST and socket alike, answered by the package that knows."""

import re
from collections import defaultdict
from collections.abc import Callable

from office.models import Membership, Role

Pairs = set[tuple[str, str]]
Gate = Callable[[str, str], bool]
ManyGate = Callable[[Pairs], Pairs]
GATES: dict[str, Gate] = {}
MANY: dict[str, ManyGate] = {}
NAME = re.compile(r"[0-9a-z]{1,40}")  # nothing else is ever asked of a database


def register(kind: str, gate: Gate, many: ManyGate | None = None) -> None:
    """`gate(person_id, id)` answers for streams named `kind:id`; `many` picks those it would let in from a set of such.

    The beat asks about every follower, so `many` should need no more queries for a thousand pairs than for one.
    """
    GATES[kind] = gate
    MANY[kind] = many or (lambda pairs: {pair for pair in pairs if gate(*pair)})


def may_follow(person: str, stream: str) -> bool:
    """False also for streams that do not exist, so that nobody learns of them."""
    kind, _, id = stream.partition(":")
    gate = GATES.get(kind)
    return bool(gate and NAME.fullmatch(id) and gate(person, id))


def those_who_may(pairs: Pairs) -> Pairs:
    """Of (person, stream) pairs those that `may_follow` holds for, asked a kind at a time."""
    asked: dict[str, Pairs] = defaultdict(set)
    for person, stream in pairs:
        kind, _, id = stream.partition(":")
        if kind in MANY and NAME.fullmatch(id):
            asked[kind].add((person, id))
    return {(person, f"{kind}:{id}") for kind, some in asked.items() for person, id in MANY[kind](some)}


def in_office(person: str, office: str) -> bool:
    return (person, office) in all_in_office({(person, office)})


def all_in_office(pairs: Pairs) -> Pairs:
    """Members hear the whole office; a guest would learn there of people and coworkers outside their channels."""
    seats = Membership.objects.filter(person__in={person for person, _ in pairs}, person__is_active=True)
    return pairs & set(seats.exclude(role=Role.GUEST).values_list("person_id", "office_id"))


register("office", in_office, all_in_office)
register("person", lambda person, id: person == id, lambda pairs: {pair for pair in pairs if pair[0] == pair[1]})
