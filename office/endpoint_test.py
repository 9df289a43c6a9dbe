"""One look at a model endpoint for the settings page: does it answer, and which models does it offer?"""

from typing import Any

from office.endpoints import endpoint_of
from office.llm import list_models
from office.model_errors import ModelError
from office.models import Provider, ProviderKind


async def try_endpoint(provider: Provider) -> dict[str, Any]:
    """{ok, code, models, seconds}; the code is one of `ModelError`'s, empty when all is well."""
    if provider.kind == ProviderKind.REHEARSAL:
        return {"ok": True, "code": "", "models": [], "seconds": 0}
    try:
        models = await list_models(endpoint_of(provider))
    except ModelError as error:
        return {"ok": False, "code": error.code, "models": [], "seconds": round(error.retry_after or 0)}
    return {"ok": True, "code": "", "models": models, "seconds": 0}
