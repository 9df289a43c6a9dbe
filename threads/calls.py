"""The one door to a model: every request is recorded with its receipt, streamed, and settled here.

The receipt is stored before the request leaves, so that it exists also when the process dies in the middle. What is
stored is what is sent: the same list object goes to both.
"""

import asyncio
import hashlib
import json
import time
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from django.utils import timezone

from office.chunks import Chunk, Finish, Reasoning, Text, Usage
from office.endpoints import chunks_from
from office.live.pool import in_pool
from office.model_errors import ModelError
from office.models import Coworker, Provider
from threads.models import Call, CallState

Messages = list[dict[str, str]]
NEVER_READ = {"unreachable", "address_refused", "cannot_unseal", "no_sealing_key", "bad_sealing_key", "unsendable_text"}


def hash_of(messages: Messages) -> str:
    """SHA-256 over the messages as JSON without spaces, as UTF-8; anyone can compute it again from the receipt."""
    text = json.dumps(messages, ensure_ascii=False, separators=(",", ":"))
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True)
class Prepared:
    """A request that has been built but not sent."""

    thread: str
    mission: str | None
    run: str
    coworker: Coworker
    provider: Provider
    model: str
    messages: Messages
    segments: list[dict[str, Any]]
    left_out: list[dict[str, Any]]
    tokens: dict[str, Any]
    parameters: dict[str, Any]
    attempt: int = 1
    purpose: str = "answer"

    def open(self) -> AsyncGenerator[Chunk, None]:
        """Sends the request; the very list that the receipt holds."""
        origins = Counter(segment["origin"] for segment in self.segments)
        return chunks_from(
            self.provider,
            model=self.model,
            messages=self.messages,
            parameters=self.parameters,
            origins=dict(origins),
            language=self.coworker.language,
        )


@dataclass(frozen=True)
class Recorded:
    """A request whose receipt is stored: the only thing that can be sent."""

    call: str
    prepared: Prepared


@dataclass
class Sent:
    """A request on its way: iterate over it for its chunks; its fields tell what came of it."""

    call: str
    prepared: Prepared
    count: Callable[[str], int]
    text: str = ""
    reasoning_chars: int = 0
    usage: Usage | None = None
    finish: str | None = None
    first_token_ms: float | None = None
    started: float = field(default_factory=time.monotonic)

    async def chunks(self) -> AsyncGenerator[Chunk, None]:
        """The chunks of the answer as they come; raises `ModelError`, also for a stream without a finish reason."""
        pieces: list[str] = []
        try:
            # Closing the stream closes the connection, so that the server stops writing when nobody listens.
            async with aclosing(self.prepared.open()) as answer:
                async for chunk in answer:
                    self.note(chunk)
                    if isinstance(chunk, Text):
                        pieces.append(chunk.text)
                    yield chunk
        finally:
            self.text = "".join(pieces)

    def note(self, chunk: Chunk) -> None:
        """Keeps what the settling needs."""
        if isinstance(chunk, Usage):
            self.usage = chunk
        elif isinstance(chunk, Finish):
            self.finish = chunk.reason
        else:
            self.note_first()
            self.reasoning_chars += len(chunk.text) if isinstance(chunk, Reasoning) else 0

    def note_first(self) -> None:
        if self.first_token_ms is None:
            self.first_token_ms = (time.monotonic() - self.started) * 1000


@asynccontextmanager
async def send(recorded: Recorded, count: Callable[[str], int]) -> AsyncIterator[Sent]:
    """Hands out a request whose receipt is stored, and settles the call however the block ends.

    `count` counts tokens of the answer when the server reports no usage; such figures are marked as estimated.
    """
    sent = Sent(recorded.call, recorded.prepared, count)
    try:
        yield sent
    except asyncio.CancelledError:
        await asyncio.shield(in_pool(settle, sent, CallState.STOPPED, None))
        raise
    except ModelError as error:
        await in_pool(settle, sent, CallState.FAILED, error)
        raise
    except Exception:
        await in_pool(settle, sent, CallState.FAILED, ModelError("server_fault"))
        raise
    await in_pool(settle, sent, CallState.DONE if sent.finish == "stop" else CallState.CUT, None)


def record(prepared: Prepared) -> Recorded:
    """Stores the call with its receipt, before anything is sent."""
    call = Call.objects.create(
        thread_id=prepared.thread,
        mission_id=prepared.mission,
        coworker=prepared.coworker,
        provider=prepared.provider,
        run=prepared.run,
        purpose=prepared.purpose,
        attempt=prepared.attempt,
        model=prepared.model,
        messages=prepared.messages,
        segments=prepared.segments,
        left_out=prepared.left_out,
        tokens=prepared.tokens,
        parameters=prepared.parameters,
        hash=hash_of(prepared.messages),
    )
    return Recorded(call.pk, prepared)


def settle(sent: Sent, state: str, error: ModelError | None) -> None:
    """Writes what came of a call: usage (reported, or estimated and marked so), cost, latency, and the fault."""
    usage = {} if error and was_refused(error) else usage_body(sent)
    Call.objects.filter(pk=sent.call).update(
        state=state,
        finish_reason=sent.finish or "",
        error=error.code if error else "",
        error_words=(error.provider_words or "")[:500] if error else "",
        usage=usage,
        cost=cost_of(sent.prepared, usage),
        first_token_ms=sent.first_token_ms,
        latency_ms=(time.monotonic() - sent.started) * 1000,
        ended=timezone.now(),
    )


def was_refused(error: ModelError) -> bool:
    """Whether the request was turned away before a model read it: then nothing was used and nothing is owed."""
    return (error.status or 0) >= 400 or error.code in NEVER_READ


def usage_body(sent: Sent) -> dict[str, Any]:
    """Tokens as the server reported them, else as counted here."""
    if sent.usage and sent.usage.prompt is not None:
        used = sent.usage
        total = used.total if used.total is not None else (used.prompt or 0) + (used.completion or 0)
        body = {"prompt": used.prompt, "completion": used.completion, "total": total}
        return {**body, "cached": used.cached, "reasoning": used.reasoning, "source": "reported"}
    prompt, completion = sent.prepared.tokens.get("total", 0), sent.count(sent.text)
    return {"prompt": prompt, "completion": completion, "total": prompt + completion, "source": "estimated"}


def cost_of(prepared: Prepared, usage: dict[str, Any]) -> dict[str, Any] | None:
    """The price by the endpoint's price list (per million tokens); None where nobody entered one."""
    price = prepared.provider.prices.get(prepared.model)
    if not price or not usage:
        return None
    cached = usage.get("cached") or 0
    fresh = max(0, (usage["prompt"] or 0) - cached)
    parts = ((fresh, "input"), (cached, "cached"), (usage["completion"] or 0, "output"))
    amount = sum(tokens * float(price.get(kind, price.get("input", 0))) for tokens, kind in parts) / 1_000_000
    return {"amount": round(amount, 8), "currency": price.get("currency", "USD"), "source": usage["source"]}


def close_abandoned(run: str) -> None:
    """Calls of a run whose process died: stopped, with what was reserved as an estimate."""
    for call in Call.objects.filter(run=run, state=CallState.SENT):
        call.state, call.ended = CallState.FAILED, timezone.now()
        call.error = "interrupted"
        call.usage = {
            "prompt": call.tokens.get("total", 0),
            "completion": None,
            "total": None,
            "source": "estimated",
        }
        call.save(update_fields=["state", "ended", "error", "usage"])
