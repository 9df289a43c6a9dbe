"""`GET /healthz`: each part ok, or why not; 503 when the office cannot do its work."""

import asyncio
import logging
from typing import Any

from channels.layers import get_channel_layer
from django.db import connection
from django.http import HttpRequest, JsonResponse

from office import jobs
from office.live.pool import in_pool
from office.models import Office, Provider, ProviderKind

LOG = logging.getLogger(__name__)
PATIENCE_SECONDS = 2


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
    """Sends a word through the layer and waits for it to come back."""
    channels: Any = get_channel_layer()
    name = await channels.new_channel("health")
    await channels.send(name, {"type": "health"})
    await channels.receive(name)
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
