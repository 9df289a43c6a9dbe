"""The one clock of a bench: what is written in one process is read in another, by monotonic microseconds."""

import time

MARK = b"t="  # followed by the 15 digits of the time something was written
DIGITS = 15


def now_us() -> int:
    return time.monotonic_ns() // 1000


def stamp() -> str:
    """What a message carries so that any process can tell its age."""
    return f"t={now_us():0{DIGITS}d}"


def age_us(body: bytes, start: int = 0) -> int:
    """Microseconds since the first mark at or after `start` in `body` was written."""
    at = body.index(MARK, start) + len(MARK)
    return now_us() - int(body[at : at + DIGITS])
