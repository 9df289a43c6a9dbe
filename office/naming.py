"""Names of people, coworkers, channels and endpoints: one form, visible, and without tricks."""

import unicodedata

import regex

from office.errors import Refused

# Characters that change the order of a line, or have no form of their own: a name made with them can pass for another.
TRICKS = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}
# What shows nothing though it counts as a letter or mark: fillers, joiners, the blank Braille pattern.
UNSEEN = regex.compile(r"[\p{Default_Ignorable_Code_Point}\u2800]")
# Joiners and selectors are honest inside an emoji (a woman at a computer, a red heart), and only there.
EMOJI = regex.compile(
    r"\p{Extended_Pictographic}[\ufe0e\ufe0f]?\p{EMod}?(?:\u200d\p{Extended_Pictographic}[\ufe0e\ufe0f]?\p{EMod}?)*"
)


def check_name(name: str, *, field: str = "name", limit: int = 80) -> str:
    """`name` in NFC with single spaces and no ends; refuses an empty, invisible, disguised or too long one.

    Composed and decomposed spellings become equal. Codes: name_missing, name_not_plain, name_too_long.
    """
    plain = " ".join(unicodedata.normalize("NFC", name).split())
    rest = EMOJI.sub("", plain)
    if UNSEEN.search(rest) or any(unicodedata.category(mark) in TRICKS for mark in rest):
        raise Refused("name_not_plain", field=field)
    if not any(unicodedata.category(mark)[0] in "LNSP" for mark in plain):
        raise Refused("name_missing", field=field)
    if len(plain) > limit:
        raise Refused("name_too_long", field=field, limit=limit)
    return plain


def name_key(name: str) -> str:
    """What two names have in common when people would take one for the other: width, case and composition apart."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    return " ".join(UNSEEN.sub("", folded).split())
