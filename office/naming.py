"""Names of people, coworkers, channels and endpoints: one form, visible, and without tricks."""

import unicodedata

from office.errors import Refused

# Characters that change the order of a line or show nothing: a name made with them can pass for another.
TRICKS = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}


def check_name(name: str, *, field: str = "name", limit: int = 80) -> str:
    """`name` in NFC with single spaces and no ends; refuses an empty, invisible, disguised or too long one.

    Composed and decomposed spellings become equal. Codes: name_missing, name_not_plain, name_too_long.
    """
    plain = " ".join(unicodedata.normalize("NFC", name).split())
    if any(unicodedata.category(mark) in TRICKS for mark in plain):
        raise Refused("name_not_plain", field=field)
    if not any(unicodedata.category(mark)[0] in "LNSP" for mark in plain):
        raise Refused("name_missing", field=field)
    if len(plain) > limit:
        raise Refused("name_too_long", field=field, limit=limit)
    return plain
