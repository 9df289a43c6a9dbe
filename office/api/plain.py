"""What every view here shares: reading the input through a serializer, and the actor as a `Person`."""

from typing import Any

from django.conf import settings
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import Serializer
from rest_framework.views import APIView

from office.errors import Refused, absent
from office.models import Person


def read(request: Request, shape: type[Serializer[Any]], *, partial: bool = False) -> dict[str, Any]:
    """The validated input; raises DRF's `ValidationError`, which the handler turns into one of ours."""
    limit = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
    if int(request.META.get("CONTENT_LENGTH") or 0) > limit:
        raise Refused("too_large", status=413, limit=limit // 1024)
    sheet = shape(data=request.data, partial=partial)
    sheet.is_valid(raise_exception=True)
    return dict(sheet.validated_data)


def actor_of(request: Request) -> Person:
    """The signed-in person; the permission class has made sure there is one."""
    assert isinstance(request.user, Person)
    return request.user


def whole(request: Request, name: str) -> int | None:
    """A whole number from the query, or None; a word that is none is refused."""
    raw = request.query_params.get(name)
    if raw is None or raw == "":
        return None
    if not raw.isascii() or not raw.isdigit() or len(raw) > 18:
        raise Refused("bad_input", status=400, field=name, reason=name)
    return int(raw)


class NotThere(APIView):
    """Any address under the API that is none of ours: the same error shape as everywhere."""

    schema = None

    def get(self, request: Request, rest: str) -> Response:
        raise absent()

    post = patch = put = delete = get
