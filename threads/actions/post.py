"""Posting a message, and giving the mission it carries."""

from collections.abc import Iterable
from typing import NamedTuple
from uuid import UUID

from django.db import IntegrityError, transaction

from office import jobs
from office.errors import Refused
from office.live import log
from office.models import Channel, ChannelKind, Coworker, Person
from threads.access import check_open, thread_for
from threads.addressing import mentions
from threads.events import message_body, mission_body
from threads.markdown import render
from threads.models import Conversation, Message, Mission, Session, Thread
from threads.wording import check_text


class Posted(NamedTuple):
    message: Message
    mission: Mission | None
    made: bool  # False when this send had been stored before


def post_message(
    actor: Person, *, thread: str, client_msg_id: UUID, text: str, to: Iterable[str] | None = None
) -> Posted:
    """Stores what a person says and, where it addresses coworkers, makes a mission of it.

    The same `client_msg_id` again gives the message that is there; with another text it is `Refused("id_reused")`
    (409). Other refusals: text_* of `wording`, not_found, archived, coworker_retired, dm_coworkers_only.
    """
    found = thread_for(actor, thread)
    text = check_text(text)
    before = sent_before(actor, client_msg_id, text, found)
    if before:
        return before
    check_open(found)
    addressed = addressees(found.session.channel, text, to)
    html = render(text)  # before the transaction: a long text takes its time
    try:
        return store(actor, found, client_msg_id=client_msg_id, text=text, html=html, addressed=addressed)
    except IntegrityError:
        again = sent_before(actor, client_msg_id, text, found)
        if again is None:
            raise
        return again


def sent_before(actor: Person, client_msg_id: UUID, text: str, thread: Thread) -> Posted | None:
    """What an earlier try of this send stored."""
    rows = Message.objects.select_related("conversation__thread__session__channel__office", "person", "coworker")
    message = rows.filter(person=actor, client_msg_id=client_msg_id).first()
    if message is None:
        return None
    if message.text != text or message.conversation.thread_id != thread.pk:
        raise Refused("id_reused", status=409, field="client_msg_id")
    return Posted(message, Mission.objects.filter(instruction=message).first(), made=False)


@transaction.atomic(durable=True)
def store(
    actor: Person, thread: Thread, *, client_msg_id: UUID, text: str, html: str, addressed: list[Coworker]
) -> Posted:
    """One message with its number, its mission, its events; all or nothing."""
    stream = log.lock(thread.stream)
    message = next_message(thread, person=actor, text=text, html=html, client_msg_id=client_msg_id)
    mission = give(actor, message, addressed) if addressed else None
    message.conversation.thread = thread
    log.append(
        stream,
        "message.posted",
        {"message": message_body(message, versions=1), "message_count": thread.message_count},
    )
    if mission:
        log.append(stream, "mission.accepted", {"mission": mission_body(mission)})
        jobs.enqueue("mission", mission.pk)
    return Posted(message, mission, made=True)


def next_message(thread: Thread, *, anchor: int | None = None, **fields: object) -> Message:
    """The next message of the thread's conversation. The caller holds the stream's lock."""
    conversation = Conversation.objects.get(thread=thread, key="main")
    conversation.last_number += 1
    conversation.save(update_fields=["last_number"])
    number = conversation.last_number
    thread.message_count = number
    Thread.objects.filter(pk=thread.pk).update(message_count=number)
    message = Message(conversation=conversation, number=number, anchor=anchor or number, **fields)
    message.save(force_insert=True)
    return message


def give(actor: Person, instruction: Message, coworkers: list[Coworker]) -> Mission:
    """A mission for `coworkers`, numbered within its session."""
    thread = instruction.conversation.thread
    session = Session.objects.select_for_update().get(pk=thread.session_id)
    session.mission_count += 1
    session.save(update_fields=["mission_count"])
    mission = Mission.objects.create(
        session=session,
        thread=thread,
        number=session.mission_count,
        instruction=instruction,
        source=thread.session.channel.kind,
        given_by=actor,
    )
    mission.coworkers.set(coworkers)
    instruction.mission = mission
    instruction.save(update_fields=["mission"])
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
