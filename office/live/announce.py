"""The only door by which anything is published: durable events after the commit, ephemeral frames at once."""

from functools import partial
from typing import Any

from django.db import transaction

from office.live import frames
from office.live.models import Event
from office.live.wire import Parcel, wire


def announce(event: Event) -> None:
    """Publishes a copy of a stored event once its transaction has committed; after a rollback nothing is sent.

    `robust`, because a dead layer must not fail a request whose row is stored: the next beat repairs it.
    """
    transaction.on_commit(partial(publish, event), robust=True)


def publish(event: Event) -> None:
    """Hands an event that is already committed to the wire."""
    wire.send(Parcel("event", event.stream_id, frames.event_frame(event)))


def whisper(stream: str, frame: dict[str, Any]) -> None:
    """Publishes a frame that may be lost (typing, presence) to all who follow `stream`."""
    wire.send(Parcel(frame["type"], stream, frames.encode({**frame, "stream": stream})))


def deltas(items: list[dict[str, Any]]) -> None:
    """Publishes the text that runs wrote since the last tick: [{stream, run, attempt, offset, text}]."""
    wire.send_deltas([(item["stream"], frames.encode(item)) for item in items])


def kick(*, session: str | None = None, person: str | None = None) -> None:
    """Closes the sockets of one sign-in, or of a person, in every process (4001) after the commit."""
    subject = f"session:{session}" if session else f"person:{person}"
    transaction.on_commit(partial(wire.send, Parcel("kick", subject, "")), robust=True)


def drop(stream: str, person: str) -> None:
    """Takes a person off a stream in every process after the commit, because a membership ended."""
    transaction.on_commit(partial(wire.send, Parcel("drop", stream, person)), robust=True)
