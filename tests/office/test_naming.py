"""Names are visible, in one form, and cannot pass for one another."""

import pytest

from office.errors import Refused
from office.naming import check_name, name_key

INVISIBLE = ["\u3164", "\u2800", "\u115f", "\uffa0", "\u034f", "\u200b", "\u200d", "\ufeff", "\u2060", "\ufe0f"]


@pytest.mark.parametrize("mark", [*INVISIBLE, "\u3000", " ", ""], ids=lambda mark: f"U+{ord(mark):04X}" if mark else "")
def test_a_name_of_nothing_visible_is_refused(mark: str) -> None:
    with pytest.raises(Refused) as refused:
        check_name(mark * 3)
    assert refused.value.code in ("name_missing", "name_not_plain")


@pytest.mark.parametrize("mark", INVISIBLE, ids=lambda mark: f"U+{ord(mark):04X}")
def test_an_invisible_mark_inside_a_name_is_refused(mark: str) -> None:
    with pytest.raises(Refused) as refused:
        check_name(f"admin{mark}")
    assert refused.value.code == "name_not_plain"


@pytest.mark.parametrize("mark", ["\u202e", "\u2066", "\x00", "\x1b", "\ud800", "\ue000"])
def test_marks_that_disguise_a_name_are_refused(mark: str) -> None:
    with pytest.raises(Refused) as refused:
        check_name(f"a{mark}b")
    assert refused.value.code == "name_not_plain"


@pytest.mark.parametrize("name", ["김민준", "葵", "営業 花子", "👩‍💻 Mina", "❤️", "🏳️‍🌈", "O'Neil", "A/B Tester", "José"])
def test_names_of_the_world_and_emoji_are_taken_as_they_are(name: str) -> None:
    assert check_name(name) == name


def test_composed_and_decomposed_spellings_become_one() -> None:
    assert check_name("か\u3099いぶ") == check_name("がいぶ")


def test_spaces_are_single_and_never_at_the_ends() -> None:
    assert check_name("  営業\u3000 花子 ") == "営業 花子"


@pytest.mark.parametrize(
    ("one", "other"),
    [("ＡＢＣ", "abc"), ("ﾃｽﾄ", "テスト"), ("STRASSE", "straße"), ("❤️", "❤"), ("A  B", "a b"), ("か\u3099", "が")],
)
def test_names_that_look_alike_have_one_key(one: str, other: str) -> None:
    assert name_key(check_name(one)) == name_key(check_name(other))


def test_different_names_have_different_keys() -> None:
    assert len({name_key(name) for name in ("Al", "Alice", "ケン", "けん", "A B", "AB")}) == 6
