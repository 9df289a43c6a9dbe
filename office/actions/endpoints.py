"""Model endpoints: adding, changing, testing, retiring, and what first start finds."""

import os
from typing import Any

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from office import local_model, net, secrets
from office.access import check_runs_office, provider_for
from office.actions.audit import audit
from office.actions.staff import changes_told
from office.endpoints import usual_place
from office.errors import Refused
from office.events import coworker_body, office_stream
from office.live import log
from office.models import Coworker, Office, Person, Provider, ProviderKind
from office.naming import check_name
from office.words import LANGUAGES, say

FIXED = (ProviderKind.REHEARSAL, ProviderKind.LOCAL)


@transaction.atomic(durable=True)
def add_provider(actor: Person, *, name: str, base_url: str, key: str = "", **rest: Any) -> Provider:
    """A new OpenAI-compatible endpoint; `rest` may hold default_model, models, prices and context_window."""
    office = check_runs_office(actor).office
    provider = Provider(office=office, name=check_name(name), base_url=checked_url(base_url))
    write_key(provider, key)
    write_rest(provider, rest)
    provider.save()
    audit(office, actor, "provider.added", provider.pk, base_url=provider.base_url)
    return provider


@transaction.atomic(durable=True)
def change_provider(actor: Person, *, provider: str, **fields: Any) -> Provider:
    """Changes the named fields. A new base URL drops the key: it is never sent to a host it was not stored for."""
    with changes_told(check_runs_office(actor).office):
        found = provider_for(actor, provider)
        if found.kind in FIXED:
            raise Refused("provider_fixed", status=409)
        write_fields(found, fields)
        found.save()
        audit(found.office, actor, "provider.changed", found.pk, fields=sorted(set(fields) - {"key"}))
    return found


def write_fields(provider: Provider, fields: dict[str, Any]) -> None:
    if "name" in fields:
        provider.name = check_name(fields["name"])
    if "base_url" in fields and checked_url(fields["base_url"]) != provider.base_url:
        provider.base_url, provider.unsupported = checked_url(fields["base_url"]), []
        write_key(provider, "")
    if "key" in fields:
        write_key(provider, fields["key"])
    write_rest(provider, fields)


@transaction.atomic(durable=True)
def retire_provider(actor: Person, *, provider: str) -> None:
    """Takes an endpoint out and forgets its key; refused while a coworker answers by it."""
    found = provider_for(actor, provider)
    users = list(found.coworkers.filter(retired=None).values_list("name", flat=True))
    if found.kind in FIXED or users:
        raise Refused("provider_in_use", status=409, names="、".join(users) or found.name)
    write_key(found, "")
    found.retired = timezone.now()
    found.save()
    audit(found.office, actor, "provider.retired", found.pk)


@transaction.atomic(durable=True)
def give_to_all(actor: Person, *, provider: str, model: str) -> list[Coworker]:
    """Lets every coworker who still rehearses answer by this endpoint and model: the one click of the first page."""
    found = provider_for(actor, provider)
    stream = log.lock(office_stream(found.office))
    moved = list(
        Coworker.objects.filter(office=found.office, retired=None, provider__kind__in=FIXED).order_by("created", "pk")
    )
    for coworker in moved:
        coworker.provider, coworker.model, coworker.version = found, model, coworker.version + 1
        coworker.save(update_fields=["provider", "model", "version"])
        log.append(stream, "coworker.changed", {"coworker": coworker_body(coworker)})
    audit(found.office, actor, "provider.given_to_all", found.pk, model=model, coworkers=len(moved))
    return moved


def adopt_environment(office: Office) -> Provider | None:
    """On each start: the endpoint of OPENAI_API_KEY / OPENAI_BASE_URL, kept in step with the environment.

    When the variables are gone on a later start, the stored endpoint stays as it is: coworkers answer by it, and
    taking it out is a person's choice on the settings page.
    """
    key, url = os.environ.get("OPENAI_API_KEY", ""), os.environ.get("OPENAI_BASE_URL", "")
    if not key and not url:
        return None
    base_url = checked_url(url or "https://api.openai.com/v1")
    model = os.environ.get("OPENAI_MODEL") or ("gpt-5-mini" if not url else "")
    own_names = [say("founding.environment", language) for language in LANGUAGES]
    with transaction.atomic(), changes_told(office):
        provider = Provider.objects.filter(office=office, base_url=base_url, retired=None).first()
        provider = provider or Provider(
            office=office, base_url=base_url, name=say("founding.environment", office.language)
        )
        if provider.name in own_names or not provider.sealed_key:  # a key that a person entered stays
            write_key(provider, key)
            provider.default_model = model or provider.default_model
        provider.save()
        move_rehearsers(office, provider)
    return provider


def adopt_local(office: Office, base_url: str) -> Provider:
    """On each start with the `local` extra: the small model of this machine, for coworkers who would only rehearse."""
    with transaction.atomic(), changes_told(office):
        provider, _ = Provider.objects.get_or_create(
            office=office, kind=ProviderKind.LOCAL, defaults={"name": say("founding.local", office.language)}
        )
        provider.base_url, provider.default_model = base_url, "local"
        provider.context_window = local_model.CONTEXT
        provider.save()
        move_rehearsers(office, provider)
    return provider


def let_go_local(office: Office) -> None:
    """On a start without the small model: whoever answered by it rehearses again, and says so."""
    rehearsal = Provider.objects.get(office=office, kind=ProviderKind.REHEARSAL)
    with transaction.atomic(), changes_told(office):
        Coworker.objects.filter(office=office, provider__kind=ProviderKind.LOCAL).update(
            provider=rehearsal, model="", version=F("version") + 1
        )


def move_rehearsers(office: Office, provider: Provider) -> None:
    """Coworkers without a model of their own get this one; a choice somebody made is left alone.

    A connected endpoint also takes over from the demonstration model; that one takes over from the rehearsal alone.
    """
    unset = [ProviderKind.REHEARSAL] if provider.kind == ProviderKind.LOCAL else FIXED
    Coworker.objects.filter(office=office, retired=None, provider__kind__in=unset).update(
        provider=provider, model="", version=F("version") + 1
    )


def checked_url(base_url: str) -> str:
    """The normalised address; raises `Refused("base_url_refused")`."""
    try:
        return net.check_base_url(base_url, usual_place(base_url))
    except ValueError as error:
        raise Refused("base_url_refused", field="base_url", reason=str(error)) from None


def write_key(provider: Provider, key: str) -> None:
    """Seals the key and keeps its last four characters for the screen."""
    key = key.strip()
    provider.sealed_key = secrets.seal(key) if key else ""
    provider.key_last4 = secrets.last4(key)


PRICE_FIELDS = frozenset({"input", "cached", "output"})


def checked_prices(prices: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Prices that can be reckoned with; raises `Refused("prices_malformed")`."""
    for model, price in prices.items():
        plain = all(type(price[name]) in (int, float) and 0 <= price[name] < 1e9 for name in PRICE_FIELDS & set(price))
        currency = price.get("currency", "USD")
        coded = isinstance(currency, str) and currency.isascii() and currency.isalpha() and len(currency) == 3
        if not (plain and coded and set(price) <= PRICE_FIELDS | {"currency"} and model.isprintable()):
            raise Refused("prices_malformed", field="prices")
    return prices


def write_rest(provider: Provider, fields: dict[str, Any]) -> None:
    if "prices" in fields:
        fields = {**fields, "prices": checked_prices(fields["prices"])}
    for field, column in (
        ("default_model", "default_model"),
        ("models", "model_names"),
        ("prices", "prices"),
        ("context_window", "context_window"),
    ):
        if field in fields:
            setattr(provider, column, fields[field])


def note_models(provider: Provider, models: list[str]) -> None:
    """Keeps the list an endpoint gave, and takes the first as default where none was chosen."""
    with transaction.atomic(), changes_told(provider.office):
        provider.refresh_from_db(fields=["default_model"])  # asking took a while; somebody may have chosen meanwhile
        provider.model_names = models[:500]
        provider.default_model = provider.default_model or models[0]
        provider.save(update_fields=["model_names", "default_model"])
