"""Choosing among versions: the one on screen for everybody and in every later request."""

from django.db import transaction

from office.errors import Refused
from office.live import log
from office.live.models import Stream
from office.models import Person
from threads.access import check_open, message_for
from threads.actions.edit import check_mission_over
from threads.events import message_body
from threads.models import Call, Message, MessageState, Mission


@transaction.atomic(durable=True)
def select_version(actor: Person, *, message: str) -> Message:
    """Makes this version the current one. An older question brings the answers it had, and is asked by a repeat.

    Anybody in the thread may choose among answers, only the author among their own words. Refusals: not_yours (403),
    retracted and mission_not_over (409).
    """
    found = message_for(actor, message)
    if found.person_id not in (None, actor.pk):
        raise Refused("not_yours", status=403)
    thread = found.conversation.thread
    check_open(thread)
    stream = log.lock(thread.stream)
    found.refresh_from_db(fields=["current", "state"])
    if found.state == MessageState.RETRACTED:
        raise Refused("retracted", status=409)
    if found.current:
        return found
    make_current(stream, found)
    if found.person_id and found.mission:
        check_mission_over(found.mission)
        Mission.objects.filter(pk=found.mission.pk).update(instruction=found)
        bring_answers(stream, found, found.mission)
    return found


def make_current(stream: Stream, message: Message) -> None:
    rows = Message.objects.filter(conversation=message.conversation_id, number=message.number)
    rows.filter(current=True).update(current=False)
    rows.filter(pk=message.pk).update(current=True)
    message.current = True
    log.append(stream, "message.edited", {"message": message_body(message)})


def bring_answers(stream: Stream, question: Message, mission: Mission) -> None:
    """The newest answers made for this version of the question; the receipts know which those are."""
    sent = Call.objects.filter(mission=mission).values_list("run", "segments")
    runs = {run for run, segments in sent if question.pk in asked(segments)}
    rows = Message.objects.select_related("conversation__thread__session__channel__office", "person", "coworker")
    newest = {row.number: row for row in rows.filter(mission=mission, run__in=runs - {""}).order_by("version")}
    for answer in newest.values():
        if not answer.current:
            make_current(stream, answer)


def asked(segments: list[dict[str, str]]) -> set[str]:
    """The message that a request put as its question."""
    return {segment["source"] for segment in segments if segment["origin"] == "mission" and segment["source"]}
