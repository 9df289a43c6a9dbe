"""The API told to machines (`schema/`) and to people (`docs/`): one source, the generated OpenAPI description."""

from functools import cache
from itertools import groupby
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.views import SpectacularAPIView
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.views import APIView

from office.api.problems import language_of

ROOT = "/api/v1/"


class SchemaView(SpectacularAPIView):
    """OpenAPI, as YAML or JSON; its errors have the shape of all errors."""

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        """An OpenAPI renderer would write an error as YAML under its own media type."""
        if response.status_code >= 400:
            request.accepted_renderer, request.accepted_media_type = JSONRenderer(), JSONRenderer.media_type
        return super().finalize_response(request, response, *args, **kwargs)


class DocsView(APIView):
    """Every operation on one page.

    Written by the server, since Swagger UI needs inline styles, which the content security policy forbids.
    """

    schema = None

    def get(self, request: Request) -> HttpResponseBase:
        return page(request._request, language_of(request))


def page(request: HttpRequest, language: str) -> HttpResponse:
    return render(request, "office/docs.html", {"language": language, "areas": areas()})


@cache
def areas() -> list[tuple[str, list[dict[str, Any]]]]:
    """(area, its operations) in alphabetical order; the description changes with the code only."""
    described = SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    shapes = described.get("components", {}).get("schemas", {})
    operations = [
        operation(path, method, told, shapes)
        for path, methods in sorted(described["paths"].items())
        for method, told in methods.items()
    ]
    return [(area, list(some)) for area, some in groupby(operations, key=lambda one: one["area"])]


def operation(path: str, method: str, told: dict[str, Any], shapes: dict[str, Any]) -> dict[str, Any]:
    """What the page shows of one method of one address."""
    return {
        "area": path.removeprefix(ROOT).partition("/")[0],
        "path": path,
        "method": method.upper(),
        "words": told.get("description", ""),
        "fields": [*parameters(told), *body_fields(told, shapes)],
    }


def parameters(told: dict[str, Any]) -> list[dict[str, Any]]:
    """Those of the query; the ones in the path are to be seen there."""
    given = (one for one in told.get("parameters", []) if one["in"] == "query")
    return [field(f"?{one['name']}", one["schema"], one.get("required", False)) for one in given]


def body_fields(told: dict[str, Any], shapes: dict[str, Any]) -> list[dict[str, Any]]:
    content = told.get("requestBody", {}).get("content", {}).get("application/json", {})
    shape = shapes.get(content.get("schema", {}).get("$ref", "").rpartition("/")[2], {})
    needed = set(shape.get("required", ()))
    return [field(name, one, name in needed) for name, one in shape.get("properties", {}).items()]


def field(name: str, shape: dict[str, Any], required: bool) -> dict[str, Any]:
    return {"name": name, "kind": kind_of(shape), "required": required}


def kind_of(shape: dict[str, Any]) -> str:
    """A type in a word or two: `string (26)`, `integer`, `array of string`."""
    if shape.get("type") == "array":
        return f"array of {kind_of(shape.get('items', {}))}"
    limit = f" ({shape['maxLength']})" if "maxLength" in shape else ""
    return f"{shape.get('format') or shape.get('type') or 'choice'}{limit}"
