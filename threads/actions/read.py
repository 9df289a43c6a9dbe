"""Read marks: they only move forward, and unread is derived from them, never counted."""

from django.db import transaction

from office.events import person_stream
from office.live import log
from office.models import Person
from threads.access import thread_for
from threads.models import ReadMark


@transaction.atomic(durable=True)
def mark_read(actor: Person, *, thread: str, number: int) -> int:
    """Moves the actor's mark to `number` (at most the newest message) and returns where it stands."""
    found = thread_for(actor, thread)
    stream = log.lock(person_stream(actor.pk))
    mark, _ = ReadMark.objects.get_or_create(thread=found, person=actor)
    target = min(number, found.message_count)
    if target > mark.number:
        mark.number = target
        mark.save(update_fields=["number"])
        body = {"thread": found.pk, "channel": found.session.channel_id, "last_read_number": target}
        log.append(stream, "read.moved", body)
    return mark.number
