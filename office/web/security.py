"""The content security policy of every answer: own files only, no inline script, no frames."""

from collections.abc import Callable
from typing import Any

from asgiref.sync import iscoroutinefunction
from django.http import HttpRequest, HttpResponse
from django.utils.decorators import sync_and_async_middleware

POLICY = "; ".join(
    (
        "default-src 'self'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "object-src 'none'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    )
)


@sync_and_async_middleware
def ContentSecurity(get_response: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the policy and forbids powerful browser features that nothing here uses."""

    def finish(response: HttpResponse) -> HttpResponse:
        response.headers.setdefault("Content-Security-Policy", POLICY)
        response.headers.setdefault("Permissions-Policy", "camera=(), microphone=(), geolocation=()")
        return response

    if iscoroutinefunction(get_response):

        async def wait(request: HttpRequest) -> HttpResponse:
            return finish(await get_response(request))

        return wait

    return lambda request: finish(get_response(request))
