"""The shapes of frames, the protocol version, and the close codes."""

import json
from typing import Any

from office.live.models import Event

VERSION = 1
EVENT_BYTES = 32 * 1024  # a larger event travels as "fetch me"
FRAME_BYTES_IN = 64 * 1024

SIGNED_OUT, NOT_ALLOWED, SLOW, TOO_MANY, RESTARTING, BAD_FRAME = 4001, 4003, 4008, 4009, 4010, 4400
MAY_RETRY = {
    SIGNED_OUT: False,
    NOT_ALLOWED: False,
    SLOW: True,
    TOO_MANY: True,
    RESTARTING: True,
    BAD_FRAME: False,
}


def encode(frame: Any) -> str:
    """One line of JSON. Newlines inside text are escaped by JSON, so lines can be joined and split safely."""
    text = json.dumps(frame, ensure_ascii=False, separators=(",", ":"))
    return text if sendable(text) else json.dumps(frame, separators=(",", ":"))


def sendable(text: str) -> bool:
    """False with half a surrogate pair in it: sending that as UTF-8 would end every socket it is meant for."""
    try:
        return text.isascii() or bool(text.encode())
    except UnicodeEncodeError:
        return False


def parse(text: str | None) -> list[dict[str, Any]] | None:
    """The client's frames, one a line; None when any is no JSON object with a type, or the message is too large."""
    if text is None or len(text) > FRAME_BYTES_IN or len(text.encode()) > FRAME_BYTES_IN:
        return None
    try:
        batch = [json.loads(line) for line in text.split("\n") if line.strip()]
    except (ValueError, RecursionError):
        return None
    sound = all(isinstance(frame, dict) and isinstance(frame.get("type"), str) for frame in batch)
    return batch if batch and sound else None


def event_body(event: Event) -> dict[str, Any]:
    """An event as REST and the socket show it."""
    return {
        "type": "event",
        "stream": event.stream_id,
        "seq": event.seq,
        "event": event.type,
        "payload": event.payload,
        "at": event.at.isoformat().replace("+00:00", "Z"),
    }


def event_frame(event: Event) -> str:
    """The encoded live frame; too large a payload is left out and `fetch` tells the client to ask over REST."""
    text = encode(event_body(event))
    if len(text.encode()) <= EVENT_BYTES:
        return text
    return encode({**event_body(event), "payload": None, "fetch": True})
