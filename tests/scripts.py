"""What the scripted model server can answer: stories (streams), refusals, pages, echoes; all plain values."""

import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

CUT = object()  # a step: the connection is dropped here, in mid-stream
AUTO = object()  # usage is sent when the request asked for it
# str: a piece of text; dict: a delta as given; bytes: sent as they are; number: a pause in seconds;
# threading.Event: a gate the server waits at; CUT.
Step = Any
Sender = Callable[[Any], "Answer"]


@dataclass(frozen=True)
class Answer:
    """One scripted answer: either `steps` (a stream) or a whole `body` with its status and headers."""

    steps: tuple[Step, ...] | None = None
    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    kind: str = "text/event-stream; charset=utf-8"
    text: str = ""
    finish: str | None = "stop"
    usage: Any = AUTO
    make: Sender | None = None  # builds the answer from the request's body

    def head(self) -> list[tuple[bytes, bytes]]:
        """The response headers as ASGI wants them."""
        pairs = {"content-type": self.kind, **self.headers}
        return [(name.lower().encode(), value.encode()) for name, value in pairs.items()]


def event(content: Any) -> bytes:
    """One SSE event whose data is `content` as JSON."""
    return b"data: " + json.dumps(content, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n\n"


def chunk(delta: Any, finish: str | None = None) -> dict[str, Any]:
    """One chat.completion.chunk."""
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}


def usage_chunk(prompt: int = 10, completion: int = 5, **more: Any) -> bytes:
    """The chunk with usage and an empty list of choices."""
    usage = {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}
    return event({**chunk({}), "choices": [], "usage": {**usage, **more}})


def story(
    *steps: Step,
    finish: str | None = "stop",
    usage: Any = AUTO,
    role: bool = True,
    done: bool = True,
    headers: Mapping[str, str] | None = None,
) -> Answer:
    """A stream. `usage`: AUTO (10 and 5 tokens when asked for), None (never), or a pair sent in any case.

    `finish=None` leaves the finish reason out, `done=False` the closing [DONE], `role=False` the first,
    role-only chunk.
    """
    spoken_text = "".join(step for step in steps if isinstance(step, str))
    sent = [event(chunk({"role": "assistant", "content": ""}))] if role else []
    sent += [_encoded(step) for step in steps]
    sent += [event(chunk({}, finish))] if finish else []
    sent += [usage_chunk(*usage)] if isinstance(usage, tuple) else []
    whole = Answer(tuple(sent), text=spoken_text, finish=finish, usage=usage, headers=headers or {})
    ending = (b"data: [DONE]\n\n",) if done else ()
    if usage is not AUTO:
        return replace(whole, steps=(*sent, *ending))
    return replace(whole, make=lambda body: _with_usage(whole, body, ending))


def _with_usage(whole: Answer, body: Any, ending: tuple[bytes, ...]) -> Answer:
    asked = isinstance(body, dict) and (body.get("stream_options") or {}).get("include_usage")
    counts = (usage_chunk(),) if asked else ()
    return replace(whole, steps=(*(whole.steps or ()), *counts, *ending), make=None)


def _encoded(step: Step) -> Step:
    if isinstance(step, str):
        return event(chunk({"content": step}))
    return event(chunk(step)) if isinstance(step, dict) else step


def chat_completion(text: str, finish: str | None = "stop", usage: Any = None) -> dict[str, Any]:
    """A whole (not streamed) chat completion."""
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": finish}
    plain = {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
    prompt, completion = usage if isinstance(usage, tuple) else (10, 5)
    counts = {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}
    return plain if usage is None else {**plain, "usage": counts}


def spoken(answer: Answer, body: Any) -> Answer:
    """A story told in one piece, for requests that do not stream; other answers stay as they are."""
    if answer.steps is None:
        return answer
    return json_answer(chat_completion(answer.text, answer.finish, answer.usage))


def json_answer(content: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Answer:
    """A whole JSON body."""
    raw = json.dumps(content, ensure_ascii=False).encode()
    return Answer(status=status, body=raw, headers=headers or {}, kind="application/json")


def page(html: str = "<!doctype html><h1>502 Bad Gateway</h1>", status: int = 200) -> Answer:
    """An HTML page where a model's answer was expected."""
    return Answer(status=status, body=html.encode(), kind="text/html")


def echo() -> Answer:
    """Answers with the JSON of the messages the request carried."""
    return Answer((), make=lambda body: _told(json.dumps(body["messages"], ensure_ascii=False), body))


def _told(text: str, body: Any) -> Answer:
    told = story(text)
    return told.make(body) if told.make else told


def refusal(
    status: int,
    message: str,
    code: str | None = None,
    param: str | None = None,
    headers: Mapping[str, str] | None = None,
) -> Answer:
    """An error in the shape OpenAI gives it."""
    problem = {"message": message, "type": "invalid_request_error", "param": param, "code": code}
    return json_answer({"error": problem}, status, headers)


def key_refused(key: str = "sk-not-a-key") -> Answer:
    """401; like some servers it repeats the key."""
    return refusal(401, f"Incorrect API key provided: {key}.", "invalid_api_key")


def not_allowed() -> Answer:
    """403."""
    return refusal(403, "Country or region not supported.", "unsupported_country_region_territory")


def model_missing(name: str = "m") -> Answer:
    """404 for a model."""
    return refusal(404, f"The model `{name}` does not exist.", "model_not_found")


def rate_limited(retry_after: float | None = 7) -> Answer:
    """429 that goes away by waiting."""
    headers = {} if retry_after is None else {"retry-after": str(retry_after)}
    return refusal(429, "Rate limit reached.", "rate_limit_exceeded", headers=headers)


def quota_exhausted() -> Answer:
    """429 that waiting does not cure."""
    return refusal(429, "You exceeded your current quota, please check your plan.", "insufficient_quota")


def server_error(status: int = 500) -> Answer:
    """500, or another 5xx."""
    return refusal(status, "The server had an error while processing your request.", "server_error")


def context_too_long() -> Answer:
    """400 for a prompt that does not fit."""
    words = "This model's maximum context length is 4096 tokens, your messages resulted in 5000 tokens."
    return refusal(400, words, "context_length_exceeded", "messages")


def content_filtered() -> Answer:
    """400 of a content filter."""
    return refusal(400, "The response was filtered due to the prompt.", "content_filter")


def unknown_parameter(name: str) -> Answer:
    """400 that names the parameter it does not take."""
    return refusal(400, f"Unrecognized request argument supplied: {name}", "unknown_parameter", name)


def gate() -> threading.Event:
    """A gate for a story: the server waits there until the test sets it."""
    return threading.Event()
