"""Token counts as the model's own tokenizer makes them, or an estimate that says so."""

import asyncio
import logging
import math
import re
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from hashlib import blake2b
from threading import Lock
from typing import NamedTuple

import tiktoken
from tiktoken.model import encoding_name_for_model

from memory import ranks
from threads.wording import grapheme_end

logger = logging.getLogger(__name__)

DEFAULT_ENCODING = "o200k_base"
EXACT = frozenset({"o200k_base", "o200k_harmony", "cl100k_base"})
# What counts are called when no tokenizer could be loaded.
BY_CHARACTERS = "characters"

# The framing of the chat format: each message opens and closes, and the answer is begun for the model.
PER_MESSAGE, PER_REQUEST = 3, 3

# Counting this many characters takes a millisecond; more goes to a thread (the tokenizer frees the lock).
LONG = 4_000
KEPT_COUNTS = 4_096
WIDE = re.compile("[\u2e80-\uffef]")
ASTRAL = re.compile("[\U00010000-\U0010ffff]")


class Count(NamedTuple):
    """`tokens`, whether they are `estimated` rather than exact, and the `encoding` they were counted in."""

    tokens: int
    estimated: bool
    encoding: str


class _Counts:
    """The newest counts by the text's digest, so that long texts are remembered without being kept."""

    def __init__(self, most: int) -> None:
        self._most, self._lock = most, Lock()
        self._counts: OrderedDict[tuple[str, bytes], int] = OrderedDict()

    def count(self, text: str, encoding: str) -> int:
        key = (encoding, blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest())
        with self._lock:
            if key in self._counts:
                self._counts.move_to_end(key)
                return self._counts[key]
        tokens = len(_encode(text, encoding))
        with self._lock:
            self._counts[key] = tokens
            if len(self._counts) > self._most:
                self._counts.popitem(last=False)
        return tokens


_counts = _Counts(KEPT_COUNTS)
_threads = ThreadPoolExecutor(max_workers=2, thread_name_prefix="tokens")
_loading, _ready = Lock(), set[str]()


def count(text: str, model: str) -> int:
    """How many tokens `text` is for `model`. Marks such as <|endoftext|> count as the plain text they are."""
    name = counted_in(model)
    return by_characters(text) if name == BY_CHARACTERS else _counts.count(text, name)


def count_messages(messages: Sequence[Mapping[str, str]], model: str) -> Count:
    """What a request with these messages ({"role", "content", "name"?}) weighs, framing included."""
    tokens = PER_REQUEST + sum(count_message(message, model) for message in messages)
    return Count(tokens, is_estimate(model), counted_in(model))


def count_message(message: Mapping[str, str], model: str) -> int:
    """One message with its share of the framing; sums of these plus `PER_REQUEST` are a request's count."""
    tokens = PER_MESSAGE + count(message["role"], model) + count(message["content"], model)
    return tokens + 1 + count(message["name"], model) if message.get("name") else tokens


async def acount(text: str, model: str) -> int:
    """`count` without holding up the event loop: long texts, and the first load, are done in a thread."""
    if len(text) <= LONG and encoding_for(model)[0] in _ready:
        return count(text, model)
    return await asyncio.get_running_loop().run_in_executor(_threads, count, text, model)


async def acount_messages(messages: Sequence[Mapping[str, str]], model: str) -> Count:
    """`count_messages` in a thread."""
    return await asyncio.get_running_loop().run_in_executor(_threads, count_messages, messages, model)


@lru_cache(maxsize=256)
def encoding_for(model: str) -> tuple[str, bool]:
    """The encoding and whether the model is known to use it; "openai/gpt-4o" is looked up as "gpt-4o"."""
    try:
        name = encoding_name_for_model(model.rsplit("/", 1)[-1])
    except KeyError:
        name = ""
    if name in EXACT:
        return name, True
    logger.warning("The tokenizer of model %r is not known; its counts are estimates.", model)
    return DEFAULT_ENCODING, False


def counted_in(model: str) -> str:
    """The encoding that counts for `model` really use: `BY_CHARACTERS` when no tokenizer could be loaded."""
    name, _ = encoding_for(model)
    return name if _encoding(name) else BY_CHARACTERS


def is_estimate(model: str) -> bool:
    """Whether counts for `model` must be shown as estimates."""
    return not encoding_for(model)[1] or counted_in(model) == BY_CHARACTERS


def cut(text: str, tokens: int, model: str) -> str:
    """The longest beginning of `text` within `tokens` that ends between two characters as people see them."""
    if count(text, model) <= tokens:
        return text
    name = counted_in(model)
    if name == BY_CHARACTERS:
        return text[: grapheme_end(text, int(tokens * len(text) / by_characters(text)))]
    encoded, tokenizer = _encode(text, name), _tokenizer(name)
    for budget in range(tokens, 0, -1):
        kept = tokenizer.decode_bytes(encoded[:budget]).decode("utf-8", "ignore")
        beginning = text[: grapheme_end(text, len(kept))]
        # A beginning by itself may split into other tokens than the same words within the text.
        if count(beginning, model) <= tokens:
            return beginning
    return ""


def by_characters(text: str) -> int:
    """Without a tokenizer: never below the true count of ordinary English or Japanese, over by 10 to 17 %.

    The usual rule (4 characters a token, 0.75 tokens for a wide one) fell short for most Japanese office text.
    """
    astral = len(ASTRAL.findall(text))
    wide = len(WIDE.findall(text))
    return math.ceil((len(text) - wide - astral) / 3.8 + wide * 0.85 + astral * 3)


def warm() -> bool:
    """Loads the usual tokenizer ahead of the first message; False when only estimates are to be had."""
    return _encoding(DEFAULT_ENCODING) is not None


def _encode(text: str, encoding: str) -> list[int]:
    return _tokenizer(encoding).encode_ordinary(text)


def _tokenizer(encoding: str) -> tiktoken.Encoding:
    tokenizer = _encoding(encoding)
    if tokenizer is None:
        raise ranks.RanksMissing(encoding)
    return tokenizer


@lru_cache(maxsize=len(EXACT))
def _load(name: str) -> tiktoken.Encoding | None:
    try:
        ranks.prepare()
        return tiktoken.get_encoding(name)
    except Exception:
        # Missing files, a full disk, a changed package: the office works on with estimates, and says so.
        logger.exception("The tokenizer %s could not be loaded; token counts are estimates.", name)
        return None


@lru_cache(maxsize=len(EXACT))
def _encoding(name: str) -> tiktoken.Encoding | None:
    with _loading:
        tokenizer = _load(name)
    _ready.add(name)
    return tokenizer
