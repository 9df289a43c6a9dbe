"""API tokens: shown once, kept as a hash, named, dropped at will."""

import secrets
from typing import Any

from django.db import transaction

from office.access import membership_for
from office.actions.audit import audit
from office.actions.founding import hashed
from office.errors import absent
from office.models import ApiToken, AuditEntry, Invite, Person
from office.naming import check_name


@transaction.atomic(durable=True)
def make_token(actor: Person, *, name: str) -> tuple[ApiToken, str]:
    """A token and its secret, which is shown this once."""
    office = membership_for(actor).office
    secret = f"ao_{secrets.token_urlsafe(32)}"
    token = ApiToken.objects.create(person=actor, name=check_name(name), token_hash=hashed(secret), scopes=["all"])
    audit(office, actor, "token.made", token.pk)
    return token, secret


@transaction.atomic(durable=True)
def drop_token(actor: Person, *, token: str) -> None:
    """The script that holds it is out at once."""
    gone, _ = ApiToken.objects.filter(person=actor, pk=token).delete()
    if not gone:
        raise absent()
    audit(membership_for(actor).office, actor, "token.dropped", token)


def stamp(at: Any) -> str | None:
    return at.isoformat().replace("+00:00", "Z") if at else None


def token_body(token: ApiToken) -> dict[str, Any]:
    return {
        "id": token.pk,
        "name": token.name,
        "scopes": token.scopes,
        "created": stamp(token.created),
        "last_used": stamp(token.last_used),
    }


def invite_body(invite: Invite) -> dict[str, Any]:
    return {
        "id": invite.pk,
        "role": invite.role,
        "expires": stamp(invite.expires),
        "used": stamp(invite.used),
        "created": stamp(invite.created),
    }


def audit_body(entry: AuditEntry) -> dict[str, Any]:
    actor = {"id": entry.actor.pk, "name": entry.actor.name} if entry.actor else None
    return {
        "actor": actor,
        "action": entry.action,
        "subject": entry.subject,
        "details": entry.details,
        "at": stamp(entry.at),
    }
