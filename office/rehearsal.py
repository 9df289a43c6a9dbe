"""The built-in rehearsal: answers without any model, says so plainly, and repeats what it was sent.

With it every mode can be tried offline, and what reaches a model can be seen before one is connected.
"""

import asyncio
import re
from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Any

from office.chunks import Chunk, Finish, Text, Usage
from office.words import say

QUOTED = 80
PIECE = 6
# A character with what belongs to it: marks, variation selectors, joined emoji, flags. Close enough here.
CLUSTER = re.compile(
    "(?:[\U0001f1e6-\U0001f1ff]{2}|.)"
    "(?:[\u0300-\u036f\u3099\u309a\ufe00-\ufe0f\U0001f3fb-\U0001f3ff\U000e0020-\U000e01ef]|\u200d.)*",
    re.DOTALL,
)


async def rehearse(
    messages: Sequence[Mapping[str, Any]],
    language: str,
    segments_summary: Mapping[str, int],
    *,
    pause_s: float = 0.015,
) -> AsyncGenerator[Chunk, None]:
    """The rehearsal's answer in small pieces, then an empty `Usage` and `Finish("stop")`.

    `segments_summary`: how many pieces of each origin were sent, as {"rules": 1, "history": 6, "mission":
    1}.
    """
    text = rehearsed_text(messages, language, segments_summary)
    clusters = CLUSTER.findall(text)
    for start in range(0, len(clusters), PIECE):
        if pause_s and start:
            await asyncio.sleep(pause_s)
        yield Text("".join(clusters[start : start + PIECE]))
    yield Usage()
    yield Finish("stop")


def rehearsed_text(messages: Sequence[Mapping[str, Any]], language: str, segments_summary: Mapping[str, int]) -> str:
    """The same answer for the same request, always."""
    parts = [
        say("rehearsal.no_model", language),
        say("rehearsal.connect", language),
        say("rehearsal.sent", language, count=len(messages), origins=_origins(segments_summary, language)),
    ]
    asked = quoted(_last_said(messages))
    if asked:
        parts.append(say("rehearsal.asked", language, text=asked))
    return "\n\n".join(parts)


def quoted(text: str, limit: int = QUOTED) -> str:
    """The beginning of a text on one line, never cut inside a character."""
    clusters = CLUSTER.findall(" ".join(text.split()))
    return "".join(clusters[:limit]) + ("…" if len(clusters) > limit else "")


def _last_said(messages: Sequence[Mapping[str, Any]]) -> str:
    said = (str(item.get("content") or "") for item in reversed(messages) if item.get("role") == "user")
    return next(said, "")


def _origins(summary: Mapping[str, int], language: str) -> str:
    named = []
    for origin, count in summary.items():
        key = f"rehearsal.origin_{origin}"
        word = say(key, language)
        named.append(f"{origin if word == key else word} {count}")
    return say("rehearsal.between", language).join(named)
