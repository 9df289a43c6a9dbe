"""The only look-ups of threads, messages and missions by id from outside; the actor's channels decide."""

from django.db.models import QuerySet

from office.access import channels_for, may_read
from office.errors import Refused, absent
from office.models import Person
from threads.models import Call, Message, Mission, Thread


def threads_for(actor: Person) -> QuerySet[Thread]:
    channels = channels_for(actor).values("pk")
    return Thread.objects.filter(session__channel__in=channels).select_related(
        "session__channel__office", "session__channel__coworker"
    )


def thread_for(actor: Person, thread: str) -> Thread:
    """A thread in a channel the actor may read; `Refused("not_found")` (404) for absent and foreign alike."""
    rows = Thread.objects.select_related("session__channel__office", "session__channel__coworker")
    found = rows.filter(pk=thread).first()
    if found is None or not may_read(actor, found.session.channel):
        raise absent()
    if found.session.channel.person_id == actor.pk:
        found.session.channel.person = actor  # at hand already; whoever asks for the DM's person need not read it
    return found


def check_open(thread: Thread) -> None:
    """Raises `Refused("archived")` (409) when the channel or the session is closed for writing."""
    if thread.session.channel.archived or thread.session.closed:
        raise Refused("archived", status=409)


def message_for(actor: Person, message: str) -> Message:
    """One version of a message, with what its events need."""
    rows = Message.objects.select_related("conversation__thread__session__channel__office", "person", "coworker")
    found = rows.filter(pk=message, conversation__thread__in=threads_for(actor).values("pk")).first()
    if found is None:
        raise absent()
    return found


def mission_for(actor: Person, mission: str) -> Mission:
    rows = Mission.objects.select_related("thread__session__channel__office", "instruction")
    found = rows.filter(pk=mission, thread__in=threads_for(actor).values("pk")).first()
    if found is None:
        raise absent()
    return found


def call_for(actor: Person, call: str) -> Call:
    rows = Call.objects.select_related("provider", "coworker")
    found = rows.filter(pk=call, thread__in=threads_for(actor).values("pk")).first()
    if found is None:
        raise absent()
    return found


def may_follow_thread(person: str, thread: str) -> bool:
    """The gate of `thread:<id>` streams."""
    actor = Person.objects.filter(pk=person, is_active=True).first()
    try:
        return actor is not None and threads_for(actor).filter(pk=thread).exists()
    except Refused:
        return False


def streams_of_channel(channel: str) -> list[str]:
    return [f"thread:{pk}" for pk in Thread.objects.filter(session__channel=channel).values_list("pk", flat=True)]
