"""Who a message speaks to: @Name (or ＠Name) found in its text, outside of code."""

import unicodedata
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Mapping

import regex

# An opening fence and all up to its closing line or the end; at least as many marks close as opened it.
FENCE = regex.compile(r"(?ms)^ {0,3}(`{3,}|~{3,})(?![^\n]*`)[^\n]*(?:\n.*?(?:^ {0,3}\1[`~]*[ \t]*$|\Z)|\Z)")
PARAGRAPH_END = regex.compile(r"\n[ \t]*\n")
TICKS = regex.compile(r"`+")
ADDRESS = regex.compile(r"https?://[!-~]+")

# A letter or digit before the sign makes it an e-mail address; a Japanese word may stand before a mention.
BEFORE = r"(?<![\p{Latin}\p{N}_@])"
# Where a name ends in these scripts, one more letter would make it another name (Al, Alice; ケン, ケンタ).
AFTER = (
    (regex.compile(r"[\p{Latin}\p{N}_]\Z"), r"(?![\p{Latin}\p{N}_])"),
    (regex.compile(r"[\p{Katakana}ー]\Z"), r"(?![\p{Katakana}ー])"),
)


def mentions(text: str, names: Mapping[str, str]) -> list[str]:
    """The ids of those whose display name follows an at sign, in order of appearance and each once.

    `names` maps display names to ids. The longest name wins; case, width and composition do not matter; no
    space is needed after a name, so 「@葵さん、」 speaks to 葵. Code and e-mail addresses mention nobody.
    """
    if not names or not ("@" in text or "＠" in text or "﹫" in text):
        return []
    ids: dict[str, str] = {}
    for name, key in names.items():
        ids.setdefault(_folded(name).strip(), key)
    ids.pop("", None)
    found = _pattern(ids).finditer(_folded(_without_code(text)))
    return list(dict.fromkeys(ids[mention[1]] for mention in found))


def _pattern(names: Mapping[str, str]) -> regex.Pattern[str]:
    longest_first = sorted(names, key=len, reverse=True)
    return regex.compile(f"{BEFORE}@({'|'.join(_bounded(name) for name in longest_first) or '(?!)'})")


def _bounded(name: str) -> str:
    end = next((boundary for script, boundary in AFTER if script.search(name)), "")
    return f"{regex.escape(name)}{end}"


def _folded(text: str) -> str:
    # Folding can undo composition, so it is composed again afterwards.
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


def _without_code(text: str) -> str:
    text = FENCE.sub("\n", text)
    paragraphs = PARAGRAPH_END.split(text)
    return ADDRESS.sub(" ", "\n\n".join(_without_spans(paragraph) for paragraph in paragraphs))


def _without_spans(paragraph: str) -> str:
    """Drops code spans: a run of ticks to the next of its length. Linear, also for unmatched runs."""
    runs = [(tick.start(), tick.end()) for tick in TICKS.finditer(paragraph)]
    by_length: dict[int, list[int]] = defaultdict(list)
    for index, (start, end) in enumerate(runs):
        by_length[end - start].append(index)
    kept, at, index = [], 0, 0
    while index < len(runs):
        start, end = runs[index]
        same = by_length[end - start]
        later = bisect_right(same, index)
        if later < len(same):
            index = same[later]
            kept.append(paragraph[at:start] + " ")
            at = runs[index][1]
        index += 1
    return "".join([*kept, paragraph[at:]])
