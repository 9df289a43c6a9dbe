"""Every address of the office. The composition root: it may name all packages."""

from django.urls import include, path, re_path

from modes.api import views as modes
from office.api import providers, views
from office.api.plain import NotThere
from office.api.schema import DocsView, SchemaView
from office.health import healthz
from threads.api import views as threads

BUILDING = [
    path("office/", views.OfficeView.as_view()),
    path("me/", views.MeView.as_view()),
    path("members/", views.MembersView.as_view()),
    path("members/<str:person>/", views.MemberView.as_view()),
    path("invites/", views.InvitesView.as_view()),
    path("invites/<str:invite>/", views.InviteView.as_view()),
    path("tokens/", views.TokensView.as_view()),
    path("tokens/<str:token>/", views.TokenView.as_view()),
    path("providers/", providers.ProvidersView.as_view()),
    path("providers/found/", providers.FoundView.as_view()),
    path("providers/<str:provider>/", providers.ProviderView.as_view()),
    path("providers/<str:provider>/test/", providers.ProviderTestView.as_view()),
    path("providers/<str:provider>/give-to-all/", providers.ProviderForAllView.as_view()),
    path("coworkers/", views.CoworkersView.as_view()),
    path("coworkers/<str:coworker>/", views.CoworkerView.as_view()),
    path("coworkers/<str:coworker>/retire/", views.RetireView.as_view()),
    path("channels/<str:channel>/", views.ChannelView.as_view()),
    path("channels/<str:channel>/members/", views.ChannelMembersView.as_view()),
    path("streams/<str:stream>/events/", views.EventsView.as_view()),
    path("audit/", views.AuditView.as_view()),
]
TALK = [
    path("channels/<str:channel>/enter/", threads.EnterView.as_view()),
    path("channels/<str:channel>/read/", threads.ReadView.as_view()),
    path("threads/<str:thread>/messages/", threads.MessagesView.as_view()),
    path("threads/<str:thread>/calls/", threads.ThreadCallsView.as_view()),
    path("messages/<str:message>/", threads.MessageView.as_view()),
    path("messages/<str:message>/versions/", threads.VersionsView.as_view()),
    path("messages/<str:message>/select/", threads.SelectView.as_view()),
    path("messages/<str:message>/calls/", threads.MessageCallsView.as_view()),
    path("calls/<str:call>/", threads.CallView.as_view()),
    path("calls/<str:call>/receipt/", threads.ReceiptView.as_view()),
    path("missions/", threads.MissionsView.as_view()),
]
WORK = [
    path("sidebar/", modes.SidebarView.as_view()),
    path("channels/", modes.ChannelsView.as_view()),
    path("coworkers/<str:coworker>/dm/", modes.DmView.as_view()),
    path("threads/<str:thread>/", modes.ThreadView.as_view()),
    path("missions/<str:mission>/stop/", modes.StopView.as_view()),
    path("missions/<str:mission>/retry/", modes.RetryView.as_view()),
    path("messages/<str:message>/regenerate/", modes.RegenerateView.as_view()),
    path("runs/<str:run>/", modes.RunView.as_view()),
    path("runs/<str:run>/partial/", modes.PartialView.as_view()),
]
SCHEMA = [path("schema/", SchemaView.as_view()), path("docs/", DocsView.as_view())]

urlpatterns = [
    path("healthz", healthz),
    path("api/v1/", include([*BUILDING, *TALK, *WORK, *SCHEMA, re_path(r"^(?P<rest>.*)$", NotThere.as_view())])),
    path("", include("office.web.urls")),
]
