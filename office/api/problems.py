"""One shape for every error: {"error": {code, message, field, detail}}, the message in the request's language."""

import logging
from typing import Any

from django.core.exceptions import PermissionDenied
from django.db import DataError
from django.http import Http404
from rest_framework import exceptions
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import set_rollback

from office.errors import Refused, absent
from office.models import Person
from office.words import LANGUAGES, say

LOG = logging.getLogger(__name__)


def answer(problem: Exception, context: dict[str, Any]) -> Response | None:
    """DRF's exception handler; None lets an unforeseen fault become a logged 500."""
    refused = as_refused(problem)
    if refused is None:
        return None
    set_rollback()
    response = Response(body_of(refused, language_of(context.get("request"))), status=refused.status)
    if "seconds" in refused.detail:
        response["Retry-After"] = str(refused.detail["seconds"])
    if refused.status == 401:
        response["WWW-Authenticate"] = "Session"
    return response


def body_of(refused: Refused, language: str) -> dict[str, Any]:
    message = say(f"errors.{refused.code}", language, **refused.detail)
    error = {"code": refused.code, "message": message, "field": refused.field, "detail": refused.detail}
    return {"error": error}


def as_refused(problem: Exception) -> Refused | None:
    """Any foreseen exception in our own terms."""
    match problem:
        case Refused():
            return problem
        case Http404() | exceptions.NotFound():
            return Refused("not_found", status=404)
        case exceptions.NotAuthenticated() | exceptions.AuthenticationFailed():
            return Refused("not_signed_in", status=401)
        case exceptions.PermissionDenied() if "CSRF" in str(problem.detail):
            return Refused("csrf", status=403)
        case exceptions.PermissionDenied() | PermissionDenied():
            return Refused("role_too_low", status=403)
        case exceptions.Throttled():
            return Refused("too_many_requests", status=429, seconds=max(1, round(getattr(problem, "wait", None) or 1)))
        case exceptions.ParseError() | RecursionError():
            return Refused("not_json", status=400)
        case ValueError() | DataError() if "NUL" in str(problem):
            return absent()  # PostgreSQL takes no such character, so nothing has such an id
        case exceptions.MethodNotAllowed():
            return Refused("method_not_allowed", status=405)
        case exceptions.ValidationError():
            return from_validation(problem.detail)
        case exceptions.APIException():
            return Refused("bad_input", status=problem.status_code, reason=str(problem.detail))
    return None


def from_validation(detail: Any) -> Refused:
    """The first thing that is wrong, with its field."""
    field = None
    while isinstance(detail, dict | list) and detail:
        if isinstance(detail, dict):
            key, detail = next(iter(detail.items()))
            field = field or (str(key) if key != "non_field_errors" else None)
        else:
            detail = detail[0]
    return Refused("bad_input", status=400, field=field, reason=str(detail))


def language_of(request: Request | None) -> str:
    """The signed-in person's language, else the browser's, else English."""
    person = getattr(request, "user", None)
    if isinstance(person, Person):
        return person.language
    accepted = request.headers.get("Accept-Language", "") if request is not None else ""
    return next((tag for tag in (part.strip()[:2].lower() for part in accepted.split(",")) if tag in LANGUAGES), "en")
