"""Turns the bytes of a streamed answer into typed chunks; pure, so every way of splitting can be tried."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from office.chunks import Chunk, Finish, Part, Reasoning, Text, Usage, read_part
from office.model_errors import ModelError, error_from_event
from office.sse import EventDecoder, EventTooLong
from office.thinking import ThoughtFilter


class Answer:
    """What is known of one streamed answer. Feed it reads with `take` until `done`, then go through
    `ending`.

    Whatever came before a failure is given out before the failure is raised.
    """

    def __init__(self, key: str, sent: Mapping[str, Any]) -> None:
        self._key, self._sent = key, sent
        self._events, self._thoughts = EventDecoder(), ThoughtFilter()
        self._usage: Usage | None = None
        self._known = False
        self._problem: ModelError | None = None
        self.finish: str | None = None
        self.done = False

    def take(self, received: bytes | None) -> tuple[list[Chunk], bool]:
        """The chunks these bytes complete (None: the body ended), joined by kind; and whether output came."""
        joined = Part()
        try:
            events = self._events.end() if received is None else self._events.feed(received)
        except EventTooLong:
            self.fail(ModelError("not_a_model_server"))
            events = []
        self.done = self.done or received is None
        for event in events:
            if self.done and received is not None:
                break
            self._read(event, joined)
        return self._pieces(joined), joined.progress

    def fail(self, problem: ModelError) -> None:
        """The stream cannot go on; after the finish reason that is no loss."""
        self._problem, self.done = problem, True

    def ending(self) -> Iterator[Chunk]:
        """The last chunks. Raises `ModelError` when the answer did not end as an answer does."""
        held = self._thoughts.end(complete=self.finish == "stop")
        if held:
            yield Text(held)
        if self._usage:
            yield self._usage
        if self.finish is None:
            raise self._problem or ModelError("no_finish" if self._known else "answer_not_json")
        yield Finish(self.finish)

    def _read(self, event: str, joined: Part) -> None:
        if event.strip() == "[DONE]":
            self.done = True
            return
        try:
            content = json.loads(event)
        except ValueError:
            return self.fail(ModelError("answer_not_json"))
        if not isinstance(content, dict):
            return
        if content.get("error"):
            return self.fail(error_from_event(content, self._key, self._sent))
        part = read_part(content)
        self._known = self._known or "choices" in content
        self._usage, self.finish = part.usage or self._usage, part.finish or self.finish
        joined.text += part.text
        joined.reasoning += part.reasoning
        joined.progress = joined.progress or part.progress

    def _pieces(self, joined: Part) -> list[Chunk]:
        text, thought = self._thoughts.feed(joined.text) if joined.text else ("", "")
        reasoning = joined.reasoning + thought
        return [*([Reasoning(reasoning)] if reasoning else []), *([Text(text)] if text else [])]


def whole_answer(content: Mapping[str, Any]) -> list[Chunk]:
    """The chunks of an answer that came in one piece. Raises `ModelError` when it holds no choice."""
    if not isinstance(content.get("choices"), list) or not content["choices"]:
        raise ModelError("not_a_model_server")
    part, thoughts = read_part(dict(content)), ThoughtFilter()
    text, thought = thoughts.feed(part.text)
    text += thoughts.end(complete=part.finish != "length")
    pieces: list[Chunk | None] = [
        Reasoning(part.reasoning + thought) if part.reasoning or thought else None,
        Text(text) if text else None,
        part.usage,
        Finish(part.finish),
    ]
    return [piece for piece in pieces if piece is not None]
