"""Message text as safe HTML: nothing in it runs, loads from another host or disturbs the page around it."""

import logging
import re
import threading
from collections.abc import Sequence
from functools import lru_cache
from html import escape
from time import thread_time
from typing import Any

import nh3
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from pygments.token import STANDARD_TYPES

from threads.dialect import ALLOWED_LINK, MOST_LEVELS, Dialect, TooIntricate
from threads.highlighting import code_block

Tokens = Sequence[Token]
logger = logging.getLogger(__name__)

# Texts up to this length are kept rendered: the newest messages of a thread are asked for again and again.
LONGEST_KEPT = 4_000
# Once colouring has taken this long in one message, its other blocks stay plain.
COLOURING_SECONDS = 0.3

DIRECTED = ("p", "li", "h1", "h2", "h3", "h4", "h5", "h6", "th", "td")
TAGS = (
    *DIRECTED,
    *("ul", "ol", "blockquote", "hr", "br", "strong", "em", "s", "a", "img", "code", "pre", "div", "span"),
    *("table", "thead", "tbody", "tr"),
)
LONE_SURROGATE = re.compile("[\ud800-\udfff]")
# Overrides, embeddings and isolates (they can make text read in another order than it is sent in), and tag
# characters outside of flags (they can carry sentences that only a model reads). Markup and flags stay.
UNSEEN = re.compile(
    "<[^>]*>|\U0001f3f4[\U000e0020-\U000e007e]+\U000e007f"
    "|(?P<one>[\u202a-\u202e\u2066-\u2069])|(?P<many>[\U000e0000-\U000e007f]+)"
)


class ChatHTML(RendererHTML):
    """Our own code blocks and images; everything else as markdown-it has it."""

    def fence(self, tokens: Tokens, idx: int, options: OptionsDict, env: EnvType) -> str:
        words = tokens[idx].info.split()
        return self._code(tokens[idx].content, words[0] if words else "", env)

    def code_block(self, tokens: Tokens, idx: int, options: OptionsDict, env: EnvType) -> str:
        return self._code(tokens[idx].content, "", env)

    def _code(self, code: str, language: str, env: EnvType) -> str:
        spent, begun = env.get("colouring", 0.0), thread_time()
        html = code_block(code, language, coloured=spent < COLOURING_SECONDS)
        env["colouring"] = spent + thread_time() - begun
        return html

    def image(self, tokens: Tokens, idx: int, options: OptionsDict, env: EnvType) -> str:
        """An image of our own host; any other is a link, as loading it would tell its host who reads when."""
        source = str(tokens[idx].attrs.get("src", ""))
        words = UNSEEN.sub("", self.renderInlineAsText(tokens[idx].children, options, env))
        if source.startswith("/"):
            return f'<img src="{escape(source)}" alt="{escape(words)}" loading="lazy">'
        if _within_link(tokens[:idx]):
            return escape(words or source)
        return f'<a href="{escape(source)}">{escape(words or source)}</a>'


def _within_link(before: Tokens) -> bool:
    links = (token.nesting for token in before if token.tag == "a")
    return sum(links) > 0


class _PerThread(threading.local):
    """A parser for each thread, since it keeps state while it parses and takes some milliseconds to make."""

    def __init__(self) -> None:
        self.dialect = Dialect(renderer_cls=ChatHTML)


_here = _PerThread()


def render(text: str) -> str:
    """Safe HTML for `text`, ready for innerHTML. Never raises; text it cannot format is shown as it is."""
    return _kept(text) if len(text) <= LONGEST_KEPT else _fresh(text)


@lru_cache(maxsize=500)
def _kept(text: str) -> str:
    return _fresh(text)


def _fresh(text: str) -> str:
    text = LONE_SURROGATE.sub("\ufffd", text)
    try:
        html = _formatted(text)
    except TooIntricate:
        html = _plain(text)
    except Exception:
        # A message must stay readable whatever the parser makes of it.
        logger.exception("A message of %d characters could not be rendered.", len(text))
        html = _plain(text)
    return _clean(UNSEEN.sub(_shown, html))


def _plain(text: str) -> str:
    return f'<pre class="plain" dir="auto">{escape(text)}</pre>'


def _formatted(text: str) -> str:
    env: dict[str, Any] = {}
    tokens = _here.dialect.parse(text, env)
    for token in tokens:
        if token.tag in DIRECTED and token.nesting == 1:
            _direct(token)
        _check_depth(token.children or ())
    return str(_here.dialect.renderer.render(tokens, _here.dialect.options, env))


def _direct(token: Token) -> None:
    """Each block takes its direction from its own words; column alignment goes without a style attribute."""
    style = str(token.attrs.pop("style", ""))
    if style:
        token.attrs["align"] = style.removeprefix("text-align:")
    token.attrs["dir"] = "auto"


def _check_depth(children: Tokens) -> None:
    depth = 0
    for child in children:
        depth += child.nesting
        if depth > MOST_LEVELS:
            raise TooIntricate


def _shown(found: re.Match[str]) -> str:
    if found["one"]:
        return f'<span class="unseen">U+{ord(found["one"]):04X}</span>'
    if found["many"]:
        hidden = "".join(chr(ord(c) - 0xE0000) for c in found["many"] if 0xE0020 <= ord(c) <= 0xE007E)
        return f'<span class="unseen">{escape(hidden) or "U+E0000"}</span>'
    return found[0]


def _clean(html: str) -> str:
    """Only what is listed here passes; the lists are made for each call, as a shared one can be changed."""
    return nh3.clean(
        html,
        tags=set(TAGS),
        clean_content_tags=set(),
        attributes={"*": set(), "a": {"href"}, "img": {"src", "alt"}, "ol": {"start"}},
        attribute_filter=_kept_attribute,
        tag_attribute_values={
            **{tag: {"dir": {"auto"}} for tag in (*DIRECTED, "pre")},
            **{tag: {"dir": {"auto"}, "align": {"left", "center", "right"}} for tag in ("th", "td")},
            "img": {"loading": {"lazy"}},
        },
        set_tag_attribute_values={"a": {"target": "_blank"}},
        allowed_classes={
            "div": {"code", "code-head"},
            "pre": {"highlight", "plain"},
            "span": {"unseen", *filter(None, STANDARD_TYPES.values())},
        },
        link_rel="noopener noreferrer nofollow",
        url_schemes={"http", "https", "mailto"},
    )


def _kept_attribute(tag: str, name: str, value: str) -> str | None:
    if name == "href":
        return value if ALLOWED_LINK.match(value) else None
    if name == "src":
        return value if value.startswith("/") and not value.startswith(("//", "/\\")) else None
    return value
