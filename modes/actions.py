"""Starting, stopping and repeating runs."""

from functools import partial
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from modes.events import run_body
from modes.models import LIVE, Run, RunState
from office import jobs
from office.errors import Refused
from office.live import log
from office.live.models import Stream
from office.models import Coworker, Person
from threads.access import check_open, message_for, mission_for
from threads.actions.answer import change_mission
from threads.actions.edit import check_mission_over
from threads.actions.post import Given
from threads.models import OPEN_MISSIONS, Message, MessageState, Mission, MissionState


def accept_mission(given: Given) -> list[str]:
    """Queues a run for each coworker of a mission, in the transaction that gives it; returns the runs' keys."""
    stream, mission, coworkers, again = given
    runs = [queue_run(stream, mission, coworker, first=not again) for coworker in coworkers]
    if not again:
        transaction.on_commit(partial(hand_over, runs), robust=True)
    return [run.pk for run in runs]


# Runs just queued by this process, with all that their request had in hand: the claim need not read it again, which
# is a fifth of the time to the first word. A run that is not here is read from the database.
HANDED: dict[str, Run] = {}
HANDED_MOST = 1_000


def hand_over(runs: list[Run]) -> None:
    """After the commit, and only where an engine runs that will take them."""
    if jobs.engine.alive and len(HANDED) < HANDED_MOST:
        HANDED.update({run.pk: run for run in runs})


def queue_run(
    stream: Stream, mission: Mission, coworker: Coworker, *, first: bool = False, client_id: UUID | None = None
) -> Run:
    """One queued run; unless it is the `first`, a version beside the coworker's earlier answer where there is one."""
    if coworker.retired:
        raise Refused("coworker_retired", status=409, name=coworker.name)
    run = Run.objects.create(
        mission=mission,
        thread=mission.thread,
        coworker=coworker,
        number=None if first else answer_number(mission, coworker),
        client_id=client_id,
    )
    log.append(stream, "run.queued", {"run": run_body(run)})
    return run


def answer_number(mission: Mission, coworker: Coworker) -> int | None:
    rows = Message.objects.filter(mission=mission, coworker=coworker, current=True)
    return rows.values_list("number", flat=True).first()


@transaction.atomic(durable=True)
def stop_mission(actor: Person, *, mission: str) -> Mission:
    """Stops what waits, and asks what runs to stop; its partial text is kept. Stopping twice is no error."""
    found = mission_for(actor, mission)
    stream = log.lock(found.thread.stream)
    for run in live_runs(found):
        if run.state == RunState.QUEUED:
            end_run(stream, run, state=RunState.STOPPED, error="stopped")
        else:
            Run.objects.filter(pk=run.pk).update(stop_requested=True)
            jobs.cancel("mission", run.pk)
    settle_mission(stream, found)
    found.refresh_from_db()
    return found


@transaction.atomic(durable=True)
def retry_mission(actor: Person, *, mission: str) -> Mission:
    """New runs for the coworkers whose last one failed or was stopped; while one still runs it is a 409."""
    found = mission_for(actor, mission)
    check_open(found.thread)
    stream = log.lock(found.thread.stream)
    found.refresh_from_db(fields=["state", "instruction"])
    if found.state in OPEN_MISSIONS:
        raise Refused("mission_not_over", status=409)
    if found.instruction.state == MessageState.RETRACTED:
        raise Refused("retracted", status=409)
    again = [run.coworker for run in last_runs(found) if run.state != RunState.DONE]
    if not again:
        raise Refused("mission_over", status=409)
    jobs.start("mission", [queue_run(stream, found, coworker).pk for coworker in again])
    change_mission(stream, found, MissionState.QUEUED)
    return found


@transaction.atomic(durable=True)
def regenerate(actor: Person, *, message: str, client_id: UUID) -> tuple[Mission, Run, bool]:
    """A new version of a coworker's answer beside the old one; (mission, run, newly made).

    The same `client_id` again gives the run that is there.
    """
    answer = message_for(actor, message)
    if answer.coworker is None or answer.mission_id is None:
        raise Refused("not_an_answer", status=409)
    check_open(answer.conversation.thread)
    stream = log.lock(answer.conversation.thread.stream)
    mission = mission_for(actor, answer.mission_id)
    before = runs_of(mission).filter(client_id=client_id).first()
    if before:
        return mission, before, False
    check_mission_over(mission)
    if mission.instruction.state == MessageState.RETRACTED:
        raise Refused("retracted", status=409)
    run = queue_run(stream, mission, answer.coworker, client_id=client_id)
    change_mission(stream, mission, MissionState.QUEUED)
    jobs.start("mission", [run.pk])
    return mission, run, True


def end_run(
    stream: Stream,
    run: Run,
    *,
    state: str,
    error: str = "",
    message: str = "",
    retry_after: float | None = None,
) -> None:
    """Closes a run and tells the thread. The caller holds the stream's lock."""
    run.state, run.error, run.message, run.retry_after = state, error, message, retry_after
    run.ended, run.partial = timezone.now(), ""
    run.save(update_fields=["state", "error", "message", "retry_after", "ended", "partial"])
    event = {"done": "run.finished", "failed": "run.failed", "stopped": "run.stopped"}[state]
    log.append(stream, event, {"run": run_body(run)})


def settle_mission(stream: Stream, mission: Mission) -> None:
    """The mission's state as its coworkers' last runs make it."""
    states = {run.state for run in last_runs(mission)}
    if states & {RunState.RUNNING}:
        change_mission(stream, mission, MissionState.RUNNING)
    elif states & {RunState.QUEUED}:
        change_mission(stream, mission, MissionState.QUEUED)
    elif RunState.FAILED in states:
        change_mission(stream, mission, MissionState.FAILED)
    elif RunState.STOPPED in states:
        change_mission(stream, mission, MissionState.STOPPED)
    else:
        change_mission(stream, mission, MissionState.ANSWERED)


def runs_of(mission: Mission) -> QuerySet[Run]:
    rows = Run.objects.filter(mission=mission).order_by("created", "pk")
    return rows.select_related("coworker", "mission__instruction", "thread__session__channel__office")


def live_runs(mission: Mission) -> list[Run]:
    return list(runs_of(mission).filter(state__in=LIVE))


def last_runs(mission: Mission) -> list[Run]:
    """The newest run of each coworker the mission is for; an edit may have given it to others than at first."""
    rows = runs_of(mission).filter(coworker__missions=mission)
    return list({run.coworker_id: run for run in rows}.values())
