"""`GET /healthz`: each part ok, or why not; 503 when the office cannot do its work."""

import asyncio
import logging
from contextlib import suppress
from typing import Any

from channels.layers import get_channel_layer
from django.db import connection
from django.http import HttpRequest, JsonResponse

from office import jobs
from office.ids import new_id
from office.live.hub import Socket, hub
from office.live.pool import in_pool
from office.live.relay import relay
from office.live.wire import GROUP, wire
from office.models import Office, Provider, ProviderKind

LOG = logging.getLogger(__name__)
PATIENCE_SECONDS, ROUND_SECONDS = 2, 0.2


async def healthz(request: HttpRequest) -> JsonResponse:
    """Asks the database and the layer now; says nothing of keys, addresses or people."""
    parts = {"database": await ask(database()), "channel_layer": await ask(layer()), "jobs": job_engine()}
    parts["model_endpoints"] = await ask(endpoints())
    sound = all(part["ok"] for name, part in parts.items() if name != "model_endpoints")
    body = {"ok": sound, **parts}
    return JsonResponse(body, status=200 if sound else 503)


async def ask(question: Any) -> dict[str, Any]:
    """The answer, or why there was none within the patience."""
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            return {"ok": True, **(await question)}
    except Exception as error:
        LOG.warning("health: %s", error)
        return {"ok": False, "why": type(error).__name__}


async def database() -> dict[str, Any]:
    return {"kind": await in_pool(ping)}


def ping() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return connection.vendor


async def layer() -> dict[str, Any]:
    """Sends a parcel by the way that events take, through the layer and this process's relay, and waits for it.

    Nothing is left behind on the layer: a channel of the probe's own would stay subscribed with Redis.
    """
    relay.ensure_running()
    channels: Any = get_channel_layer()
    ear, stream = Socket(new_id(), "", ""), f"health:{new_id()}"
    hub.join(ear, stream)
    try:
        message = {"type": "live.parcels", "origin": wire.process, "parcels": [["health", stream, "heard"]]}
        while True:  # again: a relay that has just begun does not listen at once
            await channels.group_send(GROUP, message)
            with suppress(TimeoutError):
                await asyncio.wait_for(ear.take(), ROUND_SECONDS)
                break
    finally:
        hub.leave(ear, stream)
    return {"kind": type(channels).__name__}


def job_engine() -> dict[str, Any]:
    return {"ok": True} if jobs.engine.alive else {"ok": False, "why": "not running in this process"}


async def endpoints() -> dict[str, Any]:
    """How many endpoints there are, and whether any but the rehearsal."""
    return await in_pool(count_endpoints)


def count_endpoints() -> dict[str, Any]:
    rows = Provider.objects.filter(office__in=Office.objects.all(), retired=None)
    connected = rows.exclude(kind=ProviderKind.REHEARSAL).count()
    return {"connected": connected, **({} if connected else {"note": "rehearsal only"})}
