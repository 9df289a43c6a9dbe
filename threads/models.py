"""What is said: sessions, threads, conversations, messages, missions, and every request made to a model."""

from typing import Any

from django.db import models
from django.db.models import F, Q

from office.models import Channel, Coworker, Named, Person, Provider


class Session(Named):
    """One sitting of work in a channel; a channel has one open session."""

    channel = models.ForeignKey(Channel, models.CASCADE, related_name="sessions")
    number = models.PositiveIntegerField()
    closed = models.DateTimeField(null=True, blank=True)
    mission_count = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["channel"], condition=Q(closed=None), name="one_open_session"),
            models.UniqueConstraint(fields=["channel", "number"], name="session_number"),
        )


class ThreadKind(models.TextChoices):
    MAIN = "main"
    BRANCH = "branch"
    HANDOVER = "handover"


class Mode(models.TextChoices):
    CHAT = "chat"
    COMPARE = "compare"
    DEBATE = "debate"
    CO_DRAFT = "co_draft"
    WORKFLOW = "workflow"
    MEETING = "meeting"


class Thread(Named):
    """One piece of work in one mode, with its own event log `thread:<id>`."""

    session = models.ForeignKey(Session, models.CASCADE, related_name="threads")
    kind = models.CharField(max_length=8, choices=ThreadKind, default=ThreadKind.MAIN)
    mode = models.CharField(max_length=8, choices=Mode, default=Mode.CHAT)
    title = models.CharField(max_length=120, blank=True, default="")
    message_count = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = (models.UniqueConstraint(fields=["session"], condition=Q(kind="main"), name="one_main_thread"),)

    @property
    def stream(self) -> str:
        return f"thread:{self.pk}"


class Conversation(Named):
    """One AI's line of messages within a thread; Chat has one shared one."""

    thread = models.ForeignKey(Thread, models.CASCADE, related_name="conversations")
    key = models.CharField(max_length=40, default="main")
    last_number = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = (models.UniqueConstraint(fields=["thread", "key"], name="conversation_key"),)


class MissionState(models.TextChoices):
    QUEUED = "queued"
    RUNNING = "running"
    ANSWERED = "answered"
    FAILED = "failed"
    STOPPED = "stopped"


OPEN_MISSIONS = (MissionState.QUEUED, MissionState.RUNNING)


class Source(models.TextChoices):
    DM = "dm"
    MASTER = "master"
    EVERYONE = "everyone"
    PROJECT = "project"
    MEETING_FOLLOWUP = "meeting_followup"
    API = "api"


class Mission(Named):
    """One instruction given to one or more coworkers, and everything done for it."""

    session = models.ForeignKey(Session, models.CASCADE, related_name="missions")
    thread = models.ForeignKey(Thread, models.CASCADE, related_name="missions")
    number = models.PositiveIntegerField()
    instruction = models.ForeignKey("Message", models.CASCADE, related_name="+")
    source = models.CharField(max_length=16, choices=Source)
    state = models.CharField(max_length=8, choices=MissionState, default=MissionState.QUEUED)
    coworkers: Any = models.ManyToManyField(Coworker, related_name="missions")
    given_by = models.ForeignKey(Person, models.PROTECT, related_name="+")
    ended = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = (models.UniqueConstraint(fields=["session", "number"], name="mission_number"),)
        indexes = (models.Index(fields=["thread", "state"], name="missions_by_state"),)


class MessageState(models.TextChoices):
    DONE = "done"
    STOPPED = "stopped"
    FAILED = "failed"
    CUT = "cut"
    RETRACTED = "retracted"


class Message(Named):
    """One version of one utterance. Rows with the same number are versions beside each other; one is current.

    `anchor` is the number of the instruction an answer belongs to (its own number for what people write): the order
    (anchor, number) puts an answer under its question also when another question was asked meanwhile.
    """

    conversation = models.ForeignKey(Conversation, models.CASCADE, related_name="messages")
    number = models.PositiveIntegerField()
    anchor = models.PositiveIntegerField()
    version = models.PositiveIntegerField(default=1)
    current = models.BooleanField(default=True)
    kind = models.CharField(max_length=8, default="message")
    person = models.ForeignKey(Person, models.PROTECT, null=True, blank=True, related_name="+")
    coworker = models.ForeignKey(Coworker, models.PROTECT, null=True, blank=True, related_name="+")
    text = models.TextField(blank=True, default="")
    html = models.TextField(blank=True, default="")
    state = models.CharField(max_length=9, choices=MessageState, default=MessageState.DONE)
    error = models.CharField(max_length=40, blank=True, default="")
    client_msg_id = models.UUIDField(null=True, blank=True)
    mission = models.ForeignKey(Mission, models.SET_NULL, null=True, blank=True, related_name="messages")
    run = models.CharField(max_length=26, blank=True, default="")

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["conversation", "number", "version"], name="message_version"),
            models.UniqueConstraint(
                fields=["conversation", "number"], condition=Q(current=True), name="one_current_version"
            ),
            # The constraint, not a look before the insert, is what makes a send idempotent.
            models.UniqueConstraint(
                fields=["person", "client_msg_id"], condition=Q(client_msg_id__isnull=False), name="send_once"
            ),
            models.CheckConstraint(condition=Q(anchor__lte=F("number")), name="an_answer_follows_its_instruction"),
        )
        indexes = (models.Index(fields=["conversation", "anchor", "number"], name="messages_in_order"),)


class ReadMark(Named):
    """How far a person has read in a thread; it only moves forward."""

    thread = models.ForeignKey(Thread, models.CASCADE, related_name="read_marks")
    person = models.ForeignKey(Person, models.CASCADE, related_name="+")
    number = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = (models.UniqueConstraint(fields=["thread", "person"], name="one_read_mark"),)


class CallState(models.TextChoices):
    SENT = "sent"
    DONE = "done"
    FAILED = "failed"
    STOPPED = "stopped"
    CUT = "cut"


class Call(Named):
    """One request to a model with its receipt, stored before it is sent. Keys and headers are never part of it."""

    thread = models.ForeignKey(Thread, models.CASCADE, related_name="calls")
    mission = models.ForeignKey(Mission, models.CASCADE, null=True, blank=True, related_name="calls")
    coworker = models.ForeignKey(Coworker, models.PROTECT, null=True, blank=True, related_name="+")
    provider = models.ForeignKey(Provider, models.PROTECT, related_name="+")
    run = models.CharField(max_length=26, blank=True, default="", db_index=True)
    purpose = models.CharField(max_length=20, default="answer")
    attempt = models.PositiveSmallIntegerField(default=1)
    model = models.CharField(max_length=200)
    state = models.CharField(max_length=8, choices=CallState, default=CallState.SENT)
    messages: Any = models.JSONField()
    segments: Any = models.JSONField(default=list)
    left_out: Any = models.JSONField(default=list)
    tokens: Any = models.JSONField(default=dict)
    parameters: Any = models.JSONField(default=dict)
    hash = models.CharField(max_length=80)
    finish_reason = models.CharField(max_length=40, blank=True, default="")
    error = models.CharField(max_length=40, blank=True, default="")
    error_words = models.CharField(max_length=500, blank=True, default="")
    usage: Any = models.JSONField(default=dict)
    cost: Any = models.JSONField(null=True, blank=True)
    first_token_ms = models.FloatField(null=True, blank=True)
    latency_ms = models.FloatField(null=True, blank=True)
    ended = models.DateTimeField(null=True, blank=True)
