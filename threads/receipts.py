"""A call as people may see it: what was sent, where each part came from, what was left out, and what it cost."""

from typing import Any

from django.db.models import QuerySet

from office.access import runs_office
from office.models import Person
from office.words import say
from threads.events import moment
from threads.models import Call


def call_body(call: Call, actor: Person) -> dict[str, Any]:
    """One request without its messages, in the actor's language."""
    return {
        "id": call.pk,
        "run": call.run or None,
        "thread": call.thread_id,
        "mission": call.mission_id,
        "coworker": call.coworker_id,
        "model": call.model,
        "provider": call.provider_id,
        "provider_name": call.provider.name,
        "provider_kind": call.provider.kind,
        "purpose": call.purpose,
        "attempt": call.attempt,
        "state": call.state,
        "sent_at": moment(call.created),
        "ended_at": moment(call.ended),
        "first_token_ms": call.first_token_ms,
        "latency_ms": call.latency_ms,
        "finish_reason": call.finish_reason or None,
        "error": error_of(call, actor) if call.error else None,
        "usage": call.usage or None,
        "cost": call.cost,
        "parameters": call.parameters,
    }


def without_texts(calls: QuerySet[Call]) -> QuerySet[Call]:
    """Calls as a list needs them: what was sent is read when somebody opens one."""
    return calls.select_related("provider", "coworker").defer("messages", "segments", "left_out")


def error_of(call: Call, actor: Person) -> dict[str, Any]:
    """What went wrong, in our words; the provider's own are for those who run the office."""
    name = call.coworker.name if call.coworker else ""
    error = {"code": call.error, "message": say(f"errors.{call.error}", actor.language, seconds=0, name=name)}
    return {**error, "words": call.error_words} if runs_office(actor) else error


def receipt_body(call: Call, actor: Person) -> dict[str, Any]:
    """The receipt: the messages exactly as they went out, and the account of them."""
    return {
        "call": call_body(call, actor),
        "messages": call.messages,
        "segments": call.segments,
        "left_out": call.left_out,
        "tokens": call.tokens,
        "hash": call.hash,
    }
