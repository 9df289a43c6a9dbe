"""Whether a link that somebody follows still opens anything. The actions check again when it is used."""

from django.utils import timezone

from office.actions.founding import hashed
from office.models import Invite, Office


def claim_link_of(token: str) -> Office | None:
    """The office that waits for its owner behind this one-time link."""
    return Office.objects.filter(claim_hash=hashed(token), claimed=None).first()


def invite_of(token: str) -> Invite | None:
    """The invite behind a link, while it is neither used nor expired."""
    rows = Invite.objects.select_related("office")
    return rows.filter(token_hash=hashed(token), used=None, expires__gt=timezone.now()).first()
