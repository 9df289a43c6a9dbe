"""Every string on screen stands in both languages, and code asks only for words that exist."""

import re
import string
from pathlib import Path

from office.words import LANGUAGES, table

ROOT = Path(__file__).resolve().parents[2]


def placeholders(sentence: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(sentence) if name}


def test_every_entry_has_both_languages() -> None:
    assert [
        key for key, pair in table().items() if any(not pair.get(language, "").strip() for language in LANGUAGES)
    ] == []


def test_both_languages_name_the_same_values() -> None:
    assert [key for key, pair in table().items() if placeholders(pair["ja"]) != placeholders(pair["en"])] == []


def test_every_refusal_has_a_sentence() -> None:
    asked = set()
    for folder in ("office", "threads", "memory", "modes"):
        for path in (ROOT / folder).rglob("*.py"):
            asked |= set(re.findall(r"Refused\(\s*\"(\w+)\"", path.read_text(encoding="utf-8")))
    assert [code for code in sorted(asked) if f"errors.{code}" not in table()] == []


def test_every_fault_of_a_model_has_a_sentence() -> None:
    from office.model_errors import CODES, RETRYABLE

    codes = set(CODES.values()) | RETRYABLE | {"not_json", "not_a_model_server", "bad_request", "unknown_parameter"}
    assert [code for code in sorted(codes) if f"errors.{code}" not in table()] == []


def test_the_page_asks_only_for_words_that_exist() -> None:
    asked = set()
    for path in (ROOT / "office/web").rglob("*.js"):
        asked |= set(re.findall(r"\bsay\(\s*[\"'`]([a-z_]+\.[a-z_0-9]+)[\"'`]", path.read_text(encoding="utf-8")))
    for path in (ROOT / "office/web").rglob("*.html"):
        asked |= set(re.findall(r"{%\s*say\s+\"([a-z_]+\.[a-z_0-9]+)\"", path.read_text(encoding="utf-8")))
    assert asked
    assert [key for key in sorted(asked) if key not in table()] == []
