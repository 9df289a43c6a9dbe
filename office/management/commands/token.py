"""`manage.py token EMAIL --name NAME`: a token for a script, printed once."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from office.actions.tokens import make_token
from office.errors import Refused
from office.models import Person
from office.words import say


class Command(BaseCommand):
    help = "Makes an API token for somebody and prints it, this once."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("email")
        parser.add_argument("--name", required=True, help="what the token is for")

    def handle(self, *args: Any, email: str, name: str, **options: Any) -> None:
        person = Person.objects.filter(email=email.strip().lower(), is_active=True).first()
        if person is None:
            raise CommandError(f"Nobody in this office has the address {email}.")
        try:
            _, secret = make_token(person, name=name)
        except Refused as refused:
            raise CommandError(say(f"errors.{refused.code}", "en", **refused.detail)) from None
        self.stdout.write(secret)
