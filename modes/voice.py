"""An answer is one coworker's voice: what a model writes in the name of others is not stored as its words."""

import re

# A line as the office writes it to say who speaks. The dot keeps mathematics in such brackets out of it.
HEADER = re.compile(r"^[ \t]*⟦[^⟦⟧\n]* · [^⟦⟧\n]*⟧[ \t]*\n?", re.MULTILINE)


def one_voice(text: str, name: str) -> tuple[str, bool]:
    """The coworker's own words, and whether anything after them was dropped.

    A header or name of its own at the very start goes; at the first header after that the text ends. It does not end
    at "Name:", which would destroy lists.
    """
    begins = HEADER.match(text)
    if begins and name in begins[0]:
        text = text[begins.end() :]
    for colon in (":", "："):
        text = text.removeprefix(name + colon).lstrip(" ") if text.startswith(name + colon) else text
    invented = HEADER.search(text)
    return (text[: invented.start()].rstrip(), True) if invented else (text, False)
