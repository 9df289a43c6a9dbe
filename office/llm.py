"""Speaks to OpenAI-compatible model servers and does nothing else: ask, stream chunks, give up in time.

Connections, keys and error answers go through the openai package; the events are cut and read here,
because its chunk objects cost several times what the rest of a stream costs (measured: 490 µs of CPU a
chunk against 130).
"""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

import httpx2
import openai

from office.answer import Answer, whole_answer
from office.chunks import Chunk, Finish, Reasoning, Text, Usage
from office.model_errors import ModelError, error_from_connection, error_from_event, error_from_status
from office.net import AddressRefused
from office.providers import Endpoint, close_clients, borrowed_client, passing_client, request_headers

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
# The same limit under its old and its new name: a model takes one and refuses the other.
OTHER_NAME = {"max_completion_tokens": "max_tokens", "max_tokens": "max_completion_tokens"}


@dataclass(frozen=True)
class Ask:
    """One question to a model.

    `messages` go out exactly as given. `parameters` are those of chat completions (temperature,
    max_tokens…), less the endpoint's unsupported ones. The limits are seconds: to the first output,
    between outputs, and in all; comments that a server sends to keep the line open do not count as
    output.
    """

    endpoint: Endpoint
    model: str
    messages: Sequence[Mapping[str, Any]]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    first_token_s: float = 45
    between_s: float = 30
    total_s: float = 600


@dataclass(frozen=True)
class Completion:
    """A whole answer."""

    text: str
    reasoning: str
    usage: Usage | None
    finish: str | None


def messages_json(messages: Sequence[Mapping[str, Any]]) -> bytes:
    """The bytes of `messages` as they go out. Raises `ModelError` for text that cannot be sent."""
    return _encoded(list(messages))


def sent_parameters(ask: Ask) -> dict[str, Any]:
    """The parameters that go out: without the unsupported ones, the token limit under its right name."""
    unsupported, sent = ask.endpoint.unsupported, {}
    for name, value in ask.parameters.items():
        other = OTHER_NAME.get(name, name)
        if name not in unsupported:
            sent[name] = value
        elif other not in unsupported:
            sent[other] = value
    return sent


def without_roles(messages: Sequence[Mapping[str, Any]], unsupported: frozenset[str]) -> list[dict[str, Any]]:
    """The messages for a model that refuses the system or developer role: folded into the first user
    message.

    The caller applies it before it records what is sent, since `stream` changes no message.
    """
    refused = {name.removeprefix("role:") for name in unsupported if name.startswith("role:")}
    folded = [str(item["content"]) for item in messages if item["role"] in refused]
    kept = [dict(item) for item in messages if item["role"] not in refused]
    if not folded:
        return kept
    first = next((item for item in kept if item["role"] == "user"), None)
    if first is None:
        return [{"role": "user", "content": "\n\n".join(folded)}, *kept]
    first["content"] = "\n\n".join([*folded, str(first["content"])])
    return kept


async def stream(ask: Ask) -> AsyncGenerator[Chunk, None]:
    """The answer as chunks; `Usage` (if reported) and `Finish` come last, once. Raises `ModelError`.

    Leaving early must close the connection, so iterate inside `contextlib.aclosing(stream(ask))`; a
    cancelled task then closes it at once, at whatever point it stands. Everything received before an
    error has been yielded.
    """
    body = _body(ask, streamed=True)
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
    body = _body(ask, streamed=False)
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
        return await client.post("/chat/completions", content=_encoded(body), **raw)  # type: ignore[no-any-return]
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


def _body(ask: Ask, streamed: bool) -> dict[str, Any]:
    """The request as it goes out; usage is asked for unless the endpoint is known to refuse the question."""
    body = {"model": ask.model, "messages": list(ask.messages), **sent_parameters(ask), "stream": streamed}
    if streamed and "stream_options" not in ask.endpoint.unsupported:
        body["stream_options"] = {"include_usage": True}
    return body


def _encoded(content: Any) -> bytes:
    try:
        return json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
    except UnicodeEncodeError:
        raise ModelError("unsendable_text") from None
    except (TypeError, ValueError):
        raise ModelError("bad_request") from None


def _kind(response: httpx2.Response) -> str:
    return response.headers.get("content-type", "").lower()
