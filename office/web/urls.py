"""Pages. The office itself is one shell; its scripts read from the address which channel to open."""

from django.urls import path, re_path

from office.web import views

urlpatterns = [
    path("", views.home, name="home"),
    path("c/<str:channel>/", views.home, name="channel"),
    path("settings/", views.home, name="settings"),
    path("settings/<slug:section>/", views.home, name="settings-section"),
    path("start/<str:token>/", views.start, name="start"),
    path("join/<str:token>/", views.join, name="join"),
    path("signin/", views.signin, name="signin"),
    path("signout/", views.signout, name="signout"),
    re_path(r"^(?P<rest>.*)/$", views.page_not_found),
]
