"""The typed pieces of a model's answer, and the reading of one event of the chat completions dialect."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Text:
    """A piece of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class Reasoning:
    """A piece of what a reasoning model thinks; never part of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts as the provider reported them; None where it said nothing."""

    prompt: int | None = None
    completion: int | None = None
    total: int | None = None
    cached: int | None = None
    reasoning: int | None = None


@dataclass(frozen=True, slots=True)
class Finish:
    """The answer ended: `stop`, `length` (cut at the limit), `content_filter`, `tool_calls` (no text)…

    The reason is None only where there is none to give; a stream that ends without one raises `no_finish`.
    """

    reason: str | None


Chunk = Text | Reasoning | Usage | Finish


@dataclass(slots=True)
class Part:
    """What one event carried. `progress` is False for events that say nothing new (role only, empty)."""

    text: str = ""
    reasoning: str = ""
    finish: str | None = None
    usage: Usage | None = None
    progress: bool = False


def read_part(content: dict[str, Any]) -> Part:
    """Reads a chunk or a whole completion; null deltas and missing choices are taken calmly."""
    part = Part(usage=_usage(content.get("usage")))
    choices = content.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        return part
    choice = choices[0]
    said = choice.get("delta") or choice.get("message")
    if isinstance(said, dict):
        _read_said(said, part)
    finish = choice.get("finish_reason")
    part.finish = finish if isinstance(finish, str) and finish else None
    return part


def _read_said(said: dict[str, Any], part: Part) -> None:
    text, thought = _spoken(said.get("content"))
    refused = said.get("refusal")
    part.text = text or (refused if isinstance(refused, str) else "")
    named = said.get("reasoning_content") or said.get("reasoning")
    part.reasoning = thought or (named if isinstance(named, str) else "")
    part.progress = bool(part.text or part.reasoning or said.get("tool_calls") or said.get("function_call"))


def _spoken(content: Any) -> tuple[str, str]:
    """Text and thoughts; some servers send content as a list of typed parts."""
    if isinstance(content, str):
        return content, ""
    text, thought = "", ""
    for item in content if isinstance(content, list) else ():
        if isinstance(item, dict) and isinstance(item.get("text"), str):
            text += item["text"]
        elif isinstance(item, dict) and item.get("type") == "thinking":
            thought += _spoken(item.get("thinking"))[0]
    return text, thought


def _usage(counts: Any) -> Usage | None:
    if not isinstance(counts, dict):
        return None
    prompt_details = counts.get("prompt_tokens_details")
    completion_details = counts.get("completion_tokens_details")
    cached = _count(prompt_details, "cached_tokens")
    if cached is None:
        cached = _count(counts, "prompt_cache_hit_tokens")
    return Usage(
        prompt=_count(counts, "prompt_tokens"),
        completion=_count(counts, "completion_tokens"),
        total=_count(counts, "total_tokens"),
        cached=cached,
        reasoning=_count(completion_details, "reasoning_tokens"),
    )


def _count(counts: Any, name: str) -> int | None:
    value = counts.get(name) if isinstance(counts, dict) else None
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
