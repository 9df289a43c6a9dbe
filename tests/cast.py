"""The cast: Alice owns the office, Bob is a member, Charlie belongs to another office and must see nothing."""

from dataclasses import dataclass

from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore
from django.db import transaction

from office import secrets
from office.actions.founding import found_office
from office.actions.people import create_person, seat
from office.events import office_stream
from office.live import log
from office.models import Channel, Coworker, Office, Person, Provider

PASSWORD = "a long enough sentence"


@dataclass
class Cast:
    """Everybody a test needs. `lead` answers in Alice's DM; `project` holds Alice, Bob and the whole staff."""

    office: Office
    alice: Person
    bob: Person
    charlie: Person
    project: Channel
    lead: Coworker
    staff: list[Coworker]

    def provider(self, base_url: str, key: str = "sk-test-0123456789", **fields: object) -> Provider:
        """Connects the whole staff to a model server on loopback (its port must be on the private allow list)."""
        made = Provider.objects.create(
            office=self.office, name="Scripted", base_url=base_url, sealed_key=secrets.seal(key), key_last4=key[-4:],
            default_model="scripted-1", **fields,
        )  # fmt: skip
        Coworker.objects.filter(office=self.office).update(provider=made, model="")
        return made


def gather(language: str = "en") -> Cast:
    """Founds two offices and seats everybody."""
    secrets.ensure_keys(settings.OFFICE_DATA)
    office = found_office(language=language)
    other = Office.objects.create(name="Other", language="en")
    log.open_stream(office_stream(other))
    with transaction.atomic():
        alice = sit("Alice", office, "owner")
        bob = sit("Bob", office, "member")
        charlie = sit("Charlie", other, "owner")
    staff = list(office.coworkers.order_by("created", "pk"))
    project = Channel.objects.get(office=office, kind="project")
    return Cast(office, alice, bob, charlie, project, staff[0], staff)


def sit(name: str, office: Office, role: str) -> Person:
    """A person with a seat in an office."""
    person = create_person(name=name, email=f"{name.lower()}@example.com", password=PASSWORD, language=office.language)
    seat(office, person, role)
    return person


def extra_person(cast: Cast, name: str) -> Person:
    """One more member, in the project channel too."""
    with transaction.atomic():
        return sit(name, cast.office, "member")


def sign_in(person: Person) -> str:
    """A session key as a browser would hold it in its cookie."""
    store = SessionStore()
    store[SESSION_KEY] = person.pk
    store[BACKEND_SESSION_KEY] = "django.contrib.auth.backends.ModelBackend"
    store[HASH_SESSION_KEY] = person.get_session_auth_hash()
    store.save()
    assert store.session_key
    return store.session_key


__all__ = ["Cast", "extra_person", "gather", "sign_in"]
