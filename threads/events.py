"""The one place that turns the rows of a thread into event payloads and API bodies. All values are absolute."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from office.models import Coworker
from office.words import say
from threads.models import Message, MessageState, Mission, Thread


def moment(at: datetime | None) -> str | None:
    """UTC, ISO 8601 with Z."""
    return at.isoformat().replace("+00:00", "Z") if at else None


def author_body(message: Message) -> dict[str, Any]:
    if message.coworker:
        return {
            "kind": "coworker",
            "id": message.coworker_id,
            "name": message.coworker.name,
            "title": message.coworker.title,
        }
    if message.person:
        return {"kind": "person", "id": message.person_id, "name": message.person.name}
    return {"kind": "system", "id": None, "name": ""}


def error_body(code: str, language: str) -> dict[str, str] | None:
    """What went wrong, in the office's language."""
    return {"code": code, "message": say(f"errors.{code}", language)} if code else None


def message_body(message: Message, *, versions: int | None = None) -> dict[str, Any]:
    """One version of a message; a retracted one keeps its place and loses its words."""
    retracted = message.state == MessageState.RETRACTED
    language = message.conversation.thread.session.channel.office.language
    return {
        "id": message.pk,
        "number": message.number,
        "anchor": message.anchor,
        "version": message.version,
        "versions": versions if versions is not None else count_versions(message),
        "current": message.current,
        "kind": message.kind,
        "author": author_body(message),
        "text": "" if retracted else message.text,
        "html": "" if retracted else message.html,
        "state": message.state,
        "error": error_body(message.error, language),
        "client_msg_id": str(message.client_msg_id) if message.client_msg_id else None,
        "mission": message.mission_id,
        "run": message.run or None,
        "created": moment(message.created),
    }


def count_versions(message: Message) -> int:
    return Message.objects.filter(conversation=message.conversation_id, number=message.number).count()


def mission_body(mission: Mission, coworkers: Iterable[Coworker] | None = None) -> dict[str, Any]:
    """A mission; `coworkers` saves a query where the caller has them."""
    return {
        "id": mission.pk,
        "number": mission.number,
        "thread": mission.thread_id,
        "instruction": mission.instruction_id,
        "instruction_number": mission.instruction.number,
        "coworkers": [coworker.pk for coworker in (mission.coworkers.all() if coworkers is None else coworkers)],
        "source": mission.source,
        "state": mission.state,
        "created": moment(mission.created),
        "ended": moment(mission.ended),
    }


def thread_body(thread: Thread, conversation: str) -> dict[str, Any]:
    return {
        "id": thread.pk,
        "channel": thread.session.channel_id,
        "session": thread.session_id,
        "kind": thread.kind,
        "mode": thread.mode,
        "title": thread.title,
        "conversation": conversation,
        "message_count": thread.message_count,
    }
