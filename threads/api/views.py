"""What is said over REST: parse, call, answer."""

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from office.access import channel_for
from office.api.plain import actor_of, read, whole
from office.live.limits import Messages, PerPerson
from threads import access, queries, receipts
from threads.actions import choose, edit, post, sit
from threads.actions.read import mark_read
from threads.api import shapes
from threads.events import message_body, mission_body
from threads.models import Call, Mission

ANY = OpenApiTypes.OBJECT
PAGING = [OpenApiParameter(name, OpenApiTypes.INT) for name in ("before", "after", "around", "limit")]


class MessagesView(APIView):
    throttle_classes = (PerPerson, Messages)

    def get_throttles(self):  # type: ignore[no-untyped-def]
        return [PerPerson(), Messages()] if self.request.method == "POST" else [PerPerson()]

    @extend_schema(operation_id="messages_page", parameters=PAGING, responses=ANY)
    def get(self, request: Request, thread: str) -> Response:
        found = access.thread_for(actor_of(request), thread)
        numbers = {name: whole(request, name) for name in ("before", "after", "around")}
        page = queries.page_of_messages(found, **numbers, limit=whole(request, "limit") or queries.PAGE)
        return Response(page._asdict())

    @extend_schema(request=shapes.Post, responses={200: ANY, 201: ANY})
    def post(self, request: Request, thread: str) -> Response:
        posted = post.post_message(actor_of(request), thread=thread, **read(request, shapes.Post))
        mission = mission_body(posted.mission, posted.coworkers) if posted.mission else None
        versions = 1 if posted.made else None
        body = {"message": message_body(posted.message, versions=versions), "mission": mission}
        return Response(body, status=201 if posted.made else 200)


class MessageView(APIView):
    @extend_schema(responses=ANY)
    def get(self, request: Request, message: str) -> Response:
        return Response(message_body(access.message_for(actor_of(request), message)))

    @extend_schema(request=shapes.Edit, responses=ANY)
    def patch(self, request: Request, message: str) -> Response:
        fresh, mission = edit.edit_message(actor_of(request), message=message, **read(request, shapes.Edit))
        return Response({"message": message_body(fresh), "mission": mission_body(mission) if mission else None})

    @extend_schema(responses=ANY)
    def delete(self, request: Request, message: str) -> Response:
        return Response({"message": message_body(edit.retract_message(actor_of(request), message=message))})


class VersionsView(APIView):
    @extend_schema(responses=ANY)
    def get(self, request: Request, message: str) -> Response:
        return Response({"versions": queries.versions_of(access.message_for(actor_of(request), message))})


class SelectView(APIView):
    @extend_schema(request=None, responses=ANY)
    def post(self, request: Request, message: str) -> Response:
        return Response({"message": message_body(choose.select_version(actor_of(request), message=message))})


class MessageCallsView(APIView):
    """The requests that made an answer, newest last."""

    @extend_schema(operation_id="message_calls_list", responses=ANY)
    def get(self, request: Request, message: str) -> Response:
        actor = actor_of(request)
        found = access.message_for(actor, message)
        calls = Call.objects.filter(run=found.run) if found.run else Call.objects.none()
        rows = receipts.without_texts(calls).order_by("created", "pk")
        return Response({"calls": [receipts.call_body(call, actor) for call in rows]})


class ThreadCallsView(APIView):
    @extend_schema(operation_id="thread_calls_list", responses=ANY)
    def get(self, request: Request, thread: str) -> Response:
        actor = actor_of(request)
        found = access.thread_for(actor, thread)
        rows = receipts.without_texts(found.calls.all()).order_by("-created", "-pk")
        limit = min(whole(request, "limit") or 100, 500)
        return Response({"calls": [receipts.call_body(call, actor) for call in rows[:limit]]})


class CallView(APIView):
    @extend_schema(responses=ANY)
    def get(self, request: Request, call: str) -> Response:
        actor = actor_of(request)
        return Response(receipts.call_body(access.call_for(actor, call), actor))


class ReceiptView(APIView):
    @extend_schema(responses=ANY)
    def get(self, request: Request, call: str) -> Response:
        actor = actor_of(request)
        return Response(receipts.receipt_body(access.call_for(actor, call), actor))


class MissionsView(APIView):
    @extend_schema(operation_id="missions_list", responses=ANY)
    def get(self, request: Request) -> Response:
        rows = Mission.objects.filter(thread__in=access.threads_for(actor_of(request)).values("pk"))
        for name in ("session", "thread", "state", "source", "coworkers"):
            value = request.query_params.get(name.removesuffix("s") if name == "coworkers" else name)
            rows = rows.filter(**{name: value}) if value else rows
        rows = rows.select_related("instruction").prefetch_related("coworkers").order_by("-created", "-pk")
        limit = min(whole(request, "limit") or 100, 500)
        return Response({"missions": [mission_body(mission) for mission in rows[:limit]]})


class EnterView(APIView):
    """The moment a person opens a channel: its open session and main thread."""

    @extend_schema(request=None, responses=ANY)
    def post(self, request: Request, channel: str) -> Response:
        found = channel_for(actor_of(request), channel)
        thread = sit.open_thread(found)
        return Response({"channel": found.pk, "thread": thread.pk, "session": thread.session_id})


class ReadView(APIView):
    @extend_schema(request=shapes.ReadTo, responses=ANY)
    def post(self, request: Request, channel: str) -> Response:
        actor = actor_of(request)
        thread = sit.open_thread(channel_for(actor, channel))
        number = mark_read(actor, thread=thread.pk, **read(request, shapes.ReadTo))
        return Response({"last_read_number": number})
