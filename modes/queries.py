"""Reads that need everything: the snapshot of a thread with its running answers, and the sidebar."""

from datetime import timedelta
from typing import Any

from django.db.models import OuterRef, Subquery
from django.utils import timezone

from modes.events import run_body
from modes.models import LIVE, Run, RunState
from modes.stream import ticker
from office.access import channels_for, coworkers_for, members_for, membership_for
from office.events import channel_body, coworker_body, member_body, office_stream, person_stream
from office.live import log
from office.models import Channel, Membership, Person, Role
from threads.actions import sit
from threads.models import Thread
from threads.queries import open_threads, read_marks, thread_view

SHOWN_ENDS = 50
PRESENT = timedelta(seconds=60)  # three beats, each of which marks who is here


def thread_snapshot(actor: Person, thread: Thread) -> dict[str, Any]:
    """A thread as a screen needs it. The position is read before the data: doubles are possible, holes are not."""
    epoch, seq = log.head(thread.stream)
    view = thread_view(thread)
    return {
        **view,
        "epoch": epoch,
        "seq": seq,
        "runs": shown_runs(thread),
        "coworkers": list(map(coworker_body, coworkers_for(actor))),
    }


def shown_runs(thread: Thread) -> list[dict[str, Any]]:
    """Runs that are going on, and newest ones that ended without leaving a message."""
    newest = Run.objects.filter(mission=OuterRef("mission"), coworker=OuterRef("coworker")).order_by("-created", "-pk")
    rows = Run.objects.filter(thread=thread, pk=Subquery(newest.values("pk")[:1]))
    rows = rows.select_related("mission__instruction", "coworker", "thread__session__channel__office")
    rows = rows.order_by("created", "pk")
    live = list(rows.filter(state__in=LIVE))
    ended = rows.filter(state__in=[RunState.FAILED, RunState.STOPPED], message="")
    return [run_body(run, text=text_so_far(run)) for run in [*reversed(list(ended.reverse()[:SHOWN_ENDS])), *live]]


def text_so_far(run: Run) -> str:
    """The text in this process's memory, or what was saved last."""
    live = ticker.live.get(run.pk)
    return live.text if live and live.token == run.attempt_token else run.partial


def partial_of(run: Run) -> dict[str, Any]:
    """What a client needs to go on with deltas: the whole text so far and its attempt."""
    text = text_so_far(run)
    live = ticker.live.get(run.pk)
    thought = live.reasoning_chars if live else 0
    return {
        "run": run.pk,
        "attempt": run.attempt,
        "offset": len(text),
        "text": text,
        "reasoning_chars": thought,
        "state": run.state,
    }


def sidebar(actor: Person) -> dict[str, Any]:
    """Everything at the left of the page, with the positions of the two streams that keep it fresh."""
    member = membership_for(actor)
    office = member.office
    public = None if member.role == Role.GUEST else office_stream(office)  # guests know only their channels
    heads = {name: log.head(name) for name in (public, person_stream(actor.pk)) if name}
    channels = list(channels_for(actor).order_by("kind", "created", "pk"))
    states = coworker_states(office.pk)
    return {
        "channels": channel_rows(actor, channels),
        "coworkers": [{**coworker_body(one), "state": states.get(one.pk, "idle")} for one in coworkers_for(actor)],
        "people": [person_row(one) for one in members_for(actor)],
        "stream": position(public, heads) if public else None,
        "me_stream": position(person_stream(actor.pk), heads),
    }


def person_row(member: Membership) -> dict[str, Any]:
    """A person and whether they are here. Only lists say so: in an event it would be untrue a minute later."""
    seen = member.person.last_seen
    return {**member_body(member), "present": seen is not None and timezone.now() - seen < PRESENT}


def position(name: str, heads: dict[str, tuple[str, int]]) -> dict[str, Any]:
    epoch, seq = heads[name]
    return {"name": name, "epoch": epoch, "seq": seq}


def channel_rows(actor: Person, channels: list[Channel]) -> list[dict[str, Any]]:
    """Channels with their thread, its position, and how far the actor has read."""
    threads = open_threads(channels)
    for channel in channels:
        if channel.pk not in threads:
            threads[channel.pk] = sit.open_thread(channel)
    heads = log.heads([thread.stream for thread in threads.values()])
    counts = dict(Thread.objects.filter(pk__in=[t.pk for t in threads.values()]).values_list("pk", "message_count"))
    marks = read_marks(actor, list(threads.values()))
    return [channel_row(channel, threads[channel.pk], heads, counts, marks) for channel in channels]


def channel_row(
    channel: Channel,
    thread: Thread,
    heads: dict[str, tuple[str, int]],
    counts: dict[str, int],
    marks: dict[str, int],
) -> dict[str, Any]:
    epoch, seq = heads[thread.stream]
    return {
        **channel_body(channel),
        "thread": thread.pk,
        "session": thread.session_id,
        "stream": thread.stream,
        "epoch": epoch,
        "seq": seq,
        "message_count": counts[thread.pk],
        "last_read_number": marks.get(thread.pk, 0),
    }


def coworker_states(office: str) -> dict[str, str]:
    """What each coworker is doing, derived from its runs, never counted: writing, reading, waiting or idle."""
    order = {"writing": 3, "reading": 2, "waiting": 1}
    states: dict[str, str] = {}
    rows = Run.objects.filter(state__in=LIVE, coworker__office=office)
    for pk, coworker, state in rows.values_list("pk", "coworker_id", "state"):
        live = ticker.live.get(pk)
        phase = "writing" if live and live.length else ("reading" if state == RunState.RUNNING else "waiting")
        if order[phase] > order.get(states.get(coworker, ""), 0):
            states[coworker] = phase
    return states
