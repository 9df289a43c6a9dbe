"""Who may follow which stream: one question for REST and socket alike, answered by the package that knows."""

import re
from collections.abc import Callable

from office.models import Membership

Gate = Callable[[str, str], bool]
GATES: dict[str, Gate] = {}
NAME = re.compile(r"[0-9a-z]{1,40}")  # nothing else is ever asked of a database


def register(kind: str, gate: Gate) -> None:
    """`gate(person_id, id)` answers for streams named `kind:id`."""
    GATES[kind] = gate


def may_follow(person: str, stream: str) -> bool:
    """False also for streams that do not exist, so that nobody learns of them."""
    kind, _, id = stream.partition(":")
    gate = GATES.get(kind)
    return bool(gate and NAME.fullmatch(id) and gate(person, id))


def in_office(person: str, office: str) -> bool:
    return Membership.objects.filter(person=person, office=office, person__is_active=True).exists()


register("office", in_office)
register("person", lambda person, id: person == id)
