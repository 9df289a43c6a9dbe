"""Ids that sort by the time they were made and cannot be guessed: 26 characters, 48 bits of time, 80 random."""

import secrets
import time

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"


def new_id() -> str:
    """A fresh id (the ULID layout in lower case)."""
    number = (time.time_ns() // 1_000_000) << 80 | secrets.randbits(80)
    return "".join(ALPHABET[number >> shift & 31] for shift in range(125, -1, -5))
