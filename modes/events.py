"""Turns runs into event payloads and API bodies."""

from typing import Any

from modes.models import Run
from office.words import say
from threads.events import moment


def run_body(run: Run, *, text: str | None = None) -> dict[str, Any]:
    """A run; `text` is added only where a screen is drawn from nothing (snapshots, `partial`)."""
    body = {
        "id": run.pk,
        "mission": run.mission_id,
        "thread": run.thread_id,
        "coworker": run.coworker_id,
        "mode": run.mode,
        "state": run.state,
        "phase": run.phase,
        "attempt": run.attempt,
        "anchor": run.mission.instruction.anchor,
        "number": run.number,
        "error": run_error(run),
        "message": run.message or None,
        "started": moment(run.started),
        "ended": moment(run.ended),
    }
    return body if text is None else {**body, "text": text, "offset": len(text)}


def run_error(run: Run) -> dict[str, Any] | None:
    if not run.error:
        return None
    language = run.thread.session.channel.office.language
    sentence = say(f"errors.{run.error}", language, seconds=round(run.retry_after or 0))
    return {"code": run.error, "message": sentence, "retry_after": run.retry_after}
