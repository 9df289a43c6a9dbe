"""Builds the messages of one answer in Chat, with the account of where each part came from. Pure: rows in, text out.

No other code assembles arrays. The shape: one system message (rules, persona, who is here), then strictly alternating
user and assistant, ending with the mission. Rules and limits: product.md section 7 and modes.md section 9.
"""

import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from memory.tokens import PER_MESSAGE, PER_REQUEST
from modes.fit import squeezed
from threads.wording import grapheme_end

HISTORY_MESSAGES = 20
HISTORY_TOKENS = 12_000
FIRST_CHARACTERS = 6_000
Count = Callable[[str], int]
SENTINELS = str.maketrans({"⟦": "[", "⟧": "]"})


@dataclass(frozen=True)
class Line:
    """One current message as the prompt sees it. `own`: said by the coworker who is about to answer."""

    id: str
    number: int
    anchor: int
    text: str
    state: str
    own: bool
    name: str = ""
    title: str = ""
    artificial: bool = False


@dataclass(frozen=True)
class Scene:
    """Everything one answer depends on. `solo`: a DM, where nobody needs to be told apart by a header."""

    language: str
    name: str
    title: str
    persona: str
    channel: str
    solo: bool
    people: Sequence[str]
    colleagues: Sequence[tuple[str, str]]
    mission: Line
    earlier: Sequence[Line]
    # False for a model without a system role: the same words then open the first user message.
    system_role: bool = True
    # How many tokens the request may have; None where nobody said what the model takes.
    room: int | None = None


@dataclass(frozen=True)
class Part:
    role: str
    origin: str
    label: str
    text: str
    source: str | None = None


@dataclass
class Built:
    """`messages` is sent as it is; `segments` say what each stretch of it is; `left_out` what is not in it and why."""

    messages: list[dict[str, str]] = field(default_factory=list)
    segments: list[dict[str, Any]] = field(default_factory=list)
    left_out: list[dict[str, Any]] = field(default_factory=list)


RULES = {
    "en": (
        "You are {name}, a coworker in an office of people and AI coworkers. You are only this person: write one "
        "message, in your own voice, without your name in front and without speaking for anybody else. Answer in the "
        "language of the message you answer. Say plainly when you do not know something or cannot see it. "
        "Lines in ⟦…⟧ are added by the office: who is speaking, or a notice. Never write such lines yourself."
    ),
    "ja": (
        "あなたは{name}です。人とAI社員が一緒に働くオフィスの一員です。あなた自身としてだけ、メッセージを一つ書いてください。"
        "先頭に名前を付けず、ほかの人の発言を代わりに書かないでください。返事は、相手のメッセージと同じ言語で書きます。"
        "わからないこと、見えていないことは、そのとおりに伝えてください。"
        "⟦…⟧の行は、話し手やお知らせを示すためにオフィスが付けたものです。自分では書かないでください。"
    ),
}
TEXTS = {
    "en": {
        "title": "Your role: {title}.",
        "dm": "This is a direct conversation with {people}.",
        "channel": "This is the channel “{channel}”. People here: {people}. Coworkers here: {colleagues}.",
        "omitted": "⟦notice · office⟧ {count} earlier messages of this conversation are not included here.",
        "shortened": "⟦notice · office⟧ The message above was shortened to its first {limit} characters.",
        "stopped": "⟦notice · office⟧ This answer was stopped before it was complete.",
        "gone": "⟦notice · office⟧ The message before this one is not included here.",
        "none": "none",
    },
    "ja": {
        "title": "役割：{title}",
        "dm": "これは{people}さんとの一対一の会話です。",
        "channel": "ここはチャンネル「{channel}」です。参加している人：{people}。AI社員：{colleagues}。",
        "omitted": "⟦notice · office⟧ この会話の以前のメッセージ{count}件は、ここには含まれていません。",
        "shortened": "⟦notice · office⟧ 上のメッセージは先頭の{limit}文字だけを載せています。",
        "stopped": "⟦notice · office⟧ この回答は途中で停止されました。",
        "gone": "⟦notice · office⟧ この前のメッセージは、ここには含まれていません。",
        "none": "なし",
    },
}


def build(scene: Scene, count: Count) -> Built:
    """The request of one answer. The same scene gives the same bytes.

    Raises `Refused("does_not_fit")` when the model cannot take what is required; history gives way before that.
    """
    built = put_together(scene, count)
    if scene.room is None or weight(built, count) <= scene.room:
        return built
    return squeezed(
        lambda most, keep_first: put_together(scene, count, most, keep_first),
        lambda one: weight(one, count),
        scene.room,
    )


def weight(built: Built, count: Count) -> int:
    """Tokens of the whole request, framing included."""
    return PER_REQUEST + sum(PER_MESSAGE + count(one["role"]) + count(one["content"]) for one in built.messages)


def put_together(scene: Scene, count: Count, most: int = HISTORY_TOKENS, keep_first: bool = True) -> Built:
    """The request with at most so many tokens of history, and with the thread's first message besides or not."""
    usable, left_out = sift(scene)
    first, window, older, heavy = window_of(usable, count, most, keep_first)
    parts = [*system_parts(scene)]
    if first:
        parts += first_parts(scene, first)
    if older or heavy:
        text = TEXTS[scene.language]["omitted"].format(count=len(older) + len(heavy))
        parts.append(Part("user", "omission", "omitted", text))
        reasons = (("older_than_window", older), ("over_tokens", heavy))
        left_out += [account(reason, lines) for reason, lines in reasons if lines]
    for line in window:
        parts += line_parts(scene, line, "history")
    parts += line_parts(scene, scene.mission, "mission")
    if not scene.system_role:
        parts = [replace(part, role="user") if part.role == "system" else part for part in parts]
    return assemble(opened_by_user(scene, parts), count, left_out)


def opened_by_user(scene: Scene, parts: list[Part]) -> list[Part]:
    """After the system message a user speaks first, also where the question of the first answer was retracted."""
    spoken = next(index for index, part in enumerate(parts) if part.role != "system")
    if parts[spoken].role == "assistant":
        parts.insert(spoken, Part("user", "omission", "omitted", TEXTS[scene.language]["gone"]))
    return parts


def sift(scene: Scene) -> tuple[list[Line], list[dict[str, Any]]]:
    """What may be sent: earlier than the mission in display order, with words, not failed and not retracted."""
    reasons: dict[str, list[Line]] = {}
    usable = []
    for line in sorted(scene.earlier, key=lambda line: (line.anchor, line.number)):
        reason = reason_to_leave(line)
        if reason:
            reasons.setdefault(reason, []).append(line)
        else:
            usable.append(line)
    return usable, [account(reason, lines) for reason, lines in reasons.items()]


def reason_to_leave(line: Line) -> str | None:
    if line.state in ("retracted", "failed"):
        return line.state
    return None if has_words(line.text) else "empty"


def window_of(
    lines: list[Line], count: Count, most: int, keep_first: bool
) -> tuple[Line | None, list[Line], list[Line], list[Line]]:
    """(first message kept apart, the newest that fit, too old, too long): 20 messages or `most` tokens, the less."""
    older, recent = lines[:-HISTORY_MESSAGES], lines[-HISTORY_MESSAGES:]
    fitting = spent = 0
    for line in reversed(recent):
        spent += count(line.text)
        if spent > most:
            break
        fitting += 1
    heavy, window = recent[: len(recent) - fitting], recent[len(recent) - fitting :]
    if not keep_first:
        return None, window, older, heavy
    if older:
        return older[0], window, older[1:], heavy
    if heavy:
        return heavy[0], window, [], heavy[1:]
    return None, window, [], []


def account(reason: str, lines: Sequence[Line]) -> dict[str, Any]:
    """How many were left out, and which, but never what they said."""
    numbers = [line.number for line in lines]
    return {
        "reason": reason,
        "count": len(numbers),
        "numbers": numbers[:200],
        "first": min(numbers),
        "last": max(numbers),
    }


def system_parts(scene: Scene) -> list[Part]:
    texts = TEXTS[scene.language]
    parts = [Part("system", "rules", "rules", RULES[scene.language].format(name=plain(scene.name)))]
    role = texts["title"].format(title=plain(scene.title)) if scene.title else ""
    persona = "\n".join(text for text in (role, scene.persona.strip()) if text)
    if persona:
        parts.append(Part("system", "persona", "persona", plain(persona)))
    return [*parts, Part("system", "roster", "roster", roster(scene))]


def roster(scene: Scene) -> str:
    texts = TEXTS[scene.language]
    comma = "、" if scene.language == "ja" else ", "
    people = comma.join(plain(name) for name in scene.people) or texts["none"]
    if scene.solo:
        return texts["dm"].format(people=people)
    colleagues = comma.join(plain(f"{name} ({title})" if title else name) for name, title in scene.colleagues)
    return texts["channel"].format(channel=plain(scene.channel), people=people, colleagues=colleagues or texts["none"])


def first_parts(scene: Scene, first: Line) -> list[Part]:
    """The thread's first message, kept however long the thread grows, to 6,000 characters."""
    shortened = (
        first.text if len(first.text) <= FIRST_CHARACTERS else first.text[: grapheme_end(first.text, FIRST_CHARACTERS)]
    )
    kept = replace(first, text=shortened)
    parts = line_parts(scene, kept, "first")
    if shortened != first.text:
        text = TEXTS[scene.language]["shortened"].format(limit=FIRST_CHARACTERS)
        parts.append(Part("user", "omission", "shortened", text))
    return parts


def line_parts(scene: Scene, line: Line, origin: str) -> list[Part]:
    """One message: own words as the assistant, everybody else's as the user with a header that cannot be forged."""
    label = f"#{line.number} {line.name}".strip()
    if line.own:
        parts = [Part("assistant", origin, label, plain(line.text), line.id)]
    else:
        head = "" if scene.solo else f"{header(line)}\n"
        parts = [Part("user", origin, label, head + plain(line.text), line.id)]
    if line.state in ("stopped", "cut"):
        parts.append(Part("user", "omission", "stopped", TEXTS[scene.language]["stopped"]))
    return parts


def header(line: Line) -> str:
    """Who speaks. The dots are the office's own: in a name they could make a person pass for a coworker."""
    kind = " · AI" if line.artificial else ""
    title = f" · {undotted(line.title)}" if line.title else ""
    return f"⟦{line.number} · {undotted(line.name)}{title}{kind}⟧"


def undotted(name: str) -> str:
    return plain(name).replace("·", "‧")


def plain(text: str) -> str:
    """Sentinels inside content become ordinary brackets, so that nobody can write a header of somebody else."""
    return text.translate(SENTINELS)


def has_words(text: str) -> bool:
    return any(unicodedata.category(mark)[0] not in "ZC" for mark in text)


def assemble(parts: Sequence[Part], count: Count, left_out: list[dict[str, Any]]) -> Built:
    """Merges neighbours of one role into one message and notes where each part stands in it."""
    built = Built(left_out=left_out)
    for part in parts:
        if built.messages and built.messages[-1]["role"] == part.role:
            built.messages[-1]["content"] += "\n\n"
        else:
            built.messages.append({"role": part.role, "content": ""})
        message = built.messages[-1]
        start = len(message["content"])
        message["content"] += part.text
        built.segments.append(segment(part, len(built.messages) - 1, start, count))
    return built


def segment(part: Part, index: int, start: int, count: Count) -> dict[str, Any]:
    return {
        "origin": part.origin,
        "label": part.label,
        "role": part.role,
        "index": index,
        "start": start,
        "end": start + len(part.text),
        "tokens": count(part.text),
        "source": part.source,
    }
