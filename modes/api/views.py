"""Runs over REST, and the two reads that draw a screen."""

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from modes import access, actions, queries
from modes.events import run_body
from office.actions import channels
from office.api.plain import actor_of, read
from office.api.serializers import ChannelSheet
from office.live.limits import Messages, PerPerson
from threads.access import thread_for
from threads.api.shapes import ClientId
from threads.events import mission_body

ANY = OpenApiTypes.OBJECT


class SidebarView(APIView):
    @extend_schema(responses=ANY)
    def get(self, request: Request) -> Response:
        return Response(queries.sidebar(actor_of(request)))


class ChannelsView(APIView):
    @extend_schema(operation_id="channels_list", responses=ANY)
    def get(self, request: Request) -> Response:
        return Response({"channels": queries.sidebar(actor_of(request))["channels"]})

    @extend_schema(request=ChannelSheet, responses={201: ANY})
    def post(self, request: Request) -> Response:
        actor = actor_of(request)
        opened = channels.open_channel(actor, **read(request, ChannelSheet))
        return Response(queries.channel_rows(actor, [opened])[0], status=201)


class DmView(APIView):
    """The actor's DM with a coworker, opened or found."""

    @extend_schema(request=None, responses=ANY)
    def post(self, request: Request, coworker: str) -> Response:
        actor = actor_of(request)
        return Response(queries.channel_rows(actor, [channels.open_dm(actor, coworker=coworker)])[0])


class ThreadView(APIView):
    """The snapshot: everything a screen needs, with the position to go on from."""

    @extend_schema(responses=ANY)
    def get(self, request: Request, thread: str) -> Response:
        actor = actor_of(request)
        return Response(queries.thread_snapshot(actor, thread_for(actor, thread)))


class StopView(APIView):
    @extend_schema(request=None, responses=ANY)
    def post(self, request: Request, mission: str) -> Response:
        return Response({"mission": mission_body(actions.stop_mission(actor_of(request), mission=mission))})


class RetryView(APIView):
    throttle_classes = (PerPerson, Messages)

    @extend_schema(request=None, responses=ANY)
    def post(self, request: Request, mission: str) -> Response:
        return Response({"mission": mission_body(actions.retry_mission(actor_of(request), mission=mission))})


class RegenerateView(APIView):
    throttle_classes = (PerPerson, Messages)

    @extend_schema(request=ClientId, responses={200: ANY, 201: ANY})
    def post(self, request: Request, message: str) -> Response:
        mission, run, made = actions.regenerate(actor_of(request), message=message, **read(request, ClientId))
        return Response({"mission": mission_body(mission), "run": run_body(run)}, status=201 if made else 200)


class RunView(APIView):
    @extend_schema(responses=ANY)
    def get(self, request: Request, run: str) -> Response:
        return Response(run_body(access.run_for(actor_of(request), run)))


class PartialView(APIView):
    @extend_schema(responses=ANY)
    def get(self, request: Request, run: str) -> Response:
        return Response(queries.partial_of(access.run_for(actor_of(request), run)))
