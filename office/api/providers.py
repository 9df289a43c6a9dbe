"""Model endpoints over REST. Keys go in and never come out."""

from asgiref.sync import async_to_sync
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from office import access
from office.actions import endpoints as actions
from office.api import serializers as shapes
from office.api.plain import actor_of, read
from office.api.problems import language_of
from office.discover import find_model_servers
from office.endpoint_test import try_endpoint
from office.events import coworker_body, provider_body
from office.words import say

ANY = OpenApiTypes.OBJECT


class ProvidersView(APIView):
    @extend_schema(operation_id="providers_list", responses=ANY)
    def get(self, request: Request) -> Response:
        office = access.check_runs_office(actor_of(request)).office
        rows = office.providers.filter(retired=None).order_by("created", "pk")
        return Response({"providers": [provider_body(provider) for provider in rows]})

    @extend_schema(request=shapes.ProviderSheet, responses={201: ANY})
    def post(self, request: Request) -> Response:
        made = actions.add_provider(actor_of(request), **read(request, shapes.ProviderSheet))
        return Response(provider_body(made), status=201)


class ProviderView(APIView):
    @extend_schema(request=shapes.ProviderSheet, responses=ANY)
    def patch(self, request: Request, provider: str) -> Response:
        fields = read(request, shapes.ProviderSheet, partial=True)
        return Response(provider_body(actions.change_provider(actor_of(request), provider=provider, **fields)))

    @extend_schema(responses={204: None})
    def delete(self, request: Request, provider: str) -> Response:
        actions.retire_provider(actor_of(request), provider=provider)
        return Response(status=204)


class ProviderTestView(APIView):
    """Says in plain words whether the endpoint answers, and which models it offers."""

    @extend_schema(request=None, responses=ANY)
    def post(self, request: Request, provider: str) -> Response:
        found = access.provider_for(actor_of(request), provider)
        verdict = async_to_sync(try_endpoint)(found)
        if verdict["ok"] and verdict["models"]:
            actions.note_models(found, verdict["models"])
        key = "endpoint.ok" if verdict["ok"] else f"errors.{verdict['code']}"
        message = say(key, language_of(request), count=len(verdict["models"]), seconds=verdict["seconds"])
        return Response({**verdict, "message": message})


class ProviderForAllView(APIView):
    """Lets every coworker who only rehearses answer by this endpoint."""

    @extend_schema(request=shapes.GiveToAllSheet, responses=ANY)
    def post(self, request: Request, provider: str) -> Response:
        moved = actions.give_to_all(actor_of(request), provider=provider, **read(request, shapes.GiveToAllSheet))
        return Response({"coworkers": [coworker_body(coworker) for coworker in moved]})


class FoundView(APIView):
    """Model servers that answer on this machine."""

    @extend_schema(responses=ANY)
    def get(self, request: Request) -> Response:
        access.check_runs_office(actor_of(request))
        found = async_to_sync(find_model_servers)()
        return Response(
            {"found": [{"name": one.name, "base_url": one.base_url, "models": one.models} for one in found]}
        )
