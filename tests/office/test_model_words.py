"""Every code that the way to a model can fail with has a sentence in both languages."""

import re
from pathlib import Path

import pytest

import office
from office.words import table

SOURCES = ("llm", "asking", "answer", "model_errors", "net", "secrets")
RAISED = re.compile(r'(?:ModelError|AddressRefused|SecretsUnusable)\(\s*"([a-z_]+)"')
NAMED = re.compile(r'"([a-z]+(?:_[a-z]+)+)"')


def codes():
    folder = Path(office.__file__).parent
    raised = {code for name in SOURCES for code in RAISED.findall((folder / f"{name}.py").read_text())}
    chosen = (folder / "model_errors.py").read_text().split("def _code(")[1].split("def _parameter(")[0]
    timed = set(re.findall(r'"(timed_out_[a-z]+)"', (folder / "llm.py").read_text()))
    return sorted(raised | timed | {word for word in NAMED.findall(chosen) if word not in {"role_name"}})


@pytest.mark.parametrize("code", codes())
def test_a_code_has_its_sentence_in_both_languages(code):
    assert set(table()[f"errors.{code}"]) == {"ja", "en"}


def test_no_two_files_fight_for_one_sentence():
    folder = Path(office.__file__).parent / "words"
    keys = [
        line.split(" = ")[0]
        for path in folder.glob("errors*.toml")
        for line in path.read_text().splitlines()
        if " = {" in line
    ]
    assert len(keys) == len(set(keys))
