"""Who may open a socket: from this office's own pages, and signed in."""

from http.cookies import SimpleCookie
from typing import Any, NamedTuple

from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore
from django.utils.crypto import constant_time_compare

from office.live.hub import hub
from office.live.pool import in_pool
from office.models import Membership


class Visitor(NamedTuple):
    person: str
    session: str
    name: str


def from_own_page(scope: dict[str, Any]) -> bool:
    """Whether the handshake's Origin is this very office, or one that CSRF_TRUSTED_ORIGINS names.

    As Django does it for writes: scheme, host and port. Cookies know no ports, so that another program's page on the
    same machine would carry ours; the host alone is not enough.
    """
    headers = dict(scope["headers"])
    origin = headers.get(b"origin", b"").decode("latin-1")
    host = headers.get(b"host", b"").decode("latin-1")
    own = f"{'https' if is_encrypted(scope, headers) else 'http'}://{host}"
    return bool(origin) and (origin.lower() == own.lower() or origin in settings.CSRF_TRUSTED_ORIGINS)


def is_encrypted(scope: dict[str, Any], headers: dict[bytes, bytes]) -> bool:
    """TLS here, or at the proxy in front whose word is believed."""
    if settings.SECURE_PROXY_SSL_HEADER and headers.get(b"x-forwarded-proto"):
        return headers[b"x-forwarded-proto"] == b"https"
    return scope.get("scheme") == "wss"


async def admit(scope: dict[str, Any]) -> Visitor:
    """The signed-in visitor; raises `LookupError`. Asks again when somebody was shown out during the question."""
    while True:
        before = hub.evictions
        visitor = await in_pool(signed_in, session_cookie(scope))
        if hub.evictions == before:
            return visitor


def session_cookie(scope: dict[str, Any]) -> str:
    """The session key of the handshake's cookie, or an empty text."""
    for name, value in scope["headers"]:
        if name == b"cookie":
            morsel = SimpleCookie(value.decode("latin-1")).get(settings.SESSION_COOKIE_NAME)
            if morsel:
                return morsel.value
    return ""


def signed_in(session_key: str) -> Visitor:
    """Whom a valid sign-in belongs to; raises `LookupError`. The password hash must fit still."""
    store = SessionStore(session_key or None)
    person_id = store.get(SESSION_KEY) if session_key and store.get(BACKEND_SESSION_KEY) else None
    member = Membership.objects.filter(person=person_id, person__is_active=True).select_related("person").first()
    if member is None:
        raise LookupError("nobody is signed in")
    if not constant_time_compare(store.get(HASH_SESSION_KEY, ""), member.person.get_session_auth_hash()):
        raise LookupError("the password was changed since")
    return Visitor(member.person_id, session_key, member.person.name)
