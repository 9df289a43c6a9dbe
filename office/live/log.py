"""Writes and reads the event log. The stream's row lock, held to the commit, is what makes the numbers dense."""

import json
from typing import Any

from django.db import connection
from django.db.transaction import TransactionManagementError

from office.errors import Refused
from office.live import announce
from office.live.models import Event, Stream

LOCK = "SELECT epoch, last_seq, pruned_seq FROM live_stream WHERE name = %s"
NEXT = "UPDATE live_stream SET last_seq = last_seq + 1 WHERE name = %s RETURNING last_seq, epoch"
STORE = "INSERT INTO live_event (stream_id, seq, type, payload, at) VALUES (%s, %s, %s, %s, %s)"


def open_stream(name: str) -> Stream:
    """The stream called `name`, made if need be."""
    return Stream.objects.get_or_create(name=name)[0]


def lock(name: str) -> Stream:
    """The stream's row, locked until the transaction ends; call it first in every action that appends.

    Raises `Stream.DoesNotExist`, and `TransactionManagementError` outside a transaction.
    """
    if not connection.in_atomic_block:
        raise TransactionManagementError("a stream is locked within a transaction")
    with connection.cursor() as cursor:
        cursor.execute(LOCK + (" FOR UPDATE" if connection.features.has_select_for_update else ""), [name])
        row = cursor.fetchone()
    if row is None:
        raise Stream.DoesNotExist(name)
    return Stream(name=name, epoch=row[0], last_seq=row[1], pruned_seq=row[2])


def append(stream: Stream, type: str, payload: dict[str, Any]) -> Event:
    """Adds one event and announces it after the commit.

    An event is visible only with the one before it: the update holds the row until the commit. An auto-increment id
    would not give that, since a later id may commit first. Plain SQL, because this is on the path of every delivery:
    one statement that counts and answers, one that stores, where the ORM needs three and ten times the time.
    """
    if not connection.in_atomic_block:
        raise RuntimeError("events are appended inside the transaction that makes the change")
    event = Event(stream=stream, type=type, payload=payload)
    with connection.cursor() as cursor:
        cursor.execute(NEXT, [stream.name])
        stream.last_seq, stream.epoch = cursor.fetchone()
        event.seq = stream.last_seq
        text = json.dumps(payload, ensure_ascii=False, separators=(",", ":"))
        at = connection.ops.adapt_datetimefield_value(event.at)
        cursor.execute(STORE, [stream.name, event.seq, type, text, at])
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
