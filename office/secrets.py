"""Seals provider keys before they are stored, and opens them; the database alone gives nothing away.

Sealing keys come from OFFICE_SECRET_KEYS (comma-separated, the newest first) or from `secret.keys` in the
data folder (one a line, the newest first). The first seals; all of them open, so a new one can be put in
front.
"""

import os
from functools import lru_cache
from pathlib import Path

from cryptography.fernet import Fernet, InvalidToken, MultiFernet

PREFIX = "v1:"
FILE_NAME = "secret.keys"


class SecretsUnusable(Exception):
    """No sealing key can be used, or none of those there opens what was sealed.

    `code` is `no_sealing_key`, `bad_sealing_key` or `cannot_unseal`; the message is a sentence for the
    operator and holds no secret.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def ensure_keys(folder: Path) -> None:
    """Writes a random sealing key, readable by its owner alone, unless there is one already."""
    if _from_environment() or _path(folder).exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    fresh = folder / f"{FILE_NAME}.{os.getpid()}"
    handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(Fernet.generate_key() + b"\n")
    try:
        os.link(fresh, _path(folder))  # of several processes that start at once the first wins, all read its key
    except FileExistsError:
        pass
    finally:
        fresh.unlink()


def seal(text: str) -> str:
    """`text` in a form that may be stored."""
    return PREFIX + _box().encrypt(text.encode()).decode()


def open_sealed(sealed: str) -> str:
    """The text that was sealed. Raises `SecretsUnusable`; what never was sealed is not taken for a secret."""
    if not sealed.startswith(PREFIX):
        raise SecretsUnusable("cannot_unseal", "A stored key is not sealed in a known way.")
    try:
        return _box().decrypt(sealed.removeprefix(PREFIX).encode()).decode()
    except (InvalidToken, ValueError):
        raise SecretsUnusable(
            "cannot_unseal",
            "No sealing key of this office opens a stored key; was OFFICE_SECRET_KEYS changed?",
        ) from None


def reseal(sealed: str) -> str:
    """The same secret under the newest key, for rotation."""
    return seal(open_sealed(sealed))


def last4(text: str) -> str:
    """The end of a key, to tell it from others; nothing of a key so short that this would give it away."""
    return text[-4:] if len(text) >= 12 else ""


def _box() -> MultiFernet:
    return _box_of(tuple(_from_environment() or _from_file(_folder())))


@lru_cache(maxsize=4)
def _box_of(keys: tuple[str, ...]) -> MultiFernet:
    if not keys:
        raise SecretsUnusable(
            "no_sealing_key",
            f"Set OFFICE_SECRET_KEYS, or start the office once so that it writes {FILE_NAME}.",
        )
    try:
        return MultiFernet([Fernet(key) for key in keys])
    except ValueError:
        raise SecretsUnusable(
            "bad_sealing_key", "A sealing key must be 32 random bytes in URL-safe base64 (44 characters)."
        ) from None


def _from_environment() -> list[str]:
    return [part.strip() for part in os.environ.get("OFFICE_SECRET_KEYS", "").split(",") if part.strip()]


def _from_file(folder: Path) -> list[str]:
    try:
        return _path(folder).read_text().split()
    except FileNotFoundError:
        return []


def _folder() -> Path:
    from django.conf import settings

    return Path(settings.OFFICE_DATA)


def _path(folder: Path) -> Path:
    return folder / FILE_NAME
