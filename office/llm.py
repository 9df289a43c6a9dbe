"""Speaks to OpenAI-compatible model servers and does nothing else: ask, stream chunks, give up in time.

The openai package makes the requests and the errors; connections (`office/transport.py`) and events
(`office/answer.py`) are ours. A streamed chunk costs 490 µs of CPU with the package's own, 110 µs with
ours, and 75 µs once 400 streams run at a time.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable
from contextlib import aclosing, asynccontextmanager
from typing import Any, TypeVar

import httpx2
import openai

from office.answer import Answer, whole_answer
from office.asking import (
    Ask,
    Completion,
    encoded,
    messages_json,
    request_body,
    sent_parameters,
    without_roles,
)
from office.chunks import Chunk, Finish, Reasoning, Text, Usage
from office.model_errors import ModelError, error_from_connection, error_from_event, error_from_status
from office.net import AddressRefused
from office.providers import Endpoint, borrowed_client, close_clients, passing_client, request_headers

__all__ = [
    "Ask",
    "Chunk",
    "Completion",
    "Endpoint",
    "Finish",
    "ModelError",
    "Reasoning",
    "Text",
    "Usage",
    "close_clients",
    "complete",
    "list_models",
    "messages_json",
    "sent_parameters",
    "stream",
    "without_roles",
]
Kind = TypeVar("Kind")
CONNECT_S = 10.0
AFTER_FINISH_S = 3.0  # what may still come after the finish reason: usage, [DONE]
DRAIN_S = 0.1  # reading the end of the body lets the connection be used again
WHOLE_LIMIT = 16 * 1024 * 1024


async def stream(ask: Ask) -> AsyncGenerator[Chunk, None]:
    """The answer as chunks; `Usage` (if reported) and `Finish` come last, once. Raises `ModelError`.

    Leaving early must close the connection, so iterate inside `contextlib.aclosing(stream(ask))`; a
    cancelled task then closes it at once, at whatever point it stands. Everything received before an
    error has been yielded.
    """
    body = request_body(ask, streamed=True)
    watch = Watch(ask)
    async with borrowed_client(ask.endpoint) as client, _sent(ask, body, watch, client) as response:
        if "json" in _kind(response):
            for chunk in _finished(whole_answer(await _content(ask, response, watch))):
                yield chunk
            return
        answer = Answer(ask.endpoint.key, body)
        async with aclosing(response.aiter_bytes()) as arrivals:
            while not answer.done:
                for chunk in await _next_chunks(answer, arrivals, watch):
                    yield chunk
            for chunk in answer.ending():
                yield chunk
            await _drain(arrivals)


async def complete(ask: Ask) -> Completion:
    """The answer in one piece, within `total_s`. Raises `ModelError`; `finish` is `length` if it was cut."""
    body = request_body(ask, streamed=False)
    watch = Watch(ask, whole=True)
    async with borrowed_client(ask.endpoint) as client, _sent(ask, body, watch, client) as response:
        chunks = whole_answer(await _content(ask, response, watch))
    return Completion(
        text="".join(chunk.text for chunk in chunks if isinstance(chunk, Text)),
        reasoning="".join(chunk.text for chunk in chunks if isinstance(chunk, Reasoning)),
        usage=next((chunk for chunk in chunks if isinstance(chunk, Usage)), None),
        finish=next((chunk.reason for chunk in chunks if isinstance(chunk, Finish)), None),
    )


async def list_models(endpoint: Endpoint, limit_s: float = 10) -> list[str]:
    """The models an endpoint offers. Raises `ModelError`; also the cheapest test of key and address."""
    ask = Ask(endpoint, "", (), total_s=limit_s)
    watch = Watch(ask, whole=True)
    async with passing_client(endpoint) as client, _sent(ask, None, watch, client) as response:
        content = await _content(ask, response, watch)
    listed = content.get("data") or content.get("models") or []
    if not isinstance(listed, list) or not {"data", "models"} & set(content):
        raise ModelError("not_a_model_server")
    names = [item.get("id") or item.get("name") for item in listed if isinstance(item, dict)]
    return [name for name in names if isinstance(name, str)]


class Watch:
    """The time limits of one request: how long the next wait may take, and what its end is called."""

    def __init__(self, ask: Ask, whole: bool = False) -> None:
        self._now = asyncio.get_running_loop().time
        self._total, self._between = self._now() + ask.total_s, ask.between_s
        self._next = self._total if whole else self._now() + ask.first_token_s
        self._code = "timed_out_first"

    def progress(self) -> None:
        """Output came: the next may take `between_s` from here."""
        self._next, self._code = self._now() + self._between, "timed_out_between"

    def finishing(self) -> None:
        """The finish reason came: what follows is a courtesy."""
        self._next = self._now() + AFTER_FINISH_S

    async def wait(self, outcome: Awaitable[Kind]) -> Kind:
        """What was awaited, or the `ModelError` that names the limit it ran into."""
        when = min(self._next, self._total)
        try:
            async with asyncio.timeout_at(when):
                return await outcome
        except TimeoutError:
            raise ModelError("timed_out_total" if when == self._total else self._code) from None


async def _next_chunks(answer: Answer, arrivals: AsyncIterator[bytes], watch: Watch) -> list[Chunk]:
    """Waits for the next read. A loss is noted in the answer, which knows whether it matters."""
    try:
        received = await watch.wait(anext(arrivals, None))
    except httpx2.TransportError:
        answer.fail(ModelError("cut_off"))
        return []
    except ModelError as late:
        answer.fail(late)
        return []
    unfinished = answer.finish is None
    chunks, progress = answer.take(received)
    if answer.finish is not None and unfinished:
        watch.finishing()
    elif progress:
        watch.progress()
    return chunks


@asynccontextmanager
async def _sent(
    ask: Ask, body: dict[str, Any] | None, watch: Watch, client: openai.AsyncOpenAI
) -> AsyncIterator[httpx2.Response]:
    """Sends the request and gives the response while its body is still on the way; closes it in any case."""
    if not (ask.endpoint.key.isascii() and ask.endpoint.key.isprintable()):
        raise ModelError("key_refused")  # such a key cannot even be put into a header
    response = await watch.wait(_request(ask, body, client))
    async with aclosing(response):
        if "html" in _kind(response):
            raise ModelError("not_a_model_server", status=response.status_code)
        yield response


async def _request(ask: Ask, body: dict[str, Any] | None, client: openai.AsyncOpenAI) -> httpx2.Response:
    options: Any = {
        "headers": request_headers(ask.endpoint),
        "timeout": httpx2.Timeout(None, connect=CONNECT_S),
    }
    raw: Any = {
        "cast_to": httpx2.Response,
        "stream": True,
        "stream_cls": openai.AsyncStream,
        "options": options,
    }
    try:
        if body is None:
            return await client.get("/models", **raw)  # type: ignore[no-any-return]
        return await client.post("/chat/completions", content=encoded(body), **raw)  # type: ignore[no-any-return]
    except openai.APIStatusError as problem:
        raise error_from_status(problem, ask.endpoint.key, body or {}) from None
    except openai.APIConnectionError as problem:
        raise error_from_connection(problem) from None
    except AddressRefused as problem:
        raise ModelError("address_refused", provider_words=problem.code) from None


async def _content(ask: Ask, response: httpx2.Response, watch: Watch) -> dict[str, Any]:
    """The whole body as a JSON object."""
    raw = await watch.wait(_read(response))
    try:
        content = json.loads(raw)
    except ValueError:
        raise ModelError("answer_not_json", status=response.status_code) from None
    if not isinstance(content, dict):
        raise ModelError("not_a_model_server", status=response.status_code)
    if content.get("error"):
        raise error_from_event(content, ask.endpoint.key, {"messages": ask.messages, **ask.parameters})
    return content


async def _read(response: httpx2.Response) -> bytes:
    parts, size = [], 0
    try:
        async for part in response.aiter_bytes():
            parts.append(part)
            size += len(part)
            if size > WHOLE_LIMIT:
                raise ModelError("not_a_model_server")
    except httpx2.TransportError:
        raise ModelError("cut_off") from None
    return b"".join(parts)


async def _drain(arrivals: AsyncIterator[bytes]) -> None:
    try:
        async with asyncio.timeout(DRAIN_S):
            async for _ in arrivals:
                pass
    except (TimeoutError, httpx2.TransportError):
        return


def _finished(chunks: list[Chunk]) -> list[Chunk]:
    """The stream's promise for servers that answer in one piece: no finish reason is an error."""
    if any(isinstance(chunk, Finish) and chunk.reason is None for chunk in chunks):
        raise ModelError("no_finish")
    return chunks


def _kind(response: httpx2.Response) -> str:
    return response.headers.get("content-type", "").lower()
