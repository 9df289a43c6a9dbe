"""Writes and reads the event log. The stream's row lock, held to the commit, is what makes the numbers dense."""

from typing import Any

from django.db import connection
from django.db.models import F

from office.errors import Refused
from office.live import announce
from office.live.models import Event, Stream


def open_stream(name: str) -> Stream:
    """The stream called `name`, made if need be."""
    return Stream.objects.get_or_create(name=name)[0]


def lock(name: str) -> Stream:
    """The stream's row, locked until the transaction ends; call it first in every action that appends.

    Raises `Stream.DoesNotExist`, and `TransactionManagementError` outside a transaction.
    """
    return Stream.objects.select_for_update().get(name=name)


def append(stream: Stream, type: str, payload: dict[str, Any]) -> Event:
    """Adds one event and announces it after the commit.

    An event is visible only with the one before it: the update holds the row until the commit. An auto-increment id
    would not give that, since a later id may commit first.
    """
    if not connection.in_atomic_block:
        raise RuntimeError("events are appended inside the transaction that makes the change")
    Stream.objects.filter(name=stream.name).update(last_seq=F("last_seq") + 1)
    stream.refresh_from_db(fields=["last_seq", "epoch"])
    event = Event.objects.create(stream=stream, seq=stream.last_seq, type=type, payload=payload)
    announce.announce(event)
    return event


def head(name: str) -> tuple[str, int]:
    """(epoch, last seq) of a stream; a stream nobody wrote to yet is made here."""
    stream = open_stream(name)
    return stream.epoch, stream.last_seq


def heads(names: list[str]) -> dict[str, tuple[str, int]]:
    """The heads of many streams in one query."""
    rows = Stream.objects.filter(name__in=names).values_list("name", "epoch", "last_seq")
    return {name: (epoch, seq) for name, epoch, seq in rows}


def events_after(name: str, *, after: int, epoch: str | None, limit: int) -> tuple[list[Event], int, str]:
    """Contiguous events after `after` (at most `limit`), the head, and the epoch.

    Raises `Refused("cursor_too_old")` (410) when the epoch differs, when the events were pruned, or when the cursor
    is ahead of the log: the client then reloads the snapshot.
    """
    stream = open_stream(name)
    stale = epoch is not None and epoch != stream.epoch
    if stale or after < stream.pruned_seq or after > stream.last_seq:
        raise Refused("cursor_too_old", status=410, epoch=stream.epoch, head=stream.last_seq)
    rows = Event.objects.filter(stream=stream, seq__gt=after, seq__lte=stream.last_seq).order_by("seq")[:limit]
    return list(rows), stream.last_seq, stream.epoch
