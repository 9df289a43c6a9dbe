"""What is asked of a model, and the exact body that goes out for it; pure."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from office.chunks import Usage
from office.model_errors import ModelError
from office.providers import Endpoint

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
    return encoded(list(messages))


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


def request_body(ask: Ask, streamed: bool) -> dict[str, Any]:
    """The request as it goes out; usage is asked for unless the endpoint is known to refuse the question."""
    body = {"model": ask.model, "messages": list(ask.messages), **sent_parameters(ask), "stream": streamed}
    if streamed and "stream_options" not in ask.endpoint.unsupported:
        body["stream_options"] = {"include_usage": True}
    return body


def encoded(content: Any) -> bytes:
    """`content` as the bytes of compact JSON."""
    try:
        return json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
    except UnicodeEncodeError:
        raise ModelError("unsendable_text") from None
    except (TypeError, ValueError):
        raise ModelError("bad_request") from None
