"""`manage.py link [EMAIL]`: the way in for somebody locked out. Whoever may run this holds the data folder anyway."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from office.actions import founding
from office.actions.people import fresh_password
from office.models import Membership, Office, Role
from office.words import say


class Command(BaseCommand):
    help = "Prints the one-time link of an office without an owner, or a fresh password for EMAIL (else the owner)."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("email", nargs="?")
        parser.add_argument("--place", default="http://127.0.0.1:8000", help="where people reach the office")

    def handle(self, *args: Any, email: str | None, place: str, **options: Any) -> None:
        office = Office.objects.order_by("created", "pk").first()
        if office is None:
            raise CommandError("There is no office yet. Start it once: python manage.py serve")
        place = place.rstrip("/") + (settings.FORCE_SCRIPT_NAME or "")
        token = None if email else founding.new_claim_link(office)
        if token:
            self.stdout.write(say("serve.claim", office.language, link=f"{place}/start/{token}/"))
            return
        member = find_member(office, email)
        password = fresh_password(member)
        self.stdout.write(
            say("link.password", office.language, link=f"{place}/signin/", email=member.person.email, password=password)
        )


def find_member(office: Office, email: str | None) -> Membership:
    """The member with that address, or the owner when none is given."""
    rows = Membership.objects.select_related("office", "person").filter(office=office)
    found = rows.filter(person__email=email.strip().lower()) if email else rows.filter(role=Role.OWNER)
    member = found.first()
    if member is None:
        raise CommandError(f"Nobody in this office has the address {email}.")
    return member
