"""Makes a request fit the model's window: history gives way, what is required never does.

Required are the rules, the persona, who is here, and the mission. They are sent whole or not at all.
"""

from collections.abc import Callable
from typing import TypeVar

from office.errors import Refused
from office.models import Coworker

T = TypeVar("T")
ANSWER_TOKENS = 1024  # kept free for an answer whose length nobody limited
SHARES = (1.0, 0.75, 0.5, 0.25, 0.0)


def room_for(coworker: Coworker) -> int | None:
    """Tokens that a request to this coworker's model may have; None where nobody said how many it takes."""
    window = coworker.provider.context_window
    if window is None:
        return None
    return window - min(coworker.max_output_tokens or ANSWER_TOKENS, window // 2)


def squeezed(make: Callable[[int, bool], T], weigh: Callable[[T], int], room: int) -> T:
    """The fullest request that fits. `make(history tokens, with the first message)` builds one.

    Raises `Refused("does_not_fit")` when it is too much without any history.
    """
    bare = make(0, False)
    least = weigh(bare)
    if least > room:
        raise Refused("does_not_fit", tokens=least, limit=room)
    for share in SHARES:
        built = make(int((room - least) * share), True)
        if weigh(built) <= room:
            return built
    return bare
