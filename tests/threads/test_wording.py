"""What people may send, whom it mentions, and where it may be cut."""

import json
from time import thread_time

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from office.errors import Refused
from office.words import say
from threads.wording import (
    check_text,
    excerpt,
    grapheme_end,
    graphemes_cut,
    is_blank,
    mentions,
    storable,
)

STAFF = {
    "葵": "aoi",
    "花子": "hanako",
    "Al": "al",
    "Alice": "alice",
    "Alice Smith": "smith",
    "ケン": "ken",
    "ケンタ": "kenta",
    "レン（経理）": "ren",
    "がく": "gaku",
}
ASTRONAUT = "🧑‍🚀"


def refusal(text: str) -> Refused:
    with pytest.raises(Refused) as caught:
        check_text(text)
    return caught.value


@pytest.mark.parametrize("text", ["", " \n\t", *"\u3000\u200b\u2800\u3164\ufeff\u200d\u00ad\u2060\U000e0041"])
def test_a_message_in_which_nothing_can_be_seen_is_refused(text: str) -> None:
    assert refusal(text).code == "text_missing"


@pytest.mark.parametrize("text", ["。", "👍", "\u200b.", "葛\U000e0100", "　字"])
def test_a_message_of_a_single_visible_character_is_taken_as_written(text: str) -> None:
    assert check_text(text) == text


def test_a_message_over_the_limit_is_refused_with_both_numbers() -> None:
    refused = refusal("あ" * 200_001)
    assert (refused.code, refused.status) == ("text_too_long", 413)
    assert refused.detail == {"limit": 200_000, "length": 200_001}


def test_a_message_at_the_limit_is_taken() -> None:
    assert len(check_text("あ" * 200_000)) == 200_000


@pytest.mark.parametrize(("bad", "name"), [("\0", "U+0000"), ("\ud83d", "U+D83D")])
def test_a_character_that_cannot_be_stored_is_named_with_its_place(bad: str, name: str) -> None:
    refused = refusal(f"ab{bad}c")
    assert refused.code == "text_not_storable"
    assert refused.detail == {"character": name, "position": 3}


def test_line_ends_become_one_kind_and_nothing_else_changes() -> None:
    assert check_text(" ａ\r\nか\u3099\rb\n ") == " ａ\nか\u3099\nb\n "


@pytest.mark.parametrize("language", ["ja", "en"])
@pytest.mark.parametrize("text", ["", "x" * 200_001, "a\0"])
def test_each_refusal_has_a_sentence_that_can_be_filled(text: str, language: str) -> None:
    refused = refusal(text)
    sentence = say(f"errors.{refused.code}", language, **refused.detail)
    assert sentence != f"errors.{refused.code}"
    assert "{" not in sentence


@given(st.text(alphabet=st.characters(exclude_categories=[]), max_size=30))
def test_what_a_model_wrote_is_made_storable(text: str) -> None:
    kept = storable(text)
    assert "\0" not in kept
    assert json.loads(json.dumps(kept).encode().decode()) == kept.encode().decode()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("＠花子　議事録をお願いします", ["hanako"]),
        ("@花子さん、", ["hanako"]),
        ("（@花子）", ["hanako"]),
        ("@葵さん、お願いします", ["aoi"]),
        ("こんにちは@葵、@花子と@葵", ["aoi", "hanako"]),
        ("@alice smith と @ALICE", ["smith", "alice"]),
        ("＠ＡＬ", ["al"]),
        ("@Alの件", ["al"]),
        ("@Al's turn", ["al"]),
        ("@ケンタさん @ケンさん", ["kenta", "ken"]),
        ("@レン(経理)さん", ["ren"]),
        ("@か\u3099く", ["gaku"]),
        ("@al/@葵", ["al", "aoi"]),
    ],
)
def test_a_name_after_an_at_sign_is_a_mention(text: str, found: list[str]) -> None:
    assert mentions(text, STAFF) == found


@pytest.mark.parametrize(
    "text",
    [
        "a@al.example",
        "@Alicex",
        "@ 葵",
        "葵さん",
        "`@葵`",
        "``a`b @葵``",
        "```\n@葵\n```",
        "~~~\n@葵",
        "> quote\n\n```python\n@葵\ndef f(): ...\n```",
        "https://example.com/@al",
    ],
)
def test_code_addresses_and_other_words_mention_nobody(text: str) -> None:
    assert mentions(text, STAFF) == []


def test_a_mention_after_code_is_found() -> None:
    assert mentions("```\n@葵\n```\n@花子", STAFF) == ["hanako"]


def test_a_lone_tick_does_not_hide_a_mention() -> None:
    assert mentions("` @葵\n\n` @花子", STAFF) == ["aoi", "hanako"]


def test_nobody_is_mentioned_where_nobody_works() -> None:
    assert mentions("@葵", {}) == []


@pytest.mark.parametrize(
    "text", ["`" * 200_000, "".join("e" + "`" * n for n in range(630)), "@" * 200_000, "```\n" * 50_000]
)
def test_mentions_in_text_built_to_be_expensive_are_found_soon(text: str) -> None:
    begun = thread_time()
    mentions(f"{text}@葵", STAFF)
    assert thread_time() - begun < 2


@pytest.mark.parametrize("cluster", [ASTRONAUT, "🇯🇵", "👍🏽", "か\u3099", "葛\U000e0100", "한"])
def test_a_cut_keeps_a_character_whole(cluster: str) -> None:
    assert graphemes_cut(cluster * 3, 2) == cluster * 2
    assert grapheme_end(f"a{cluster}b", len(cluster)) == 1


CLUSTERS = st.sampled_from([ASTRONAUT, "🇯🇵", "e\u0301", "字", "\r\n", "\u200d", "a", "\U0001f3fd"])


@given(st.lists(CLUSTERS | st.characters(), max_size=12).map("".join), st.integers(0, 14))
def test_no_cut_ever_splits_a_character(text: str, limit: int) -> None:
    whole = regex.findall(r"\X", text)
    assert graphemes_cut(text, limit) == "".join(whole[:limit])
    edges = {len("".join(whole[:count])) for count in range(len(whole) + 1)}
    assert grapheme_end(text, limit) == max(edge for edge in edges if edge <= max(limit, 0))


def test_an_excerpt_is_one_line_and_shows_that_it_was_cut() -> None:
    assert excerpt(f"一行目\n 二行目{ASTRONAUT}{ASTRONAUT}", 8) == f"一行目 二行目{ASTRONAUT}…"
    assert excerpt("短い", 8) == "短い"


def test_blankness_is_about_what_can_be_seen() -> None:
    assert is_blank("\u3164\u3000")
    assert not is_blank("\u0301")
