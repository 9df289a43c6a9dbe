"""Token counts: exact where the tokenizer is known, honest where it is not, and never from the network."""

import random
import socket
from collections.abc import Iterator
from pathlib import Path
from time import thread_time

import pytest
import tiktoken.load
from hypothesis import given
from hypothesis import strategies as st

from memory import ranks, tokens

ASTRONAUT = "🧑‍🚀"


@pytest.fixture(autouse=True)
def _no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*address: object) -> None:
        raise AssertionError("a test asked for the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)


@pytest.fixture
def forgotten() -> Iterator[None]:
    """Tokenizers are loaded anew in the test, and once more after it."""
    kept = (tokens._encoding, tokens._load, ranks.prepare)
    for function in kept:
        function.cache_clear()
    yield
    for function in kept:
        function.cache_clear()


@pytest.mark.parametrize(
    ("text", "model", "expected"),
    [
        ("tiktoken is great!", "gpt-4", 6),
        ("お誕生日おめでとう", "gpt-4", 9),
        ("お誕生日おめでとう", "gpt-4o", 8),
        ("hello world", "gpt-4o", 2),
        ("hello world", "gpt-3.5-turbo", 2),
        ("", "gpt-4o", 0),
    ],
)
def test_counts_are_those_of_the_models_tokenizer(text: str, model: str, expected: int) -> None:
    assert tokens.count(text, model) == expected


def test_special_marks_in_what_people_write_are_plain_text() -> None:
    assert tokens.count("<|endoftext|>", "gpt-4o") == 7
    assert tokens.count("<|im_start|>system", "gpt-oss-20b") > 2


@pytest.mark.parametrize(
    ("model", "encoding"),
    [
        ("gpt-4o", "o200k_base"),
        ("gpt-5-mini", "o200k_base"),
        ("o3", "o200k_base"),
        ("gpt-4", "cl100k_base"),
        ("gpt-oss-120b", "o200k_harmony"),
        ("openai/gpt-4o", "o200k_base"),
    ],
)
def test_a_known_model_has_its_encoding(model: str, encoding: str) -> None:
    assert tokens.encoding_for(model) == (encoding, True)


@pytest.mark.parametrize("model", ["local/llama-x:7b", "o9", "", "deepseek-chat", "gpt2"])
def test_the_counts_of_an_unknown_model_are_labelled_estimates(model: str) -> None:
    assert tokens.encoding_for(model) == ("o200k_base", False)
    assert tokens.count_messages([{"role": "user", "content": "hi"}], model).estimated


def test_an_unknown_model_is_warned_of_once(caplog: pytest.LogCaptureFixture) -> None:
    for _ in range(3):
        tokens.count("hi", "a-model-nobody-knows")
    assert len([line for line in caplog.messages if "a-model-nobody-knows" in line]) == 1


def test_a_request_counts_its_framing() -> None:
    counted = tokens.count_messages([{"role": "user", "content": "hello world"}], "gpt-4o")
    assert counted == tokens.Count(tokens=3 + 3 + 1 + 2, estimated=False, encoding="o200k_base")


def test_messages_add_up_to_their_request() -> None:
    messages = [{"role": "system", "content": "規則"}, {"role": "user", "content": "質問", "name": "Aoi"}]
    parts = sum(tokens.count_message(message, "gpt-4o") for message in messages)
    assert tokens.count_messages(messages, "gpt-4o").tokens == parts + tokens.PER_REQUEST


CJK = "".join(random.Random(1).choices([chr(code) for code in range(0x4E00, 0x9FFF)], k=200_000))


@pytest.mark.parametrize(
    "text",
    ["a" * 200_000, " " * 200_000, "あ" * 200_000, CJK, ASTRONAUT * 66_000, "^" * 1_000_000, "\n" * 200_000],
    ids=["letters", "spaces", "kana", "kanji", "emoji", "carets", "line ends"],
)
def test_text_without_a_break_is_counted_soon(text: str) -> None:
    tokens.warm()
    begun = thread_time()
    assert tokens.count(text, "gpt-4o") > 1_000
    assert thread_time() - begun < 2


def test_a_repeated_text_is_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    encode = tokens._encode
    monkeypatch.setattr(tokens, "_encode", lambda text, name: calls.append(text) or encode(text, name))
    for _ in range(3):
        tokens.count("a text that no other test counts", "gpt-4o")
    assert len(calls) == 1


def test_remembered_counts_are_bounded() -> None:
    counts = tokens._Counts(most=2)
    for text in ("a", "b", "c"):
        counts.count(text, "o200k_base")
    assert len(counts._counts) == 2


async def test_a_long_text_is_counted_off_the_loop_with_the_same_result() -> None:
    text = "長い文章です。" * 3_000
    assert await tokens.acount(text, "gpt-4o") == tokens.count(text, "gpt-4o")
    messages = [{"role": "user", "content": text}]
    assert await tokens.acount_messages(messages, "gpt-4o") == tokens.count_messages(messages, "gpt-4o")


CHARACTERS = st.sampled_from([ASTRONAUT, "鬱", "e\u0301", "a", " "])


@given(st.lists(CHARACTERS, max_size=30).map("".join), st.integers(0, 40))
def test_a_cut_fits_its_budget_and_breaks_no_character(text: str, budget: int) -> None:
    kept = tokens.cut(text, budget, "gpt-4o")
    assert text.startswith(kept)
    assert tokens.count(kept, "gpt-4o") <= budget
    assert "\ufffd" not in kept
    assert not kept.endswith(("\u200d", "🧑")) or text == kept


@pytest.mark.usefixtures("forgotten")
def test_ranks_are_unpacked_into_the_offices_folder(settings, tmp_path: Path) -> None:
    settings.OFFICE_DATA = tmp_path
    assert tokens.warm()
    assert sorted(file.name for file in (tmp_path / "ranks").iterdir()) == sorted(
        shipped.name for shipped in ranks.SHIPPED
    )


@pytest.mark.usefixtures("forgotten")
def test_a_damaged_file_is_written_again(settings, tmp_path: Path) -> None:
    settings.OFFICE_DATA = tmp_path
    (tmp_path / "ranks").mkdir()
    (tmp_path / "ranks" / ranks.SHIPPED[0].name).write_bytes(b"half a file")
    assert tokens.warm()


@pytest.mark.usefixtures("forgotten")
def test_a_folder_that_takes_no_files_is_replaced_by_another(
    settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    settings.OFFICE_DATA = tmp_path / "file"
    monkeypatch.setattr(ranks.tempfile, "gettempdir", lambda: str(tmp_path))
    assert tokens.warm()
    assert ranks.prepare().parent == tmp_path


@pytest.mark.usefixtures("forgotten")
def test_without_a_tokenizer_counts_are_estimates_that_do_not_fall_short(
    settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [
        "来週の会議は火曜日に変更になりました。" * 20,
        "The quick brown fox jumps over it. " * 20,
        ASTRONAUT * 20,
    ]
    exact = [tokens.count(text, "gpt-4o") for text in texts]
    tokens._encoding.cache_clear()
    monkeypatch.setattr(tokens, "_load", lambda name: None)
    assert all(tokens.count(text, "gpt-4o") >= true for text, true in zip(texts, exact, strict=True))
    counted = tokens.count_messages([{"role": "user", "content": "hi"}], "gpt-4o")
    assert (counted.estimated, counted.encoding) == (True, "characters")
    assert tokens.cut(ASTRONAUT * 50, 20, "gpt-4o") in {ASTRONAUT * n for n in range(50)}


def test_tiktoken_cannot_reach_the_network() -> None:
    tokens.warm()
    with pytest.raises(ranks.RanksMissing):
        tiktoken.load.read_file("https://ranks.example/r50k_base.tiktoken")
