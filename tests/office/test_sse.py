"""However the bytes of a stream are split, the same events and the same answer come out."""

import json
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from office.answer import Answer
from office.chunks import Finish, Reasoning, Text
from office.sse import EventDecoder
from office.thinking import ThoughtFilter
from tests.scripts import story


def events_of(*reads):
    decoder = EventDecoder()
    return [event for read in reads for event in decoder.feed(read)] + decoder.end()


def cut(raw, places):
    edges = [0, *sorted(place % (len(raw) + 1) for place in places), len(raw)]
    return [raw[start:end] for start, end in pairwise(edges)]


def test_all_three_line_ends_and_data_over_several_lines():
    assert events_of(b"data: a\n\ndata: b\r\n\r\ndata: c\r\rdata: d\ndata:e\n\n") == ["a", "b", "c", "d\ne"]


def test_comments_other_fields_and_empty_events_are_dropped():
    assert events_of(b": hello\n\nevent: x\nid: 1\n\nretry: 3\ndata: a\n\n") == ["a"]


def test_a_cr_lf_cut_in_the_middle_is_one_line_end():
    assert events_of(b"data: a\r", b"\ndata: b\r", b"\n\r", b"\n") == ["a\nb"]


def test_a_last_event_without_a_line_end_is_given_at_the_end():
    assert events_of(b"data: a") == ["a"]


PLACES = st.lists(st.integers(0, 400), max_size=40)


@given(st.lists(st.text(min_size=1).filter(lambda text: "\r" not in text and "\n" not in text)), PLACES)
def test_events_do_not_depend_on_how_the_bytes_were_split(texts, places):
    written = [json.dumps(text, ensure_ascii=False) for text in texts]
    for line_end in ("\n", "\r\n", "\r"):
        raw = "".join(f"data: {text}{line_end}{line_end}" for text in written).encode("utf-8", "replace")
        whole = events_of(raw)
        assert len(whole) == len(texts)
        assert events_of(*cut(raw, places)) == whole


@given(st.lists(st.text(st.characters(codec="utf-8"), min_size=1), max_size=8), PLACES)
def test_an_answer_does_not_depend_on_how_the_bytes_were_split(texts, places):
    raw = b"".join(story(*["=", *texts], usage=None).steps)
    answer, pieces = Answer("", {}), []
    for read in [*cut(raw, places), None]:
        if not answer.done:
            pieces += answer.take(read)[0]
    pieces += answer.ending()
    assert "".join(piece.text for piece in pieces if isinstance(piece, Text)) == "=" + "".join(texts)
    assert pieces[-1] == Finish("stop")
    assert not any(isinstance(piece, Reasoning) for piece in pieces)


@given(PLACES)
def test_thoughts_do_not_depend_on_how_the_text_was_split(places):
    text, filtered = "\n<think>plan </thin x</think>\nanswer </think>", ThoughtFilter()
    split = [filtered.feed(piece) for piece in cut(text, places) if piece]
    assert "".join(thought for _, thought in split) == "plan </thin x"
    assert "".join(answer for answer, _ in split).lstrip("\n") + filtered.end(True) == "answer </think>"
