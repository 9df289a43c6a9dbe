"""Every sentence on screen, in Japanese and English, from the `.toml` files beside this module."""

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

LANGUAGES = ("ja", "en")
FOLDER = Path(__file__).parent


@cache
def table() -> dict[str, dict[str, str]]:
    """All entries as {"area.key": {"ja": …, "en": …}}; files named `errors_*` join the area `errors`."""
    entries: dict[str, dict[str, str]] = {}
    for path in sorted(FOLDER.glob("*.toml")):
        area = "errors" if path.stem.startswith("errors_") else path.stem
        for key, pair in tomllib.loads(path.read_text(encoding="utf-8")).items():
            entries[f"{area}.{key}"] = pair
    return entries


@cache
def words_for(language: str) -> dict[str, str]:
    """Every entry in one language, as the page embeds it."""
    return {key: pair[language] for key, pair in table().items()}


def say(key: str, language: str, /, **values: Any) -> str:
    """The sentence for `key`; a key nobody wrote shows itself, so that a gap is seen and not an empty line."""
    language = language if language in LANGUAGES else "en"
    sentence = table().get(key, {}).get(language)
    if sentence is None:
        return key
    try:
        return sentence.format(**values) if values else sentence
    except (KeyError, IndexError):
        return sentence
