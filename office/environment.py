"""Reads settings from the environment and fails loudly, in one sentence, on a value it cannot take."""

import os
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

from django.core.exceptions import ImproperlyConfigured


def flag(name: str, default: bool = False) -> bool:
    """True for 1/true/yes/on, False for 0/false/no/off; anything else is refused."""
    raw = os.environ.get(name)
    if raw is None or raw == "":
        return default
    if raw.lower() in {"1", "true", "yes", "on"}:
        return True
    if raw.lower() in {"0", "false", "no", "off"}:
        return False
    raise ImproperlyConfigured(f"{name} must be true or false, but it is {raw!r}.")


def text(name: str, default: str = "") -> str:
    """The value as written, or `default` when it is absent or empty."""
    return os.environ.get(name) or default


def number(name: str, default: int) -> int:
    """A whole number."""
    raw = os.environ.get(name, "")
    try:
        return int(raw) if raw else default
    except ValueError:
        raise ImproperlyConfigured(f"{name} must be a whole number, but it is {raw!r}.") from None


def words(name: str, default: str = "") -> list[str]:
    """A comma-separated list; empty parts are dropped."""
    return [part.strip() for part in os.environ.get(name, default).split(",") if part.strip()]


def data_folder() -> Path:
    """Where everything the office keeps lives: `OFFICE_DATA`, or `office-data` under the working directory."""
    return Path(os.environ.get("OFFICE_DATA") or Path.cwd() / "office-data").resolve()


def secret(name: str, folder: Path) -> str:
    """The value of `name`, or one made at random on first start and kept in `folder`, readable by its owner alone."""
    if os.environ.get(name):
        return os.environ[name]
    path = folder / f"{name.lower()}.txt"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        fresh = folder / f"{path.name}.{os.getpid()}"
        fresh.touch(mode=0o600)
        fresh.write_text(os.urandom(32).hex())
        try:
            os.link(fresh, path)  # the first of several processes wins; the others read its value
        except FileExistsError:
            pass
        finally:
            fresh.unlink()
    return path.read_text().strip()


# Connections are kept by the threads of two bounded pools (office/http.py, office/live/pool.py), so their number is
# bounded too; opening one costs 2 ms. With a thread a request, as ASGI does by itself, this would leak them.
KEPT: dict[str, Any] = {"CONN_MAX_AGE": None, "CONN_HEALTH_CHECKS": True}


def database(folder: Path) -> dict[str, Any]:
    """`DATABASE_URL` (postgres://…) or SQLite in the data folder, in WAL with IMMEDIATE transactions.

    DEFERRED transactions gave 52 lock errors in 480 contended read-modify-writes, IMMEDIATE none.
    """
    address = os.environ.get("DATABASE_URL", "")
    if not address:
        return sqlite(folder / "office.sqlite3")
    parts = urlparse(address)
    if parts.scheme not in {"postgres", "postgresql"}:
        raise ImproperlyConfigured("DATABASE_URL must start with postgres:// (leave it out for SQLite).")
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": unquote(parts.path.lstrip("/")),
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": unquote(parts.hostname or ""),
        "PORT": str(parts.port or ""),
        **KEPT,
    }


def sqlite(path: Path) -> dict[str, Any]:
    """SQLite as the office needs it; tests use a file too, since threads must share it."""
    return {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": path,
        **KEPT,
        "OPTIONS": {
            "transaction_mode": "IMMEDIATE",
            "timeout": 20,
            "init_command": "PRAGMA journal_mode=WAL;PRAGMA synchronous=NORMAL;PRAGMA foreign_keys=ON;",
        },
        "TEST": {"NAME": str(path.parent / f"test-{os.getpid()}.sqlite3")},
    }


def channel_layer() -> dict[str, Any]:
    """Redis pub/sub when `REDIS_URL` is set, else the layer inside this process.

    Pub/sub, not the core layer: it is 1.6 to 7 times faster in fan-out and is not hit by redis-py 8's five-second
    socket timeout. The socket timeout is given all the same.
    """
    address = os.environ.get("REDIS_URL", "")
    if not address:
        return {"BACKEND": "channels.layers.InMemoryChannelLayer", "CONFIG": {"capacity": 5000}}
    host = {"address": address, "socket_timeout": None}
    return {"BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer", "CONFIG": {"hosts": [host]}}
