"""The Markdown of messages: CommonMark with tables, strikethrough and bare links, for a chat.

It differs from CommonMark where Japanese or plain prose would suffer and where words would vanish, and it
gives up (`TooIntricate`) on text built to be expensive, so that no reader waits for a writer's tricks.
"""

import re
from collections.abc import MutableMapping
from typing import Any

from linkify_it import LinkifyIt  # type: ignore[import-untyped]
from linkify_it.main import Match  # type: ignore[import-untyped]
from markdown_it import MarkdownIt
from markdown_it.common.utils import isMdAsciiPunct, isPunctChar, isWhiteSpace
from markdown_it.parser_inline import ParserInline
from markdown_it.renderer import RendererHTML
from markdown_it.rules_block import StateBlock
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.rules_inline.state_inline import Scanned
from markdown_it.token import Token

# A list and its item are a level each: 20 lists or 40 quotes in one another.
MOST_LEVELS = 40
# 200,000 characters of prose with much markup stay below each of these, and hostile text of that length takes
# about a second at most. A step is one turn of the parser: about 20 for 100 characters of such prose.
MOST_STEPS = 60_000
MOST_LINES = 20_000
MOST_ADDRESSES = 2_000
MOST_BLOCK_TOKENS = 60_000
LONGEST_FORMULA = 2_000

CJK = re.compile("[\u1100-\u11ff\u2e80-\ufdff\ufe10-\uffef\U0001b000-\U0001b2ff\U00020000-\U0003ffff]")
ALLOWED_LINK = re.compile(r"https?://[^/\\]|mailto:[^/]|/(?![/\\])", re.IGNORECASE)
# 「https://example.comを見て」 and 「…/docsを見て」: the address ends where the Japanese sentence goes on.
SENTENCE_GOES_ON = re.compile(
    r"^https?://[\w-]+(?:\.[\w-]+)+?(?=[^\x00-\x7f])"  # a host in ASCII, then anything else
    r"|(?<=[0-9A-Za-z])(?=[ぁ-ん])"
    r"|(?=[\u3000-\u3004\u3008-\u301f\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65])",
    re.ASCII,
)


class TooIntricate(Exception):
    """The text nests too deeply, or costs too much, to be worth rendering."""


class Delimiters(StateInline):
    """Finds where emphasis opens and closes, also beside Japanese punctuation."""

    def scanDelims(self, start: int, canSplitWord: bool) -> Scanned:
        """As CommonMark, but CJK characters count neither as punctuation that blocks nor as a word that does.

        CommonMark leaves 「これは**「重要」**です」 plain, as the mark is between punctuation and a letter,
        a rule that presumes a script with spaces. Where no CJK character is beside the mark, nothing changes.
        """
        usual = super().scanDelims(start, canSplitWord)
        before = self.src[start - 1] if start > 0 else " "
        end = start + usual.length
        after = self.src[end] if end < self.posMax else " "
        if not canSplitWord or not (CJK.match(before) or CJK.match(after)):
            return usual
        return Scanned(_binds(after, before), _binds(before, after), usual.length)


def _binds(inner: str, outer: str) -> bool:
    """Whether a run of marks belongs to `inner` as its left or right edge, seen from `outer`."""
    if isWhiteSpace(ord(inner)):
        return False
    return not _blocks(inner) or bool(CJK.match(outer)) or isWhiteSpace(ord(outer)) or _blocks(outer)


def _blocks(character: str) -> bool:
    punctuation = isMdAsciiPunct(ord(character)) or isPunctChar(character)
    return punctuation and not CJK.match(character)


class Inline(ParserInline):
    """The inline parser with our delimiters in place of the usual ones."""

    def parse(self, src: str, md: MarkdownIt, env: MutableMapping[str, Any], tokens: list[Token]) -> list[Token]:
        state = Delimiters(src, md, env, tokens)
        self.tokenize(state)
        for rule in self.ruler2.getRules(""):
            rule(state)
        return state.tokens


class BareLinks(LinkifyIt):  # type: ignore[misc]
    """Finds addresses in text; only with a scheme, since `notes.md` is a file far more often than a host."""

    def __init__(self) -> None:
        super().__init__(options={"fuzzy_link": False, "fuzzy_email": True, "fuzzy_ip": False})
        self.add("ftp:", None).add("//", None)

    def match(self, text: str) -> list[Match] | None:
        found = super().match(text)
        return [_without_sentence(one) for one in found] if found else found

    def match_at_start(self, text: str) -> Match | None:
        found = super().match_at_start(text)
        return _without_sentence(found) if found else found


def _without_sentence(found: Match) -> Match:
    end = SENTENCE_GOES_ON.search(found.url)
    if end and found.schema.startswith("http"):
        spare = len(found.url) - end.end()
        found.url, found.text = found.url[: end.end()], found.text[: len(found.text) - spare]
        found.raw, found.last_index = found.text, found.last_index - spare
    return found


class Dialect(MarkdownIt):
    """A parser for one thread at a time: the link finder keeps what it is looking at in itself."""

    def __init__(self, renderer_cls: type[RendererHTML]) -> None:
        options = {"breaks": True, "html": False, "linkify": True, "maxNesting": 100}
        super().__init__("commonmark", options, renderer_cls=renderer_cls)
        inline_rules = self.inline.ruler.get_all_rules()
        self.inline, self.linkify = Inline(), BareLinks()
        self.inline.ruler.enableOnly([rule for rule in inline_rules if rule != "html_inline"])
        self.enable(["table", "strikethrough", "linkify"])
        # A definition such as `[//]: # (words)` shows nothing, yet a model would read it.
        self.disable(["reference", "html_block"])
        self.inline.ruler.before("text", "steps", _count_inline)
        self.inline.ruler.before("escape", "formula", _formula)
        self.block.ruler.before("table", "steps", _count_block)
        self.core.ruler.before("normalize", "size", _check_size)
        self.core.ruler.before("inline", "blocks", _check_blocks)

    def validateLink(self, url: str) -> bool:
        """Only addresses a reader can safely follow; what is refused stays visible as it was written."""
        return ALLOWED_LINK.match(url) is not None


def _check_size(state: StateCore) -> None:
    if state.src.count("\n") > MOST_LINES or state.src.count("://") > MOST_ADDRESSES:
        raise TooIntricate


def _check_blocks(state: StateCore) -> None:
    if len(state.tokens) > MOST_BLOCK_TOKENS:
        raise TooIntricate


def _count(env: MutableMapping[str, Any], level: int, most_levels: int) -> None:
    env["steps"] = env.get("steps", 0) + 1
    if env["steps"] > MOST_STEPS or level > most_levels:
        raise TooIntricate


def _count_inline(state: StateInline, silent: bool) -> bool:
    _count(state.env, state.level, MOST_LEVELS)
    return False


def _count_block(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    # The parser drops what is nested beyond its own limit; raising first keeps every word on screen.
    _count(state.env, state.level, MOST_LEVELS)
    return False


def _formula(state: StateInline, silent: bool) -> bool:
    r"""Leaves `\(x^2\)` and `\[…\]` as written, like `$…$`; otherwise only their backslashes would vanish."""
    opening = state.src[state.pos : state.pos + 2]
    if opening not in {r"\(", r"\["}:
        return False
    closing = r"\)" if opening == r"\(" else r"\]"
    limit = min(state.posMax, state.pos + LONGEST_FORMULA)
    end = state.src.find(closing, state.pos + 2, limit)
    if end == -1 or state.src[end + 2 : end + 3] in {"(", "["}:
        return False
    if not silent:
        state.append_pending(state.src[state.pos : end + 2])
    state.pos = end + 2
    return True
