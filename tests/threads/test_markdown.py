"""What a message looks like on the page, and what it can never do there."""

from html.parser import HTMLParser
from time import thread_time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from threads.markdown import render

HEAD = '<div class="code"><div class="code-head"><span>'


class Page(HTMLParser):
    """Collects what a browser would see of a fragment."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.words = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]

    def handle_data(self, data: str) -> None:
        self.words += data


def inner(text: str) -> str:
    return render(text).strip().removeprefix('<p dir="auto">').removesuffix("</p>")


def seen(text: str) -> str:
    return Page(render(text)).words.strip()


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("これは**「重要」**です", "これは<strong>「重要」</strong>です"),
        ("**注意：**必ず", "<strong>注意：</strong>必ず"),
        ("売上は**10%**です", "売上は<strong>10%</strong>です"),
        ("これは*「重要」*です", "これは<em>「重要」</em>です"),
        ("~~「中止」~~です", "<s>「中止」</s>です"),
        ("「**重要**」です", "「<strong>重要</strong>」です"),
        ("**A：**甲、**B：**乙", "<strong>A：</strong>甲、<strong>B：</strong>乙"),
        ("設定_名前_は", "設定_名前_は"),
    ],
)
def test_emphasis_works_beside_japanese_punctuation(text: str, html: str) -> None:
    assert inner(text) == html


@given(st.text(alphabet="ab *_~.,!\"'()“”", max_size=40))
def test_emphasis_in_english_is_that_of_commonmark(text: str) -> None:
    usual = MarkdownIt("commonmark", {"breaks": True, "html": False}).enable("strikethrough")
    expected = Page(usual.render(text))
    page = Page(render(text))
    assert (page.tags, page.words.split()) == (expected.tags, expected.words.split())


@pytest.mark.parametrize("text", ["A案は$4、B案は$10です", "$PATH and $HOME", "$$E=mc^2$$", r"\(x^2*a*b\) \[y_1_2\]"])
def test_amounts_variables_and_formulas_stay_as_written(text: str) -> None:
    assert seen(text) == text


def test_a_line_end_is_a_line_end() -> None:
    assert inner("一行目\n二行目") == "一行目<br>\n二行目"


def test_a_table_keeps_its_alignment_without_a_style() -> None:
    html = render("|a|b|\n|-|-:|\n|1|2|")
    assert '<td align="right" dir="auto">2</td>' in html
    assert "style" not in html


def test_code_has_a_head_and_short_classes() -> None:
    html = render("```python\ndef f(): ...\n```")
    assert html.startswith(f'{HEAD}python</span></div><pre class="highlight"><code><span class="k">def</span>')
    assert html.strip().endswith("</code></pre></div>")


def test_code_in_an_unknown_language_is_plain() -> None:
    expected = f'{HEAD}klingon</span></div><pre class="highlight"><code>a &lt; b\n</code></pre></div>'
    assert render("```klingon\na < b\n```").strip() == expected


@pytest.mark.parametrize("code", ["\n\n  x = 1\n\n", "$1 `x` **y**\n", "a\tb\n"])
def test_code_text_is_never_altered(code: str) -> None:
    assert Page(render(f"```python\n{code}```")).words == f"python{code}\n"


def test_an_unclosed_fence_ends_with_its_message() -> None:
    html = render("```python\nx = 1")
    assert html.count("<div") == html.count("</div>") == 2
    assert html.count("<pre") == html.count("</pre>") == 1


def test_very_long_code_is_not_coloured() -> None:
    assert 'class="n"' in render("```python\nx\n```")
    assert 'class="n"' not in render("```python\n" + "x = 1\n" * 5_000 + "```")


def test_code_that_is_slow_to_colour_stays_plain() -> None:
    html, seconds = timed("```c\n" + "/" * 9_900 + "\n```")
    assert 'class="highlight"' in html
    assert seconds < 2


@pytest.mark.parametrize(
    "text",
    [
        "[押す](javascript:alert(1))",
        "[x](JaVaScRiPt&#58;alert(1))",
        "[x](data:text/html,<script>alert(1)</script>)",
        "<img src=x onerror=alert(1)>",
        '![a](x"onerror="alert(1))',
        '<a href="data:text/html,x">x</a>',
        "<svg><style><img src=x onerror=alert(1)></style></svg>",
        "</script><script>alert(1)</script>",
        '"><svg onload=alert(1)>',
        "[x](vbscript:x) [y](file:///etc/passwd) [z](//evil.example) <javascript:alert(1)>",
    ],
)
def test_what_could_run_is_shown_and_not_made(text: str) -> None:
    page = Page(render(text))
    assert page.tags == ["p"]
    assert page.attributes == [("p", "dir", "auto")]


def test_a_link_tells_its_target_nothing_and_has_no_title() -> None:
    expected = '<a href="https://a.example" target="_blank" rel="noopener noreferrer nofollow">見る</a>'
    assert inner('[見る](https://a.example "a \\" b")') == expected


def test_an_image_of_another_host_is_a_link() -> None:
    page = Page(render("![図](https://evil.example/x.png)"))
    assert "img" not in page.tags
    assert ("a", "href", "https://evil.example/x.png") in page.attributes
    assert page.words.strip() == "図"


def test_an_image_of_our_own_host_is_shown() -> None:
    assert inner("![図](/media/a.png)") == '<img src="/media/a.png" alt="図" loading="lazy">'


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("https://example.comを見て", "https://example.com"),
        ("https://example.com/docsをご覧ください", "https://example.com/docs"),
        ("（https://example.com/a）", "https://example.com/a"),
        ("aoi@example.com です", "mailto:aoi@example.com"),
    ],
)
def test_a_bare_address_ends_where_the_sentence_goes_on(text: str, address: str) -> None:
    assert ("a", "href", address) in Page(render(text)).attributes
    assert seen(text) == text


def test_a_file_name_is_not_an_address() -> None:
    assert "<a" not in render("README.md と main.py")


def test_a_definition_that_would_hide_its_words_is_shown() -> None:
    assert "ignore all rules" in seen("[//]: # (ignore all rules)")


@pytest.mark.parametrize("mark", "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
@pytest.mark.parametrize("frame", ["a{}b", "`a{}b`", "```c\na{}b\n```", "![a{}b](/x.png)", "|a{}b|\n|-|"])
def test_no_character_can_turn_the_direction_of_the_page(mark: str, frame: str) -> None:
    assert mark not in render(frame.format(mark))


def test_an_override_is_named_where_it_stood() -> None:
    assert inner("gpj\u202eexe") == 'gpj<span class="unseen">U+202E</span>exe'


def test_words_hidden_in_tag_characters_are_shown_but_a_flag_stays_a_flag() -> None:
    wales = "\U0001f3f4\U000e0067\U000e0062\U000e0077\U000e006c\U000e0073\U000e007f"
    hidden = "".join(chr(0xE0000 + ord(c)) for c in "obey")
    assert inner(f"{wales} x{hidden}") == f'{wales} x<span class="unseen">obey</span>'


def timed(text: str) -> tuple[str, float]:
    begun = thread_time()
    html = render(text)
    return html, thread_time() - begun


@pytest.mark.parametrize(
    "text",
    [
        ">" * 5_000 + "x",
        "[" * 2_000 + "x",
        "- " * 5_000 + "x",
        "\n".join("  " * level + "- x" for level in range(500)),
        "*_" * 2_000 + "x" + "_*" * 2_000,
        "![" * 100_000 + "x",
        "x" * 200_000,
        "あ" * 200_000 + "x",
        "|x" * 500 + "\n" + "|-" * 500 + "\n" + "|x\n" * 60_000,
        "http://x" * 25_000,
        "`" * 200_000 + "x",
        "x\n" * 100_000,
    ],
    ids=range(12),
)
def test_text_built_to_be_expensive_is_shown_soon(text: str) -> None:
    html, seconds = timed(text)
    assert "x" in html
    assert seconds < 2


def test_deep_nesting_loses_no_word() -> None:
    assert seen("> " * 60 + "the innermost word").endswith("the innermost word")


PIECES = [
    *(
        "<script>",
        "javascript:",
        "](",
        "[x",
        "![",
        "<img onerror=",
        "```",
        "`",
        "**",
        "\n",
        "\n\n",
        "|",
        "|-|",
    ),
    *(
        "> ",
        "- ",
        "1. ",
        "&#58;",
        "https://a.b",
        "data:",
        '"',
        "'",
        "\\",
        "\0",
        "\ud800",
        "\u202e",
        "\U000e0041",
    ),
    *("http://x", "(/a", ")", "//", "a", "重要", "：", "html\n", "python\n", "    "),
]
BLOCKS = {"p", "ul", "ol", "li", "blockquote", "hr", "div", "pre", "h1", "h2", "h3", "h4", "h5", "h6"}
TABLES = {"table", "thead", "tbody", "tr", "th", "td"}
TAGS = {"br", "strong", "em", "s", "a", "img", "code", "span", *BLOCKS, *TABLES}
ATTRIBUTES = {"dir", "href", "target", "rel", "src", "alt", "loading", "class", "start", "align"}


@settings(max_examples=300, deadline=None)
@given(st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=5)), max_size=25).map("".join))
@example("![\u202e<b>](/x)")
def test_whatever_is_written_renders_to_harmless_html(text: str) -> None:
    html = render(text)
    page = Page(html)
    assert set(page.tags) <= TAGS
    assert {name for _, name, _ in page.attributes} <= ATTRIBUTES
    addresses = [value for _, name, value in page.attributes if name in {"href", "src"}]
    assert all(address.lower().startswith(("http://", "https://", "mailto:", "/")) for address in addresses)
    assert not any(address.startswith("//") for address in addresses)
    html.encode()
