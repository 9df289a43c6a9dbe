"""Takes thoughts that a server left inside the text (`<think>…</think>` at its start) out of the answer."""

OPEN, CLOSE = "<think>", "</think>"


class ThoughtFilter:
    """Feed it text pieces, get (answer, thought) pieces.

    Only a tag at the very start of the answer opens a thought; the same characters later, in a code
    sample say, are text. Thoughts that never close are handed back as the answer at the end, so an answer
    is never swallowed.
    """

    def __init__(self) -> None:
        self._held = ""  # characters that may be part of a tag
        self._state = "start"  # start -> inside -> after, or start -> after
        self._thought = ""

    def feed(self, piece: str) -> tuple[str, str]:
        """What of the text so far is certain, as (answer, thought)."""
        if self._state == "after":
            return piece, ""
        self._held += piece
        return self._open() if self._state == "start" else self._inside()

    def end(self, complete: bool) -> str:
        """What was held back; the unclosed thought too, unless the answer was cut short before it closed."""
        held, self._held = self._held, ""
        if self._state == "inside":
            return self._thought + held if complete else ""
        return held

    def _open(self) -> tuple[str, str]:
        start = self._held.lstrip()
        if start.startswith(OPEN):
            self._state, self._held = "inside", start[len(OPEN) :]
            return self._inside()
        if OPEN.startswith(start):
            return "", ""
        self._state, text, self._held = "after", self._held, ""
        return text, ""

    def _inside(self) -> tuple[str, str]:
        thought, closed, answer = self._held.partition(CLOSE)
        if closed:
            self._state, self._held = "after", ""
            return answer.lstrip("\n"), thought
        kept = next((size for size in range(len(CLOSE) - 1, 0, -1) if self._held.endswith(CLOSE[:size])), 0)
        certain = self._held[: len(self._held) - kept]
        self._held = self._held[len(certain) :]
        self._thought += certain
        return "", certain
