"""The rehearsal says what it is, how to connect a model, and what it was sent; the same each time."""

import pytest

from office.chunks import Finish, Text, Usage
from office.rehearsal import quoted, rehearse, rehearsed_text

SENT = {"rules": 1, "history": 6, "mission": 1}
MESSAGES = [
    {"role": "system", "content": "決まり"},
    {"role": "user", "content": "1から\n50まで数えて"},
]


async def pieces(language="ja", messages=MESSAGES):
    return [piece async for piece in rehearse(messages, language, SENT, pause_s=0)]


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("ja", ["モデルが接続されていない", "設定 → モデル接続先", "OPENAI_API_KEY", "2件", "これまでの会話 6"]),
        ("en", ["no model is connected", "Settings → Model endpoints", "OPENAI_API_KEY", ": 2 ", "history 6"]),
    ],
)
async def test_it_says_plainly_what_it_is_and_what_it_was_sent(language, words):
    text = "".join(piece.text for piece in await pieces(language) if isinstance(piece, Text))
    assert [word for word in words if word not in text] == []


async def test_it_quotes_the_instruction_on_one_line():
    assert "1から 50まで数えて" in rehearsed_text(MESSAGES, "ja", SENT)


async def test_it_streams_in_small_pieces_and_ends_like_a_model():
    told = await pieces()
    assert len(told) > 10
    assert told[-2:] == [Usage(), Finish("stop")]


async def test_the_same_request_gets_the_same_answer():
    assert await pieces() == await pieces()


async def test_an_unknown_language_and_an_unknown_origin_still_give_an_answer():
    told = [piece async for piece in rehearse([], "fr", {"somewhere": 2}, pause_s=0)]
    assert "somewhere 2" in "".join(piece.text for piece in told if isinstance(piece, Text))


@pytest.mark.parametrize("letter", ["あ", "が", "e\u0301", "👩‍👩‍👧‍👦", "👍🏽", "🇯🇵", "葛\U000e0100"])
def test_a_quotation_is_never_cut_inside_a_character(letter):
    assert quoted(letter * 100) == letter * 80 + "…"


def test_a_short_text_is_quoted_whole():
    assert quoted("やあ") == "やあ"
