"""From a stored model endpoint to a request on its way: the key is opened here and nowhere else."""

from collections.abc import AsyncGenerator
from typing import Any
from urllib.parse import urlsplit

from django.db import transaction

from office import llm, secrets
from office.chunks import Chunk
from office.model_errors import ModelError
from office.models import Coworker, Provider, ProviderKind
from office.providers import Endpoint
from office.rehearsal import rehearse

# Ports where model servers listen by default on the machine itself; loopback only, so offering them is safe.
USUAL_PORTS = frozenset({11434, 1234, 8080})
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


def endpoint_of(provider: Provider) -> Endpoint:
    """Address, opened key and what the guard must know. Raises `ModelError` for a key that stays shut."""
    try:
        key = secrets.open_sealed(provider.sealed_key) if provider.sealed_key else ""
    except secrets.SecretsUnusable as error:
        raise ModelError(error.code) from None
    return Endpoint(provider.base_url, key, pinned_of(provider), frozenset(provider.unsupported))


def pinned_of(provider: Provider) -> frozenset[str]:
    """Private host:port pairs this endpoint may reach: the usual model servers of this machine, and our own child."""
    if provider.kind == ProviderKind.LOCAL:
        parts = urlsplit(provider.base_url)
        return frozenset({f"{parts.hostname}:{parts.port}"})
    return usual_place(provider.base_url)


def usual_place(base_url: str) -> frozenset[str]:
    """The host:port of an address where a model server of this machine is usually found, else nothing."""
    try:
        parts = urlsplit(base_url.strip())
        place = f"{parts.hostname}:{parts.port}"
    except ValueError:
        return frozenset()
    return frozenset({place} if parts.hostname in LOOPBACK and parts.port in USUAL_PORTS else ())


def chunks_from(
    provider: Provider,
    *,
    model: str,
    messages: list[dict[str, str]],
    parameters: dict[str, Any],
    origins: dict[str, int],
    language: str,
) -> AsyncGenerator[Chunk, None]:
    """Sends one request and yields its typed chunks; the rehearsal answers by itself, without any connection."""
    if provider.kind == ProviderKind.REHEARSAL:
        return rehearse(messages, language, origins)
    return llm.stream(llm.Ask(endpoint_of(provider), model, messages, parameters))


def parameters_for(coworker: Coworker) -> dict[str, Any]:
    """What is asked of the model besides the messages, as it will go out: without what its server refused before."""
    wanted = {"max_completion_tokens": coworker.max_output_tokens} if coworker.max_output_tokens else {}
    known = Endpoint("", unsupported=frozenset(coworker.provider.unsupported))
    return llm.sent_parameters(llm.Ask(known, "", [], wanted))


def note_unsupported(provider: str, parameter: str) -> bool:
    """Remembers that an endpoint refuses a parameter; False when that was known, so that nobody tries for ever."""
    with transaction.atomic():
        found = Provider.objects.select_for_update().get(pk=provider)
        if parameter in found.unsupported:
            return False
        found.unsupported = [*found.unsupported, parameter]
        found.save(update_fields=["unsupported"])
    return True
