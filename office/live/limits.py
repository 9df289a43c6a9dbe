"""How often is too often: a bucket for each socket, a throttle for each person."""

from typing import Any

from rest_framework.request import Request
from rest_framework.throttling import SimpleRateThrottle


class Bucket:
    """`size` frames in `seconds`, refilled steadily; the caller brings the time."""

    def __init__(self, size: int, seconds: float) -> None:
        self._size, self._rate = float(size), size / seconds
        self._level, self._at = float(size), 0.0

    def take(self, now: float) -> bool:
        """Takes one; False when there is none."""
        self._level = min(self._size, self._level + (now - self._at) * self._rate)
        self._at = now
        if self._level < 1:
            return False
        self._level -= 1
        return True


class PerPerson(SimpleRateThrottle):
    """API requests a person, or an address while nobody is signed in."""

    scope = "api"

    def get_cache_key(self, request: Request, view: Any) -> str:
        who = request.user.pk if getattr(request.user, "pk", None) else self.get_ident(request)
        return f"throttle:{self.scope}:{who}"


class Messages(PerPerson):
    """Posts a person: each may cost a model call."""

    scope = "messages"


class SignIn(PerPerson):
    """Tries at a password, an invite or the one-time link."""

    scope = "signin"
