"""The building: the office, its people and coworkers, its channels, its model endpoints, and who did what."""

from typing import Any, ClassVar

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.db import models
from django.db.models import Q
from django.utils import timezone

from office.ids import new_id


class Named(models.Model):
    """Whatever has one of our opaque ids."""

    id = models.CharField(primary_key=True, max_length=26, default=new_id, editable=False)
    created = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        abstract = True


class Language(models.TextChoices):
    JA = "ja", "日本語"
    EN = "en", "English"


class Office(Named):
    """The tenant. Nothing crosses offices."""

    name = models.CharField(max_length=80)
    language = models.CharField(max_length=2, choices=Language, default=Language.EN)
    claimed = models.DateTimeField(null=True, blank=True)
    # SHA-256 of the one-time link's token; empty once an owner has come in by it.
    claim_hash = models.CharField(max_length=64, blank=True, default="")


class People(BaseUserManager["Person"]):
    """Django asks for this by name; nothing here creates anybody, `actions.people` does."""

    def get_by_natural_key(self, username: str | None) -> "Person":
        return self.get(email__iexact=username)


class Person(AbstractBaseUser):
    """Somebody who can sign in."""

    id = models.CharField(primary_key=True, max_length=26, default=new_id, editable=False)
    created = models.DateTimeField(default=timezone.now, editable=False)
    email = models.EmailField(unique=True)
    name = models.CharField(max_length=80)
    language = models.CharField(max_length=2, choices=Language, default=Language.EN)
    is_active = models.BooleanField(default=True)
    last_seen = models.DateTimeField(null=True, blank=True)

    USERNAME_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = ["name"]
    objects: ClassVar[People] = People()


class Role(models.TextChoices):
    OWNER = "owner"
    ADMIN = "admin"
    MEMBER = "member"
    GUEST = "guest"


class Membership(Named):
    """A person's place in an office."""

    office = models.ForeignKey(Office, models.CASCADE, related_name="memberships")
    person = models.ForeignKey(Person, models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=8, choices=Role, default=Role.MEMBER)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["office", "person"], name="one_membership_per_office"),
            # One office a person, as long as no screen lets somebody choose between two.
            models.UniqueConstraint(fields=["person"], name="one_office_per_person"),
            models.UniqueConstraint(fields=["office"], condition=Q(role="owner"), name="one_owner_per_office"),
        )


class Invite(Named):
    """A link that lets one person in; only its hash is kept."""

    office = models.ForeignKey(Office, models.CASCADE, related_name="invites")
    role = models.CharField(max_length=8, choices=Role, default=Role.MEMBER)
    token_hash = models.CharField(max_length=64, unique=True)
    made_by = models.ForeignKey(Person, models.CASCADE, related_name="+")
    expires = models.DateTimeField()
    used = models.DateTimeField(null=True, blank=True)
    used_by = models.ForeignKey(Person, models.SET_NULL, null=True, blank=True, related_name="+")


class ApiToken(Named):
    """A script's key to the API: shown once, kept as a hash."""

    person = models.ForeignKey(Person, models.CASCADE, related_name="tokens")
    name = models.CharField(max_length=80)
    token_hash = models.CharField(max_length=64, unique=True)
    scopes = models.JSONField(default=list)
    last_used = models.DateTimeField(null=True, blank=True)


class ProviderKind(models.TextChoices):
    OPENAI = "openai"
    REHEARSAL = "rehearsal"
    LOCAL = "local"


class Provider(Named):
    """A model endpoint. The key is sealed at rest and never leaves the server but to `base_url`."""

    office = models.ForeignKey(Office, models.CASCADE, related_name="providers")
    name = models.CharField(max_length=80)
    kind = models.CharField(max_length=12, choices=ProviderKind, default=ProviderKind.OPENAI)
    base_url = models.CharField(max_length=500, blank=True, default="")
    sealed_key = models.TextField(blank=True, default="")
    key_last4 = models.CharField(max_length=4, blank=True, default="")
    default_model = models.CharField(max_length=200, blank=True, default="")
    model_names = models.JSONField(default=list)
    # Parameters that this server refused once, by name; they are not sent again.
    unsupported = models.JSONField(default=list)
    # {"model": {"input": per million, "cached": …, "output": …, "currency": "USD"}}, entered by people.
    prices = models.JSONField(default=dict)
    # Tokens that its models take at once, request and answer together; None where nobody said.
    context_window = models.PositiveIntegerField(null=True, blank=True)
    retired = models.DateTimeField(null=True, blank=True)


class Coworker(Named):
    """An AI member of the staff."""

    office = models.ForeignKey(Office, models.CASCADE, related_name="coworkers")
    name = models.CharField(max_length=80)
    # What look-alike names have in common (`naming.name_key`); databases fold case and width each in their own way.
    name_key = models.CharField(max_length=320, blank=True, default="")
    title = models.CharField(max_length=80, blank=True, default="")
    persona = models.TextField(max_length=8000, blank=True, default="")
    language = models.CharField(max_length=2, choices=Language, default=Language.EN)
    provider = models.ForeignKey(Provider, models.PROTECT, related_name="coworkers")
    model = models.CharField(max_length=200, blank=True, default="")
    max_output_tokens = models.PositiveIntegerField(null=True, blank=True)
    is_lead = models.BooleanField(default=False)
    hue = models.PositiveSmallIntegerField(default=210)
    version = models.PositiveIntegerField(default=1)
    retired = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=["office"], condition=Q(is_lead=True, retired=None), name="one_lead_per_office"
            ),
            models.UniqueConstraint(
                fields=["office", "name_key"],
                condition=Q(retired=None) & ~Q(name_key=""),
                name="one_coworker_per_name",
            ),
        )


class ChannelKind(models.TextChoices):
    DM = "dm"
    MASTER = "master"
    EVERYONE = "everyone"
    PROJECT = "project"


class Channel(Named):
    """A place to talk: a DM between one person and one coworker, or a channel of several."""

    office = models.ForeignKey(Office, models.CASCADE, related_name="channels")
    kind = models.CharField(max_length=8, choices=ChannelKind)
    name = models.CharField(max_length=80, blank=True, default="")
    person = models.ForeignKey(Person, models.CASCADE, null=True, blank=True, related_name="dms")
    coworker = models.ForeignKey(Coworker, models.CASCADE, null=True, blank=True, related_name="dms")
    archived = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=["person", "coworker"], condition=Q(kind="dm"), name="one_dm_per_person_and_coworker"
            ),
            models.CheckConstraint(
                condition=Q(kind="dm", person__isnull=False, coworker__isnull=False)
                | ~Q(kind="dm") & Q(person=None, coworker=None),
                name="a_dm_has_a_person_and_a_coworker",
            ),
            models.UniqueConstraint(
                fields=["office", "kind"],
                condition=Q(kind__in=["master", "everyone"]),
                name="one_such_channel",
            ),
        )


class ChannelMember(Named):
    """A person or a coworker who belongs to a channel that is not a DM, and how far the person has read."""

    channel = models.ForeignKey(Channel, models.CASCADE, related_name="members")
    person = models.ForeignKey(Person, models.CASCADE, null=True, blank=True, related_name="+")
    coworker = models.ForeignKey(Coworker, models.CASCADE, null=True, blank=True, related_name="+")

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["channel", "person"], name="a_person_joins_once"),
            models.UniqueConstraint(fields=["channel", "coworker"], name="a_coworker_joins_once"),
            models.CheckConstraint(
                condition=Q(person=None) ^ Q(coworker=None), name="a_member_is_a_person_or_a_coworker"
            ),
        )


class AuditEntry(models.Model):
    """Who did what, written in the transaction that did it."""

    office = models.ForeignKey(Office, models.CASCADE, related_name="audit")
    actor = models.ForeignKey(Person, models.SET_NULL, null=True, blank=True, related_name="+")
    action = models.CharField(max_length=60)
    subject = models.CharField(max_length=60, blank=True, default="")
    details: Any = models.JSONField(default=dict)
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        indexes = (models.Index(fields=["office", "-at"], name="audit_by_time"),)
