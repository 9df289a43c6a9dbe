"""The building over REST: parse, call, answer."""

from django.conf import settings
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from office import access, build
from office.actions import channels, people, staff, tokens
from office.actions.household import change_me, change_office
from office.api import serializers as shapes
from office.api.plain import actor_of, read, whole
from office.errors import absent
from office.events import channel_body, coworker_body, member_body
from office.live.frames import event_body
from office.live.log import events_after
from office.live.streams import may_follow

ANY = OpenApiTypes.OBJECT


class OfficeView(APIView):
    """The office and who asks."""

    @extend_schema(responses=ANY)
    def get(self, request: Request) -> Response:
        member = access.membership_for(actor_of(request))
        office = member.office
        me = {**member_body(member), "language": member.person.language, "email": member.person.email}
        return Response(
            {
                "id": office.pk,
                "name": office.name,
                "language": office.language,
                "me": me,
                "build": build.NUMBER,
            }
        )

    @extend_schema(request=shapes.OfficeSheet, responses=ANY)
    def patch(self, request: Request) -> Response:
        change_office(actor_of(request), **read(request, shapes.OfficeSheet, partial=True))
        return self.get(request)


class MeView(APIView):
    """One's own name and language of the screen."""

    @extend_schema(request=shapes.MeSheet, responses=ANY)
    def patch(self, request: Request) -> Response:
        member = change_me(actor_of(request), **read(request, shapes.MeSheet, partial=True))
        return Response({**member_body(member), "language": member.person.language})


class MembersView(APIView):
    @extend_schema(operation_id="members_list", responses=ANY)
    def get(self, request: Request) -> Response:
        members = access.members_for(actor_of(request))
        return Response({"members": [member_body(member) for member in members]})


class MemberView(APIView):
    @extend_schema(request=shapes.RoleSheet, responses=ANY)
    def patch(self, request: Request, person: str) -> Response:
        member = people.change_role(actor_of(request), person=person, **read(request, shapes.RoleSheet))
        return Response(member_body(member))

    @extend_schema(responses={204: None})
    def delete(self, request: Request, person: str) -> Response:
        people.remove_member(actor_of(request), person=person)
        return Response(status=204)


class InvitesView(APIView):
    @extend_schema(operation_id="invites_list", responses=ANY)
    def get(self, request: Request) -> Response:
        office = access.check_runs_office(actor_of(request)).office
        return Response({"invites": [tokens.invite_body(invite) for invite in office.invites.order_by("-created")]})

    @extend_schema(request=shapes.InviteSheet, responses={201: ANY})
    def post(self, request: Request) -> Response:
        made, token = people.invite(actor_of(request), **read(request, shapes.InviteSheet))
        url = request.build_absolute_uri(f"{settings.FORCE_SCRIPT_NAME or ''}/join/{token}/")
        return Response({**tokens.invite_body(made), "url": url}, status=201)


class InviteView(APIView):
    @extend_schema(responses={204: None})
    def delete(self, request: Request, invite: str) -> Response:
        people.withdraw_invite(actor_of(request), invite=invite)
        return Response(status=204)


class TokensView(APIView):
    @extend_schema(operation_id="tokens_list", responses=ANY)
    def get(self, request: Request) -> Response:
        rows = actor_of(request).tokens.order_by("-created")
        return Response({"tokens": [tokens.token_body(token) for token in rows]})

    @extend_schema(request=shapes.TokenSheet, responses={201: ANY})
    def post(self, request: Request) -> Response:
        made, secret = tokens.make_token(actor_of(request), **read(request, shapes.TokenSheet))
        return Response({**tokens.token_body(made), "token": secret}, status=201)


class TokenView(APIView):
    @extend_schema(responses={204: None})
    def delete(self, request: Request, token: str) -> Response:
        tokens.drop_token(actor_of(request), token=token)
        return Response(status=204)


class CoworkersView(APIView):
    @extend_schema(operation_id="coworkers_list", responses=ANY)
    def get(self, request: Request) -> Response:
        rows = access.coworkers_for(actor_of(request))
        return Response({"coworkers": [coworker_body(coworker) for coworker in rows]})

    @extend_schema(request=shapes.CoworkerSheet, responses={201: ANY})
    def post(self, request: Request) -> Response:
        sheet = read(request, shapes.CoworkerSheet)
        sheet.pop("version", None)
        return Response(coworker_body(staff.hire_coworker(actor_of(request), **sheet)), status=201)


class CoworkerView(APIView):
    @extend_schema(responses=ANY)
    def get(self, request: Request, coworker: str) -> Response:
        return Response(coworker_body(access.coworker_for(actor_of(request), coworker)))

    @extend_schema(request=shapes.CoworkerSheet, responses=ANY)
    def patch(self, request: Request, coworker: str) -> Response:
        sheet = read(request, shapes.CoworkerSheet, partial=True)
        return Response(coworker_body(staff.change_coworker(actor_of(request), coworker=coworker, **sheet)))


class RetireView(APIView):
    @extend_schema(request=None, responses=ANY)
    def post(self, request: Request, coworker: str) -> Response:
        return Response(coworker_body(staff.retire_coworker(actor_of(request), coworker=coworker)))


class ChannelMembersView(APIView):
    @extend_schema(operation_id="channel_members_list", responses=ANY)
    def get(self, request: Request, channel: str) -> Response:
        members = access.channel_for(actor_of(request), channel).members.select_related("person", "coworker")
        people = [{"id": row.person.pk, "name": row.person.name} for row in members if row.person]
        coworkers = [{"id": row.coworker.pk, "name": row.coworker.name} for row in members if row.coworker]
        return Response({"people": people, "coworkers": coworkers})

    @extend_schema(request=shapes.ChannelMemberSheet, responses=ANY)
    def post(self, request: Request, channel: str) -> Response:
        sheet = read(request, shapes.ChannelMemberSheet)
        return Response(channel_body(channels.add_member(actor_of(request), channel=channel, **sheet)))

    @extend_schema(request=shapes.ChannelMemberSheet, responses={204: None})
    def delete(self, request: Request, channel: str) -> Response:
        sheet = read(request, shapes.ChannelMemberSheet)
        channels.remove_from_channel(actor_of(request), channel=channel, **sheet)
        return Response(status=204)


class ChannelView(APIView):
    @extend_schema(responses={204: None})
    def delete(self, request: Request, channel: str) -> Response:
        """Archives: closed for writing, open for reading."""
        channels.archive_channel(actor_of(request), channel=channel)
        return Response(status=204)


class EventsView(APIView):
    """The gap fill: contiguous events after a cursor, never with a hole."""

    @extend_schema(responses=ANY)
    def get(self, request: Request, stream: str) -> Response:
        actor = actor_of(request)
        if not may_follow(actor.pk, stream):
            raise absent()
        after, limit = whole(request, "after") or 0, min(whole(request, "limit") or 200, 500)
        epoch = request.query_params.get("epoch") or None
        events, head, epoch = events_after(stream, after=after, epoch=epoch, limit=limit)
        return Response({"events": [event_body(event) for event in events], "head": head, "epoch": epoch})


class AuditView(APIView):
    @extend_schema(responses=ANY)
    def get(self, request: Request) -> Response:
        office = access.check_runs_office(actor_of(request)).office
        rows = office.audit.select_related("actor").order_by("-at", "-pk")[: min(whole(request, "limit") or 100, 500)]
        return Response({"entries": [tokens.audit_body(entry) for entry in rows]})
