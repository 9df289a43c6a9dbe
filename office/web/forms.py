"""The three forms that stand outside the office: claiming it, joining it, signing in.

They hold what was typed and what was refused, so that a page can be shown again with nothing lost but the password.
"""

from dataclasses import dataclass, field

from django.http import HttpRequest

from office.errors import Refused
from office.live.limits import SignIn
from office.words import say

KEPT = ("name", "email", "language")


@dataclass
class Typed:
    """What came in by a form, and the sentence of a refusal beside the field it concerns."""

    values: dict[str, str]
    language: str
    wrong: dict[str, str] = field(default_factory=dict)

    def refuse(self, refused: Refused, fields: tuple[str, ...]) -> None:
        """Puts the sentence next to its field, or above the form when it concerns none of those shown."""
        place = refused.field if refused.field in fields else "form"
        self.wrong[place] = say(f"errors.{refused.code}", self.language, **refused.detail)

    @property
    def fresh(self) -> bool:
        """Nothing was refused yet: the first field takes the focus, else the page's script finds the wrong one."""
        return not self.wrong

    @property
    def kept(self) -> dict[str, str]:
        """What is safe to show again."""
        return {name: self.values.get(name, "") for name in KEPT}


def typed(request: HttpRequest, language: str) -> Typed:
    return Typed({name: str(value) for name, value in request.POST.items()}, language)


def check_pace(request: HttpRequest) -> None:
    """Raises `Refused("too_many_requests")` for an address that tries passwords or links too often."""
    throttle = SignIn()
    if not throttle.allow_request(request, None):  # type: ignore[arg-type]
        raise Refused("too_many_requests", status=429, seconds=max(1, round(throttle.wait() or 1)))
