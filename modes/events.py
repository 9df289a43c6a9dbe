"""Turns runs into event payloads and API bodies."""

from math import ceil
from typing import Any

from modes.models import Run, RunState
from office.words import say
from threads.events import moment

NAMED = {"does_not_fit": "errors.does_not_fit_whom"}  # a run keeps the code of a refusal, but not its figures
PAUSES = ("rate_limited", "server_error")  # a server that refuses for a while may say for how long


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
    if text is None:
        return body
    phase = "writing" if text and run.state == RunState.RUNNING else run.phase
    return {**body, "phase": phase, "text": text, "offset": len(text)}


def run_error(run: Run) -> dict[str, Any] | None:
    if not run.error:
        return None
    language = run.thread.session.channel.office.language
    key = NAMED.get(run.error, f"errors.{run.error}")
    if run.retry_after and run.error in PAUSES:
        key = "errors.pause_named"
    sentence = say(key, language, seconds=ceil(run.retry_after or 0), name=run.coworker.name)
    return {"code": run.error, "message": sentence, "retry_after": run.retry_after}
