"""Storing what a coworker said, and closing its mission. Called by runs, inside the run's own transaction."""

from typing import Any

from django.utils import timezone

from office.live import log
from office.live.models import Stream
from threads.actions.edit import add_version, newest_version
from threads.actions.post import next_message
from threads.events import message_body, mission_body
from threads.models import Message, Mission, MissionState, Thread


def store_answer(stream: Stream, mission: Mission, *, number: int | None, **fields: Any) -> Message:
    """A coworker's answer: a new message under its instruction, or a new version at `number`.

    `fields`: coworker, text, html, state, error, run. The caller holds the stream's lock and checked the attempt.
    """
    thread = Thread.objects.select_related("session__channel__office").get(pk=mission.thread_id)
    before = find_current(thread, number) if number else None
    if before is None:
        message = next_message(thread, anchor=mission.instruction.anchor, mission=mission, **fields)
        message.conversation.thread = thread
        body = {"message": message_body(message, versions=1), "message_count": thread.message_count}
        log.append(stream, "message.posted", body)
        return message
    message = add_version(before, version=newest_version(before) + 1, **fields)
    message.conversation.thread = thread
    log.append(stream, "message.edited", {"message": message_body(message)})
    return message


def find_current(thread: Thread, number: int) -> Message | None:
    rows = Message.objects.select_related("conversation").filter(conversation__thread=thread, conversation__key="main")
    return rows.filter(number=number, current=True).first()


def change_mission(stream: Stream, mission: Mission, state: str) -> None:
    """Moves a mission on and tells the thread; the same state again tells nothing."""
    if mission.state == state:
        return
    mission.state = state
    mission.ended = None if state in (MissionState.QUEUED, MissionState.RUNNING) else timezone.now()
    mission.save(update_fields=["state", "ended"])
    log.append(stream, "mission.changed", {"mission": mission_body(mission)})
