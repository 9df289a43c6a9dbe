"""The one place that turns the building's rows into event payloads and API bodies."""

from typing import Any

from office.models import Channel, Coworker, Membership, Office, Provider, ProviderKind


def office_stream(office: Office | str) -> str:
    return f"office:{office if isinstance(office, str) else office.pk}"


def person_stream(person: str) -> str:
    return f"person:{person}"


def coworker_body(coworker: Coworker) -> dict[str, Any]:
    """A coworker as every member may see it; nothing of the endpoint but its name."""
    provider = coworker.provider
    return {
        "id": coworker.pk,
        "name": coworker.name,
        "title": coworker.title,
        "persona": coworker.persona,
        "language": coworker.language,
        "provider": provider.pk,
        "provider_name": provider.name,
        "model": coworker.model or provider.default_model,
        "is_lead": coworker.is_lead,
        "rehearsal": provider.kind == ProviderKind.REHEARSAL,
        "demo": provider.kind == ProviderKind.LOCAL,
        "hue": coworker.hue,
        "version": coworker.version,
        "retired": coworker.retired is not None,
    }


def channel_body(channel: Channel) -> dict[str, Any]:
    return {
        "id": channel.pk,
        "kind": channel.kind,
        "name": channel.coworker.name if channel.coworker else channel.name,
        "coworker": channel.coworker_id,
        "archived": channel.archived is not None,
    }


def member_body(member: Membership) -> dict[str, Any]:
    seen = member.person.last_seen
    return {
        "id": member.person_id,
        "name": member.person.name,
        "role": member.role,
        "last_seen": seen.isoformat().replace("+00:00", "Z") if seen else None,
    }


def provider_body(provider: Provider) -> dict[str, Any]:
    """A model endpoint for those who run the office; of the key only the last four characters."""
    return {
        "id": provider.pk,
        "name": provider.name,
        "kind": provider.kind,
        "base_url": provider.base_url,
        "has_key": bool(provider.sealed_key),
        "key_last4": provider.key_last4,
        "models": provider.model_names,
        "default_model": provider.default_model,
        "prices": provider.prices,
        "unsupported": provider.unsupported,
        "context_window": provider.context_window,
    }
