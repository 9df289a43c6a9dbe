"""The beat: heads of all followed streams in one query a process, and a second look at who may still listen."""

import asyncio

from django.contrib.sessions.models import Session
from django.utils import timezone

from office.live import frames, log, streams
from office.live.hub import Socket, hub
from office.live.pool import in_pool
from office.models import Membership, Person


async def beat_now() -> None:
    """Sends every socket the heads of its streams, and closes those whose sign-in or membership has ended."""
    sockets = list(hub.sockets.values())
    if not sockets:
        return
    await expel_departed(sockets)
    heads = await in_pool(log.heads, list(hub.by_stream))
    parts = {name: f"{frames.encode(name)}:{frames.encode(head)}" for name, head in heads.items()}
    for socket in sockets:
        body = ",".join(parts[name] for name in socket.streams if name in parts)
        socket.offer('{"type":"beat","heads":{' + body + "}}", "beat", False)
    close_silent(sockets)


def close_silent(sockets: list[Socket]) -> None:
    """A client acknowledges every beat; one that has said nothing for three beats is gone."""
    from django.conf import settings

    now = asyncio.get_running_loop().time()
    for socket in sockets:
        if now - socket.seen > 3 * settings.LIVE_BEAT_SECONDS:
            socket.close(frames.SLOW)


async def expel_departed(sockets: list[Socket]) -> None:
    """Re-checks sign-ins, memberships and streams; a removed member stops hearing within one beat at the latest."""
    pairs = [(socket.person, stream) for socket in sockets for stream in socket.streams]
    sessions, people, allowed = await in_pool(
        still_valid, {socket.session for socket in sockets}, {socket.person for socket in sockets}, set(pairs)
    )
    for socket in sockets:
        if socket.session not in sessions or socket.person not in people:
            socket.close(frames.SIGNED_OUT)
    for person, stream in set(pairs) - allowed:
        hub.expel(stream, person)


def still_valid(
    sessions: set[str], people: set[str], pairs: set[tuple[str, str]]
) -> tuple[set[str], set[str], set[tuple[str, str]]]:
    """The sign-ins, people and (person, stream) pairs that still hold; marks those people as present."""
    now = timezone.now()
    alive = set(Session.objects.filter(session_key__in=sessions, expire_date__gt=now).values_list("pk", flat=True))
    active = Membership.objects.filter(person__in=people, person__is_active=True)
    present = set(active.values_list("person_id", flat=True))
    Person.objects.filter(pk__in=present).update(last_seen=now)
    return alive, present, streams.those_who_may(pairs)
