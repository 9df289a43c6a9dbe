"""Carries a run from its queued row to its stored answer. Nothing here outlives the rows: any restart can go on.

No transaction stays open during a model call. A result is stored only by the attempt whose token the row still holds,
so that a late or repeated one can never be a second message.
"""

import asyncio
import logging
import random
from collections import Counter
from collections.abc import Awaitable
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from django.db import IntegrityError, transaction
from django.db.models import Exists, Q
from django.utils import timezone

from memory.tokens import count as count_tokens
from memory.tokens import count_messages
from modes.actions import HANDED, accept_mission, end_run, settle_mission
from modes.events import run_body
from modes.models import LIVE, Phase, Run, RunState
from modes.prompt import build
from modes.scene import scene_of
from modes.stream import LiveText, ticker
from modes.voice import one_voice
from office import jobs
from office.chunks import Chunk, Reasoning, Text
from office.endpoints import note_unsupported, parameters_for
from office.errors import Refused
from office.events import office_stream
from office.ids import new_id
from office.live import announce, log
from office.live.pool import in_pool
from office.model_errors import ModelError
from threads.actions.answer import change_mission, store_answer
from threads.calls import Prepared, Recorded, close_abandoned, record, send
from threads.markdown import render
from threads.models import MessageState, MissionState
from threads.wording import storable

LOG = logging.getLogger(__name__)
T = TypeVar("T")
ATTEMPTS = 3  # the hard ceiling of modes.md section 1.3
PAUSE_SECONDS = 0.5  # before the second attempt twice this, then four times
PATIENCE_SECONDS = 30.0  # a server that asks for a longer pause makes the run fail with that pause named

AT_WORK: Counter[str] = Counter()  # answers in the making, by coworker: one who still writes elsewhere is not idle


@dataclass
class Work:
    """A claimed run: the row, its fence, and the text it has so far."""

    run: Run
    live: LiveText
    first: Recorded | None = None  # the first request, ready to go


def ready(limit: int) -> list[str]:
    """Queued runs that may start: the oldest of each coworker in each thread, while none of its runs is going."""
    busy = set(Run.objects.filter(state=RunState.RUNNING).values_list("thread_id", "coworker_id"))
    chosen = []
    rows = Run.objects.filter(state=RunState.QUEUED).order_by("created", "pk")
    for key, thread, coworker in rows.values_list("pk", "thread_id", "coworker_id").iterator():
        if (thread, coworker) not in busy:
            busy.add((thread, coworker))
            chosen.append(key)
        if len(chosen) >= limit:
            break
    return chosen


def recover() -> None:
    """After a start: what a dead process left running is resumed, or closed with the text it had. Runs once."""
    for run in Run.objects.filter(state=RunState.RUNNING):
        put_in_order(run.pk, run.attempt_token, run.partial)


async def work(key: str) -> None:
    """The job of one run."""
    begun = await to_the_end(in_pool(begin, key))
    if begun is None:
        return
    ticker.open(begun.live)
    AT_WORK[begun.run.coworker_id] += 1
    tell_state(begun.run, "reading")
    try:
        await answer(begun)
    except asyncio.CancelledError:
        ticker.close(begun.live)
        await asyncio.shield(in_pool(put_in_order, begun.run.pk, begun.live.token, begun.live.text))
        raise
    except Exception:
        LOG.exception("run %s failed", key)
        await finish(begun, "failed", "server_fault")
    finally:
        ticker.close(begun.live)
        AT_WORK[begun.run.coworker_id] -= 1
        if not AT_WORK[begun.run.coworker_id]:
            tell_state(begun.run, "idle")


async def to_the_end(step: Awaitable[T]) -> T:
    """Awaits a step that must not be left half done: a cancellation is passed on only after it has ended."""
    task = asyncio.ensure_future(step)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        begun = await task
        if isinstance(begun, Work):
            await asyncio.shield(in_pool(put_in_order, begun.run.pk, begun.live.token, ""))
        raise


def begin(key: str) -> Work | None:
    """Claims a queued run by one conditional update and makes its first request ready, all in one trip to a thread.

    None when somebody else claimed it, when it was stopped meanwhile, or when the coworker is still busy here.
    """
    token = new_id()
    run = HANDED.pop(key, None) or run_with_all(key)
    try:
        with transaction.atomic(durable=True):
            stream = log.lock(run.thread.stream)
            run.state, run.phase, run.attempt, run.attempt_token = (
                RunState.RUNNING,
                Phase.READING,
                run.attempt + 1,
                token,
            )
            run.started = timezone.now()
            fields = {name: getattr(run, name) for name in ("state", "phase", "attempt", "attempt_token", "started")}
            if not Run.objects.filter(~earlier_runs(run), pk=key, state=RunState.QUEUED).update(**fields):
                return None
            log.append(stream, "run.started", {"run": run_body(run)})
            change_mission(stream, run.mission, MissionState.RUNNING)
    except IntegrityError:  # another run of this coworker is going on in this thread
        return None
    begun = Work(run, LiveText(run.pk, run.thread.stream, run.attempt, token))
    try:
        begun.first = prepare(run, 1)
    except Refused:
        pass  # raised again, and answered for, where the run's end is stored
    except Exception:
        LOG.exception("the first request of run %s could not be built", key)
    return begun


def earlier_runs(run: Run) -> Exists:
    """Whether the coworker has an older run in this thread that is not over: answers come in the order of questions."""
    rows = Run.objects.filter(thread=run.thread_id, coworker=run.coworker_id, state__in=LIVE)
    return Exists(rows.filter(Q(created__lt=run.created) | Q(created=run.created, pk__lt=run.pk)))


def run_with_all(key: str) -> Run:
    return Run.objects.select_related(
        "mission__instruction", "mission__thread", "coworker__provider", "thread__session__channel__office",
        "thread__session__channel__person",
    ).get(pk=key)  # fmt: skip


async def answer(begun: Work) -> None:
    """Calls the model, again after a fault that may pass, and stores what came of it."""
    for attempt in range(1, ATTEMPTS + 1):
        try:
            recorded = begun.first if attempt == 1 and begun.first else await in_pool(prepare, begun.run, attempt)
            finish_reason = await call(begun, recorded)
        except ModelError as error:
            if attempt < ATTEMPTS and await try_again(error, begun, attempt):
                continue
            await finish(begun, "failed", error.code, error.retry_after)
        except Refused as refused:  # nothing was sent: no coworker, no key that opens
            await finish(begun, "failed", refused.code)
        else:
            text, invented = one_voice(begun.live.text, begun.run.coworker.name)
            state, code = outcome(finish_reason, text)
            if invented:
                state, code = "cut" if text.strip() else "failed", "cut_impersonation"
            await finish(begun, state, code, text=text)
        return


async def call(begun: Work, recorded: Recorded) -> str | None:
    """One request; returns the finish reason."""
    model = recorded.prepared.model
    async with send(recorded, lambda text: count_tokens(text, model)) as sent, aclosing(sent.chunks()) as chunks:
        async for chunk in chunks:
            take(begun, chunk)
    return sent.finish


def take(begun: Work, chunk: Chunk) -> None:
    """Adds a piece of the answer; what the model thinks is counted and never shown as the answer."""
    if isinstance(chunk, Text):
        if not begun.live.length:
            tell_state(begun.run, "writing")
        begun.live.add(chunk.text)
    elif isinstance(chunk, Reasoning):
        begun.live.reasoning_chars += len(chunk.text)


def outcome(finish_reason: str | None, text: str) -> tuple[str, str]:
    """(message state, error code): only a stream that says it is complete is a success."""
    if not text.strip():
        return "failed", {"content_filter": "content_filter", "length": "truncated_empty"}.get(
            finish_reason or "", "reply_empty"
        )
    if finish_reason == "length":
        return "cut", "length"
    if finish_reason == "content_filter":
        return "cut", "content_filter"
    return "done", ""


async def try_again(error: ModelError, begun: Work, attempt: int) -> bool:
    """Whether to repeat: never once text has come, a refused parameter at once, a passing fault after its pause."""
    if begun.live.length:
        return False
    if error.code == "unknown_parameter" and error.parameter:
        return await in_pool(note_unsupported, begun.run.coworker.provider_id, error.parameter)
    if not error.retryable:
        return False
    own = PAUSE_SECONDS * 2**attempt * random.uniform(0.5, 1)
    pause = own if error.retry_after is None else error.retry_after
    if pause > PATIENCE_SECONDS:
        return False
    await asyncio.sleep(pause)
    return True


def prepare(run: Run, attempt: int) -> Recorded:
    """Builds the request of a run and stores its receipt. Refusals: coworker_retired."""
    coworker = run.coworker
    if coworker.retired:
        raise Refused("coworker_retired", status=409, name=coworker.name)
    if attempt > 1:  # the endpoint may have refused a parameter meanwhile
        coworker.provider.refresh_from_db()
    model = coworker.model or coworker.provider.default_model
    built = build(scene_of(run), partial(count_tokens, model=model))
    weight = count_messages(built.messages, model)
    prepared = Prepared(
        thread=run.thread_id,
        mission=run.mission_id,
        run=run.pk,
        coworker=coworker,
        provider=coworker.provider,
        model=model,
        messages=built.messages,
        segments=built.segments,
        left_out=built.left_out,
        tokens={"total": weight.tokens, "estimated": weight.estimated, "encoding": weight.encoding},
        parameters=parameters_for(coworker),
        attempt=attempt,
    )
    return record(prepared)


async def finish(
    begun: Work, state: str, code: str = "", retry_after: float | None = None, text: str | None = None
) -> None:
    """Stores the answer and closes the run, if this attempt still holds the row; a stop no longer comes between."""
    words = begun.live.text if text is None else text
    end = in_pool(store_end, begun.run.pk, begun.live.token, words, state, code, retry_after)
    await to_the_end(end)


def put_in_order(key: str, token: str, text: str) -> None:
    """A run that was cut short: stopped by a person, or by the server's end.

    With text it is closed and the text kept; without, it goes back to the queue and is answered after the restart.
    """
    run = Run.objects.filter(pk=key).first()
    if run is None or run.attempt_token != token or run.state not in LIVE:
        return
    close_abandoned(key)
    if run.stop_requested:
        store_end(key, token, text, "stopped", "stopped")
    elif text or run.attempt >= ATTEMPTS:
        store_end(key, token, text, "failed", "interrupted")
    else:
        requeue(key, token)


@transaction.atomic(durable=True)
def requeue(key: str, token: str) -> None:
    """Back to the queue, and told so."""
    run = run_with_all(key)
    stream = log.lock(run.thread.stream)
    run.state, run.phase = RunState.QUEUED, Phase.WAITING
    claimed = Run.objects.filter(pk=key, attempt_token=token, state=RunState.RUNNING)
    if claimed.update(state=run.state, phase=run.phase, attempt_token=""):
        log.append(stream, "run.queued", {"run": run_body(run)})


def store_end(key: str, token: str, text: str, state: str, code: str = "", retry_after: float | None = None) -> None:
    """The one place where a run ends. A late attempt finds its token gone and changes nothing."""
    text = storable(text)
    html = render(text)
    thread = Run.objects.values_list("thread_id", flat=True).get(pk=key)
    with transaction.atomic(durable=True):
        stream = log.lock(f"thread:{thread}")
        run = run_with_all(key)
        if run.attempt_token != token or run.state not in LIVE:
            return  # fenced: a stop, or another attempt, came first
        message = ""
        if text.strip():
            stored = store_answer(
                stream, run.mission, number=run.number, coworker=run.coworker, text=text, html=html,
                state=MessageState(state), error=code, run=run.pk,
            )  # fmt: skip
            message = stored.pk
        ended = {"done": "done", "cut": "done"}.get(state, state)
        end_run(stream, run, state=ended, error=code, message=message, retry_after=retry_after)
        settle_mission(stream, run.mission)


def tell_state(run: Run, state: str) -> None:
    """The coworker's state in the sidebar; it may be lost, the next list tells it again."""
    office = run.thread.session.channel.office_id
    announce.whisper(office_stream(office), {"type": "presence", "coworker": run.coworker_id, "state": state})


KIND = jobs.Kind(accept=accept_mission, ready=ready, recover=recover, body=work)
