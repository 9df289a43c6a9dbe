"""Start-up checks: combinations that look fine and lose messages are said in words before anybody is let in."""

from importlib.metadata import version
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning, register


@register()
def layer_reaches_every_process(**_: Any) -> list[CheckMessage]:
    """The in-memory layer ends at the process border: with more than one process it would silently lose events."""
    in_memory = "InMemory" in settings.CHANNEL_LAYERS["default"]["BACKEND"]
    if in_memory and settings.LIVE_PROCESSES > 1:
        return [
            Error(
                "OFFICE_PROCESSES is more than 1, but the channel layer lives inside one process.",
                hint="Set REDIS_URL, or run one process.",
                id="office.E001",
            )
        ]
    return []


@register()
def daphne_is_recent(**_: Any) -> list[CheckMessage]:
    """Before 4.2.2 Daphne had no limit on WebSocket messages and a header smuggling hole (its changelog)."""
    numbers = tuple(int(part) for part in version("daphne").split(".")[:3])
    if numbers < (4, 2, 2):
        return [Error("Daphne is older than 4.2.2.", hint="pip install -U daphne", id="office.E002")]
    return []


@register()
def sqlite_takes_the_lock_first(**_: Any) -> list[CheckMessage]:
    """With DEFERRED transactions two writers end in 'database is locked'."""
    database = settings.DATABASES["default"]
    immediate = database.get("OPTIONS", {}).get("transaction_mode") == "IMMEDIATE"
    if database["ENGINE"].endswith("sqlite3") and not immediate:
        return [Error("SQLite must use IMMEDIATE transactions.", id="office.E003")]
    return []


@register(deploy=True)
def served_over_tls(**_: Any) -> list[CheckMessage]:
    """A public office without TLS sends cookies in the clear."""
    if not settings.BEHIND_TLS:
        return [Warning("OFFICE_BEHIND_TLS is off: cookies travel without TLS.", id="office.W001")]
    return []
