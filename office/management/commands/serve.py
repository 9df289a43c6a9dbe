"""The one command: checks, migrates, founds the office on first start, and serves it."""

import os
import socket
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser

from office import local_model, serving
from office.actions import founding
from office.actions.endpoints import adopt_environment, adopt_local, let_go_local
from office.errors import Refused
from office.models import Office, ProviderKind
from office.secrets import ensure_keys
from office.words import LANGUAGES, say


class Command(BaseCommand):
    help = "Opens the office: checks, migrates, serves the page, the API and the sockets, and runs the coworkers."
    requires_migrations_checks = False

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", type=int, default=8000)
        parser.add_argument("--server", choices=("daphne", "uvicorn"), default="daphne")
        parser.add_argument("--language", choices=LANGUAGES, help="of a new office; the default is the system's")

    def handle(self, *args: Any, host: str, port: int, server: str, language: str | None, **options: Any) -> None:
        check_address(host, port)
        check_folder()
        ensure_keys(settings.OFFICE_DATA)
        call_command("migrate", interactive=False, verbosity=0)
        office = founding.found_office(language=language or system_language())
        self.adopt(office)
        self.greet(office, host, port)
        try:
            serving.serve(host, port, server)
        finally:
            local_model.stop()

    def adopt(self, office: Office) -> None:
        """The endpoint of the environment, else the small model if it is installed, else the rehearsal.

        A bad address in the environment stops the start with a sentence.
        """
        try:
            connected = adopt_environment(office)
        except Refused as refused:
            raise CommandError(say(f"errors.{refused.code}", "en", **refused.detail)) from None
        small = None if connected or not local_model.available() else local_model.start(settings.OFFICE_DATA)
        if small:
            adopt_local(office, small)
            self.stdout.write("  " + say("serve.local", office.language))
        else:
            let_go_local(office)

    def greet(self, office: Office, host: str, port: int) -> None:
        """Where the office is, the one-time link while nobody has claimed it, and whether a model is connected."""
        place = f"http://{'127.0.0.1' if host in ('0.0.0.0', '::') else host}:{port}{settings.FORCE_SCRIPT_NAME or ''}"
        lines = [say("serve.open", office.language, place=place, folder=settings.OFFICE_DATA)]
        token = founding.new_claim_link(office)
        if token:
            lines.append(say("serve.claim", office.language, link=f"{place}/start/{token}/"))
        if office.coworkers.filter(retired=None, provider__kind=ProviderKind.REHEARSAL).exists():
            lines.append(say("serve.rehearsal", office.language))
        self.stdout.write("\n".join(f"  {line}" for line in lines))
        self.stdout.flush()


def check_address(host: str, port: int) -> None:
    """Refuses, in a sentence, an address that is taken, and a public one without the names people will use."""
    public = host not in ("127.0.0.1", "localhost", "::1")
    if public and "OFFICE_HOSTS" not in os.environ:
        raise CommandError(
            f"--host {host} opens the office to the network. Say by which names people will reach it, "
            "for example: OFFICE_HOSTS=office.example.com,192.0.2.7"
        )
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise CommandError(f"Cannot listen on {host}:{port} ({error.strerror}). Try another --port.") from None


def check_folder() -> None:
    """The data folder must be ours to write."""
    folder = settings.OFFICE_DATA
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / f".write-{os.getpid()}"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise CommandError(f"The data folder {folder} cannot be written ({error.strerror}). Set OFFICE_DATA.") from None


def system_language() -> str:
    """Japanese when the system speaks it, else English."""
    spoken = os.environ.get("LC_ALL") or os.environ.get("LC_MESSAGES") or os.environ.get("LANG") or ""
    return "ja" if spoken.startswith("ja") else "en"
