"""The log of who did what."""

from typing import Any

from office.models import AuditEntry, Office, Person


def audit(office: Office, actor: Person | None, action: str, subject: str = "", **details: Any) -> None:
    """Writes one entry; call it inside the transaction of the change. Never pass a key or a text of a message."""
    AuditEntry.objects.create(office=office, actor=actor, action=action, subject=subject, details=details)
