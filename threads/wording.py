"""What people may write: checks of message text, who is mentioned in it, and cuts that break no character."""

import regex

from office.errors import Refused
from threads.addressing import mentions

__all__ = ["check_text", "excerpt", "grapheme_end", "graphemes_cut", "is_blank", "mentions", "storable"]

LONGEST_TEXT = 200_000
# A cluster is a character as people see it; one with hundreds of accents is a trick and may be cut within.
LONGEST_CLUSTER = 64

# Neither databases nor JSON readers agree on these two, so they are never stored.
NOT_STORABLE = regex.compile("[\\x00\ud800-\udfff]")
# Spaces, controls, default-ignorable code points (zero width, fillers) and the blank Braille pattern.
BLANK = regex.compile(r"[\s\p{Z}\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]*")
LINE_END = regex.compile(r"\r\n?")
CLUSTER = regex.compile(r"\X")


def check_text(text: str, *, field: str = "text", limit: int = LONGEST_TEXT) -> str:
    r"""`text` with its line ends made \n and nothing else changed.

    Raises `Refused`: text_not_storable (NUL or half a surrogate pair; `character`, `position` from 1),
    text_missing (nothing in it can be seen), text_too_long (status 413; `limit`, `length`).
    """
    if bad := NOT_STORABLE.search(text):
        character = f"U+{ord(bad[0]):04X}"
        raise Refused("text_not_storable", field=field, character=character, position=bad.start() + 1)
    text = LINE_END.sub("\n", text)
    if len(text) > limit:
        raise Refused("text_too_long", status=413, field=field, limit=limit, length=len(text))
    if is_blank(text):
        raise Refused("text_missing", field=field)
    return text


def is_blank(text: str) -> bool:
    """Whether a reader would see nothing: spaces, zero-width characters, fillers."""
    return BLANK.fullmatch(text) is not None


def storable(text: str) -> str:
    """What a model wrote, without what no database takes: NUL goes, half a surrogate pair becomes U+FFFD."""
    return str(NOT_STORABLE.sub(lambda bad: "" if bad[0] == "\0" else "\ufffd", text))


def graphemes_cut(text: str, limit: int) -> str:
    """The first `limit` characters as people count them: no emoji, flag or accented letter is cut in two."""
    end = 0
    for _, cluster in zip(range(limit), CLUSTER.finditer(text), strict=False):
        end = cluster.end()
    return text[:end]


def grapheme_end(text: str, most: int) -> int:
    """The largest index up to `most` at which `text` can be cut without breaking a character."""
    if most >= len(text):
        return len(text)
    end = 0
    for cluster in CLUSTER.finditer(text):
        if cluster.end() > most:
            return max(end, most) if cluster.end() - end > LONGEST_CLUSTER else end
        end = cluster.end()
    return end


def excerpt(text: str, limit: int) -> str:
    """One line of at most `limit` visible characters for notices and lists, with … where it was cut."""
    beginning = text[: limit * LONGEST_CLUSTER]
    line = " ".join(beginning.split())
    kept = graphemes_cut(line, limit)
    return kept if kept == line and beginning == text else f"{kept.rstrip()}…"
