"""Posting a message, and giving the mission it carries."""

from collections.abc import Iterable
from typing import Any, NamedTuple
from uuid import UUID

from django.db import IntegrityError, transaction

from office import jobs
from office.counters import count_up
from office.errors import Refused
from office.live import log
from office.live.models import Stream
from office.models import Channel, ChannelKind, Coworker, Person
from threads.access import check_open, thread_for
from threads.addressing import mentions
from threads.events import message_body, mission_body
from threads.markdown import render
from threads.models import Conversation, Message, Mission, Session, Thread
from threads.wording import check_text


class Given(NamedTuple):
    """What the job engine is handed inside the transaction: a mission, its coworkers, and the locked stream."""

    stream: Stream
    mission: Mission
    coworkers: list[Coworker]
    again: bool = False  # given before: earlier answers get a version beside them


class Posted(NamedTuple):
    message: Message
    mission: Mission | None
    made: bool  # False when this send had been stored before
    coworkers: list[Coworker] | None = None  # whom a mission just given is for


def post_message(
    actor: Person, *, thread: str, client_msg_id: UUID, text: str, to: Iterable[str] | None = None
) -> Posted:
    """Stores what a person says and, where it addresses coworkers, makes a mission of it.

    The same `client_msg_id` again gives the message that is there; with another text it is `Refused("id_reused")`
    (409). Other refusals: text_* of `wording`, not_found, archived, coworker_retired, dm_coworkers_only.
    """
    found = thread_for(actor, thread)
    text = check_text(text)
    html = render(text)  # before the transaction: a long text takes its time
    try:
        check_open(found)
        addressed = addressees(found.session.channel, text, to)
        return store(actor, found, client_msg_id=client_msg_id, text=text, html=html, addressed=addressed)
    except (IntegrityError, Refused):  # stored by an earlier try, whatever has changed since
        again = sent_before(actor, client_msg_id, text, found)
        if again is None:
            raise
        return again


def sent_before(actor: Person, client_msg_id: UUID, text: str, thread: Thread) -> Posted | None:
    """What an earlier try of this send stored."""
    thread_rows = "conversation__thread__session__channel__office"
    rows = Message.objects.select_related(thread_rows, "person", "coworker", "mission__instruction")
    message = rows.filter(person=actor, client_msg_id=client_msg_id).first()
    if message is None:
        return None
    if message.text != text or message.conversation.thread_id != thread.pk:
        raise Refused("id_reused", status=409, field="client_msg_id")
    return Posted(message, message.mission, made=False)


@transaction.atomic(durable=True)
def store(
    actor: Person, thread: Thread, *, client_msg_id: UUID, text: str, html: str, addressed: list[Coworker]
) -> Posted:
    """One message with its number, its mission, its events; all or nothing."""
    stream = log.lock(thread.stream)
    mission = next_mission(actor, thread) if addressed else None
    message = next_message(
        thread, person=actor, text=text, html=html, client_msg_id=client_msg_id, mission_id=mission and mission.pk
    )
    body = message_body(message, versions=1)
    log.append(stream, "message.posted", {"message": body, "message_count": thread.message_count})
    if mission:
        give(stream, mission, message, addressed)
    return Posted(message, mission, made=True, coworkers=addressed)


def next_message(thread: Thread, *, anchor: int | None = None, **fields: Any) -> Message:
    """The next message of the thread's conversation. The caller holds the stream's lock."""
    number, conversation = count_up(Conversation, "last_number", thread_id=thread.pk, key="main")
    thread.message_count, _ = count_up(Thread, "message_count", id=thread.pk)
    message = Message(conversation_id=conversation, number=number, anchor=anchor or number, **fields)
    message.save(force_insert=True)
    message.conversation = Conversation(pk=conversation, thread=thread, last_number=number)
    return message


def next_mission(actor: Person, thread: Thread) -> Mission:
    """A mission that has its number and no instruction yet; `give` completes and stores it."""
    number, _ = count_up(Session, "mission_count", id=thread.session_id)
    kind = thread.session.channel.kind
    return Mission(session_id=thread.session_id, thread=thread, number=number, source=kind, given_by=actor)


def give(stream: Stream, mission: Mission, instruction: Message, coworkers: list[Coworker]) -> Mission:
    """Stores a mission for `coworkers`, tells the thread, and makes it a job."""
    mission.instruction = instruction
    mission.save(force_insert=True)
    through = Mission.coworkers.through
    through.objects.bulk_create([through(mission=mission, coworker=coworker) for coworker in coworkers])
    log.append(stream, "mission.accepted", {"mission": mission_body(mission, coworkers)})
    jobs.enqueue("mission", Given(stream, mission, coworkers))
    return mission


def addressees(channel: Channel, text: str, to: Iterable[str] | None) -> list[Coworker]:
    """Who must answer: in a DM its coworker, elsewhere those named by `to` or mentioned in the text, in that order."""
    if channel.kind == ChannelKind.DM and channel.coworker:
        staff = [channel.coworker]
        named = [channel.coworker.pk]
    else:
        members = channel.members.exclude(coworker=None).select_related("coworker")
        staff = [member.coworker for member in members if member.coworker]
        live = {coworker.name: coworker.pk for coworker in staff if not coworker.retired}
        named = list(dict.fromkeys([*(to or []), *mentions(text, live)]))
    return [addressee(staff, id) for id in named]


def addressee(staff: list[Coworker], id: str) -> Coworker:
    """The coworker with that id, able to answer."""
    found = next((coworker for coworker in staff if coworker.pk == id), None)
    if found is None:
        raise Refused("dm_coworkers_only", field="to")
    if found.retired:
        raise Refused("coworker_retired", status=409, field="to", name=found.name)
    return found
