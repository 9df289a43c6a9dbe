"""First start: an office with a small real staff, and a one-time link for whoever becomes its owner."""

import secrets
import tomllib
from hashlib import sha256
from pathlib import Path
from typing import Any

from django.db import transaction

from office.events import office_stream
from office.live import log
from office.models import Channel, ChannelKind, ChannelMember, Coworker, Office, Provider, ProviderKind
from office.naming import name_key
from office.words import say

STAFF = Path(__file__).resolve().parent.parent / "staff.toml"


def hashed(token: str) -> str:
    """Tokens are random and long, so a plain hash is enough to keep them."""
    return sha256(token.encode()).hexdigest()


@transaction.atomic(durable=True)
def found_office(*, language: str) -> Office:
    """The office, made on first start; later starts get the one that is there."""
    office = Office.objects.first()
    if office is None:
        office = Office.objects.create(name=say("founding.office_name", language), language=language)
        log.open_stream(office_stream(office))
        provider = Provider.objects.create(
            office=office,
            name=say("founding.rehearsal", language),
            kind=ProviderKind.REHEARSAL,
            default_model="rehearsal",
        )
        seat_staff(office, provider)
    return office


def seat_staff(office: Office, provider: Provider) -> None:
    """The first staff and the first project channel, in the office's language."""
    channel = Channel.objects.create(
        office=office, kind=ChannelKind.PROJECT, name=say("founding.project", office.language)
    )
    for position, sheet in enumerate(staff_sheets(office.language)):
        coworker = Coworker.objects.create(
            office=office, provider=provider, language=office.language, is_lead=position == 0,
            name_key=name_key(sheet["name"]), **sheet,
        )  # fmt: skip
        ChannelMember.objects.create(channel=channel, coworker=coworker)


def recast(office: Office) -> None:
    """Rewrites the first staff in another language; used while nobody has come in yet."""
    Channel.objects.filter(office=office, kind=ChannelKind.PROJECT).update(
        name=say("founding.project", office.language)
    )
    Provider.objects.filter(office=office, kind=ProviderKind.REHEARSAL).update(
        name=say("founding.rehearsal", office.language)
    )
    for coworker, sheet in zip(office.coworkers.order_by("created", "pk"), staff_sheets(office.language), strict=False):
        fresh = {**sheet, "name_key": name_key(sheet["name"]), "language": office.language}
        for field, value in fresh.items():
            setattr(coworker, field, value)
        coworker.save()


def staff_sheets(language: str) -> list[dict[str, Any]]:
    """Name, title, persona and hue of each first coworker, the lead first."""
    return list(tomllib.loads(STAFF.read_text(encoding="utf-8"))[language])


@transaction.atomic(durable=True)
def new_claim_link(office: Office) -> str | None:
    """A fresh one-time token while the office has no owner, else None. The one before it stops working."""
    office = Office.objects.select_for_update().get(pk=office.pk)
    if office.claimed:
        return None
    token = secrets.token_urlsafe(24)
    office.claim_hash = hashed(token)
    office.save(update_fields=["claim_hash"])
    return token
