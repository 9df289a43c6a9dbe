"""Small changes to the office itself and to oneself."""

from django.db import transaction

from office.access import check_runs_office, membership_for
from office.actions.audit import audit
from office.events import member_body, office_stream
from office.live import log
from office.models import Membership, Office, Person
from office.naming import check_name


@transaction.atomic(durable=True)
def change_office(actor: Person, *, name: str | None = None, language: str | None = None) -> Office:
    """The office's name and language. Coworkers keep theirs."""
    office = check_runs_office(actor).office
    office.name = check_name(name) if name is not None else office.name
    office.language = language or office.language
    office.save(update_fields=["name", "language"])
    audit(office, actor, "office.changed", office.pk)
    return office


@transaction.atomic(durable=True)
def change_me(actor: Person, *, name: str | None = None, language: str | None = None) -> Membership:
    """One's own name and the language of one's screen; the others hear of a new name."""
    member = membership_for(actor)
    stream = log.lock(office_stream(member.office_id))
    renamed = name is not None and check_name(name) != actor.name
    actor.name = check_name(name) if name is not None else actor.name
    actor.language = language or actor.language
    actor.save(update_fields=["name", "language"])
    member.person = actor
    if renamed:
        log.append(stream, "membership.changed", {"member": member_body(member), "left": False})
    return member
