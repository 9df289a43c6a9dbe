"""Who asks: the page by its session cookie with CSRF, a script by a bearer token."""

from datetime import timedelta
from typing import Any

from django.utils import timezone
from drf_spectacular.authentication import SessionScheme
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication, SessionAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from office.access import seat_of_request
from office.actions.founding import hashed
from office.models import ApiToken, Person


class CookieAuthentication(SessionAuthentication):
    """Session cookie, CSRF enforced on every write; a missing sign-in answers 401 so that the page can tell."""

    def authenticate_header(self, request: Request) -> str:
        return "Session"


class TokenAuthentication(BaseAuthentication):
    """`Authorization: Bearer <token>`. Exempt from CSRF because no cookie plays a part."""

    def authenticate(self, request: Request) -> tuple[Person, ApiToken] | None:
        scheme, _, secret = get_authorization_header(request).decode("latin-1").partition(" ")
        if scheme.lower() != "bearer" or not secret:
            return None
        token = ApiToken.objects.select_related("person").filter(token_hash=hashed(secret.strip())).first()
        if token is None or not token.person.is_active:
            raise AuthenticationFailed()
        now = timezone.now()
        if token.last_used is None or now - token.last_used > timedelta(minutes=1):
            ApiToken.objects.filter(pk=token.pk).update(last_used=now)
        return token.person, token

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"


class IsMember(BasePermission):
    """Signed in and a member of the office."""

    def has_permission(self, request: Request, view: Any) -> bool:
        person: Any = request.user
        return isinstance(person, Person) and seat_of_request(person) is not None


class CookieScheme(SessionScheme):  # type: ignore[no-untyped-call]
    """How the schema tells of the session cookie."""

    target_class: Any = CookieAuthentication


class BearerScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """How the schema tells of the token."""

    target_class: Any = TokenAuthentication
    name = "bearer"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer"}
