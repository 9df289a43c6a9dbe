"""Coming in, inviting, roles and leaving."""

import secrets
from datetime import timedelta

from django.contrib.auth import authenticate, login, logout, password_validation
from django.contrib.auth.hashers import make_password
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import IntegrityError, transaction
from django.http import HttpRequest
from django.utils import timezone

from office.access import check_runs_office, member_for
from office.actions.audit import audit
from office.actions.channels import streams_of
from office.actions.founding import hashed, recast
from office.errors import Refused, absent
from office.events import member_body, office_stream
from office.live import announce, log
from office.models import ApiToken, Channel, ChannelKind, ChannelMember, Invite, Membership, Office, Person, Role
from office.naming import check_name
from office.words import LANGUAGES


def create_person(*, name: str, email: str, password: str, language: str) -> Person:
    """A new person, inside the caller's transaction; refuses a bad name, address or password, or a taken address."""
    try:
        validate_email(email)
    except ValidationError:
        raise Refused("email_invalid", field="email") from None
    person = Person(name=check_name(name), email=email.strip().lower(), language=language)
    try:
        password_validation.validate_password(password, person)
    except ValidationError:
        raise Refused("password_weak", field="password") from None
    person.set_password(password)
    try:
        with transaction.atomic():
            person.save(force_insert=True)
    except IntegrityError:
        raise Refused("email_taken", status=409, field="email") from None
    log.open_stream(f"person:{person.pk}")
    return person


@transaction.atomic(durable=True)
def claim_office(*, token: str, name: str, email: str, password: str, language: str) -> Person:
    """Makes the holder of the one-time link the owner; the link works once, also for two at the same moment."""
    if language not in LANGUAGES:
        raise Refused("language_unknown", field="language")
    office = Office.objects.select_for_update().filter(claim_hash=hashed(token), claimed=None).first()
    if office is None:
        raise Refused("link_spent", status=404)
    person = create_person(name=name, email=email, password=password, language=language)
    if office.language != language:
        office.language = language
        recast(office)
    office.claimed, office.claim_hash = timezone.now(), ""
    office.save()
    seat(office, person, Role.OWNER)
    audit(office, person, "office.claimed")
    return person


@transaction.atomic(durable=True)
def join_office(*, token: str, name: str, email: str, password: str) -> Person:
    """Lets one person in by an invite link; it works once and until it expires."""
    invite = Invite.objects.select_for_update().filter(token_hash=hashed(token)).first()
    if invite is None or invite.used or invite.expires <= timezone.now():
        raise Refused("link_spent", status=404)
    office = invite.office
    person = create_person(name=name, email=email, password=password, language=office.language)
    invite.used, invite.used_by = timezone.now(), person
    invite.save(update_fields=["used", "used_by"])
    seat(office, person, invite.role)
    audit(office, person, "member.joined", person.pk, role=invite.role)
    return person


def seat(office: Office, person: Person, role: str) -> None:
    """Membership, and for all but guests a seat in the office's first project channel; announced to the office.

    The channels that people opened since are theirs: who joins later is let in by somebody, or not at all.
    """
    stream = log.lock(office_stream(office))
    member = Membership.objects.create(office=office, person=person, role=role)
    first = Channel.objects.filter(office=office, kind=ChannelKind.PROJECT).order_by("created", "pk").first()
    if role != Role.GUEST and first and not first.archived:
        ChannelMember.objects.create(channel=first, person=person)
    log.append(stream, "membership.changed", {"member": member_body(member), "left": False})


def sign_in(request: HttpRequest, email: str, password: str) -> Person | None:
    """Signs in with address and password; None when they do not fit, without saying which."""
    person = authenticate(request, username=email.strip().lower(), password=password)
    if not isinstance(person, Person):
        return None
    login(request, person)
    return person


def enter(request: HttpRequest, person: Person) -> None:
    """Signs in somebody whose link was just accepted."""
    login(request, person, backend="django.contrib.auth.backends.ModelBackend")


def sign_out(request: HttpRequest) -> None:
    """Ends this sign-in and closes its sockets at once, in every process."""
    session = request.session.session_key
    logout(request)
    if session:
        announce.kick(session=session)


@transaction.atomic(durable=True)
def invite(actor: Person, *, role: str, days: int = 7) -> tuple[Invite, str]:
    """An invite and its token, which is shown this once."""
    office = check_runs_office(actor).office
    if role not in Role.values or role == Role.OWNER:
        raise Refused("role_unknown", field="role")
    if not 1 <= days <= 90:
        raise Refused("days_out_of_range", field="days", most=90)
    token = secrets.token_urlsafe(24)
    made = Invite.objects.create(
        office=office,
        role=role,
        token_hash=hashed(token),
        made_by=actor,
        expires=timezone.now() + timedelta(days=days),
    )
    audit(office, actor, "invite.made", made.pk, role=role)
    return made, token


@transaction.atomic(durable=True)
def withdraw_invite(actor: Person, *, invite: str) -> None:
    """The link stops working."""
    office = check_runs_office(actor).office
    gone, _ = Invite.objects.filter(office=office, pk=invite, used=None).delete()
    if not gone:
        raise absent()
    audit(office, actor, "invite.withdrawn", invite)


@transaction.atomic(durable=True)
def change_role(actor: Person, *, person: str, role: str) -> Membership:
    """Another role for a member. The owner's own role stays, and nobody else becomes owner here."""
    office = check_runs_office(actor).office
    stream = log.lock(office_stream(office))
    member = member_for(actor, person)
    if role not in Role.values or Role.OWNER in (role, member.role):
        raise Refused("role_unknown", field="role")
    member.role = role
    member.save(update_fields=["role"])
    if role == Role.GUEST:
        leave_what_guests_may_not_hear(office, person)
    log.append(stream, "membership.changed", {"member": member_body(member), "left": False})
    audit(office, actor, "member.role_changed", person, role=role)
    return member


@transaction.atomic(durable=True)
def fresh_password(member: Membership) -> str:
    """A new password for somebody locked out, returned this once; their sign-ins so far end."""
    password = secrets.token_urlsafe(12)
    member.person.set_password(password)
    member.person.save(update_fields=["password"])
    announce.kick(person=member.person.pk)
    audit(member.office, None, "member.password_renewed", member.person.pk)
    return password


def leave_what_guests_may_not_hear(office: Office, person: str) -> None:
    """Sockets of somebody who became a guest stop hearing the office and the channels open to all but guests."""
    announce.drop(office_stream(office), person)
    for channel in Channel.objects.filter(office=office, kind__in=[ChannelKind.MASTER, ChannelKind.EVERYONE]):
        for name in streams_of(channel):
            announce.drop(name, person)


@transaction.atomic(durable=True)
def remove_member(actor: Person, *, person: str) -> None:
    """Takes a person out: sign-ins end, sockets close, what they wrote stays with their name."""
    office = check_runs_office(actor).office
    stream = log.lock(office_stream(office))
    member = member_for(actor, person)
    if member.role == Role.OWNER:
        raise Refused("owner_stays", status=409)
    body = member_body(member)
    ChannelMember.objects.filter(channel__office=office, person=person).delete()
    member.delete()
    end_sign_ins(person)
    log.append(stream, "membership.changed", {"member": body, "left": True})
    audit(office, actor, "member.removed", person)


def end_sign_ins(person: str) -> None:
    """Ends every session and token of a person at once, and frees their address for a later invitation.

    No session is looked up: an inactive person is signed in nowhere, and another password ends what is left.
    """
    address = f"{person}@removed.invalid"
    Person.objects.filter(pk=person).update(is_active=False, password=make_password(None), email=address)
    ApiToken.objects.filter(person=person).delete()
    announce.kick(person=person)
