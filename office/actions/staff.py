"""Hiring, changing and retiring coworkers."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone

from office.access import check_runs_office, coworker_for, provider_for
from office.actions.audit import audit
from office.errors import Refused
from office.events import coworker_body, office_stream
from office.live import log
from office.models import Coworker, Office, Person
from office.naming import check_name, name_key
from office.words import LANGUAGES

PERSONA_LIMIT = 8000


@transaction.atomic(durable=True)
def hire_coworker(actor: Person, *, provider: str, **sheet: Any) -> Coworker:
    """A new coworker; `sheet` may hold name, title, persona, language, model, max_output_tokens and hue."""
    office = check_runs_office(actor).office
    stream = log.lock(office_stream(office))
    coworker = Coworker(office=office, language=office.language, provider=provider_for(actor, provider))
    write_sheet(coworker, {"name": "", **sheet})
    coworker.hue = sheet.get("hue", office.coworkers.count() * 67 % 360)
    save_named(coworker)
    log.append(stream, "coworker.hired", {"coworker": coworker_body(coworker)})
    audit(office, actor, "coworker.hired", coworker.pk)
    return coworker


@transaction.atomic(durable=True)
def change_coworker(actor: Person, *, coworker: str, version: int | None = None, **sheet: Any) -> Coworker:
    """Changes the named fields. An outdated `version` is a 409, so that two people do not overwrite each other."""
    office = check_runs_office(actor).office
    stream = log.lock(office_stream(office))
    found = coworker_for(actor, coworker)
    if version is not None and version != found.version:
        raise Refused("outdated", status=409, version=found.version)
    if "provider" in sheet:
        found.provider = provider_for(actor, sheet.pop("provider"))
    write_sheet(found, sheet)
    found.version += 1
    save_named(found)
    log.append(stream, "coworker.changed", {"coworker": coworker_body(found)})
    audit(office, actor, "coworker.changed", found.pk, fields=sorted(sheet))
    return found


@transaction.atomic(durable=True)
def retire_coworker(actor: Person, *, coworker: str) -> Coworker:
    """The coworker answers no more; what it wrote stays, under its name."""
    office = check_runs_office(actor).office
    stream = log.lock(office_stream(office))
    found = coworker_for(actor, coworker)
    found.retired, found.is_lead = found.retired or timezone.now(), False
    found.save(update_fields=["retired", "is_lead"])
    log.append(stream, "coworker.retired", {"coworker": coworker_body(found)})
    audit(office, actor, "coworker.retired", found.pk)
    return found


@contextmanager
def changes_told(office: Office) -> Iterator[None]:
    """Tells the office of every coworker that looks different after the block. Use it first in a transaction.

    For changes that reach coworkers by way of their endpoint, whose name and model they show.
    """
    stream = log.lock(office_stream(office))
    before = bodies_of(office)
    yield
    for id, body in bodies_of(office).items():
        if body != before.get(id):
            log.append(stream, "coworker.changed", {"coworker": body})


def bodies_of(office: Office) -> dict[str, dict[str, Any]]:
    rows = Coworker.objects.filter(office=office).select_related("provider").order_by("created", "pk")
    return {coworker.pk: coworker_body(coworker) for coworker in rows}


def write_sheet(coworker: Coworker, sheet: dict[str, Any]) -> None:
    """Checks and sets the plain fields."""
    if "name" in sheet:
        coworker.name = check_name(sheet["name"])
        coworker.name_key = name_key(coworker.name)
    if "title" in sheet:
        coworker.title = check_name(sheet["title"], field="title") if sheet["title"].strip() else ""
    if "persona" in sheet:
        if len(sheet["persona"]) > PERSONA_LIMIT or "\x00" in sheet["persona"]:
            raise Refused("persona_too_long", field="persona", limit=PERSONA_LIMIT)
        coworker.persona = sheet["persona"]
    if sheet.get("language", "en") not in LANGUAGES:
        raise Refused("language_unknown", field="language")
    for field in ("language", "model", "max_output_tokens"):
        if field in sheet:
            setattr(coworker, field, sheet[field])


def save_named(coworker: Coworker) -> None:
    """Saves, turning the constraint on names into a sentence."""
    try:
        with transaction.atomic():
            coworker.save()
    except IntegrityError:
        raise Refused("name_taken", status=409, field="name", name=coworker.name) from None
