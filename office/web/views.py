"""Pages only: the ways in, and the shell in which the office is drawn. Everything else goes by the API."""

from typing import Any

from django.contrib.auth import logout
from django.http import HttpRequest, HttpResponse
from django.middleware.csrf import get_token
from django.shortcuts import redirect, render
from django.urls import get_script_prefix
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from office import build
from office.access import seat_of_request
from office.actions import people
from office.actions.household import change_me
from office.api.problems import language_of
from office.errors import Refused
from office.events import member_body
from office.models import Membership, Office, Person
from office.web.forms import Typed, check_pace, typed
from office.web.links import claim_link_of, invite_of
from office.words import LANGUAGES, say, words_for

CLAIM_FIELDS = ("language", "name", "email", "password")
JOIN_FIELDS = ("name", "email", "password")


@never_cache
@require_GET
def home(request: HttpRequest, **_: str) -> HttpResponse:
    """The office for whoever is signed in; the sign-in page for everybody else, and back here afterwards."""
    member = member_of(request)
    if member is None:
        logout(request)
        response = redirect("signin")
        here = request.get_full_path()
        response["Location"] += f"?next={here}" if here != get_script_prefix() else ""
        return response
    get_token(request)  # the page's scripts read the cookie
    return render(request, "office/office.html", shell(member))


def shell(member: Membership) -> dict[str, Any]:
    """What the page's scripts find in it: who I am, the office, and every sentence of my language."""
    language = member.person.language
    me = {**member_body(member), "language": language, "email": member.person.email}
    office = {"id": member.office.pk, "name": member.office.name, "language": member.office.language}
    return {
        "language": language,
        "office": member.office,
        "words_json": words_for(language),
        "boot": {"me": me, "office": office, "base": get_script_prefix(), "build": build.NUMBER},
    }


def member_of(request: HttpRequest) -> Membership | None:
    person = request.user
    return seat_of_request(person) if isinstance(person, Person) else None


@never_cache
@require_http_methods(["GET", "POST"])
def start(request: HttpRequest, token: str) -> HttpResponse:
    """The one-time link: whoever holds it names the office's language and becomes the owner."""
    office = claim_link_of(token)
    if office is None:
        return problem(request, "link_spent", 404)
    form = typed(request, language_here(request, office))
    if request.method == "POST":
        try:
            check_pace(request)
            person = people.claim_office(token=token, **{name: form.values.get(name, "") for name in CLAIM_FIELDS})
        except Refused as refused:
            form.refuse(refused, CLAIM_FIELDS)
        else:
            people.enter(request, person)
            return redirect("home")
    return form_page(request, "office/welcome.html", form, office)


@never_cache
@require_http_methods(["GET", "POST"])
def join(request: HttpRequest, token: str) -> HttpResponse:
    """An invite: a name, an address and a password, and one is in."""
    invite = invite_of(token)
    if invite is None:
        return problem(request, "link_spent", 404)
    form = typed(request, language_here(request, invite.office))
    if request.method == "POST":
        try:
            check_pace(request)
            person = people.join_office(token=token, **{name: form.values.get(name, "") for name in JOIN_FIELDS})
        except Refused as refused:
            form.refuse(refused, JOIN_FIELDS)
        else:
            if form.language != person.language:
                change_me(person, language=form.language)
            people.enter(request, person)
            return redirect("home")
    return form_page(request, "office/join.html", form, invite.office, role=invite.role)


@never_cache
@require_http_methods(["GET", "POST"])
def signin(request: HttpRequest) -> HttpResponse:
    """Address and password; afterwards back to where one wanted to go."""
    office = Office.objects.first()
    form = typed(request, language_here(request, office))
    goal = safe_goal(request)
    if request.method == "POST":
        try:
            check_pace(request)
            if people.sign_in(request, form.values.get("email", ""), form.values.get("password", "")):
                return redirect(goal)
            form.wrong["form"] = say("signin.wrong", form.language)
        except Refused as refused:
            form.refuse(refused, ())
    elif member_of(request):
        return redirect(goal)
    return form_page(request, "office/signin.html", form, office, goal=goal)


@require_POST
def signout(request: HttpRequest) -> HttpResponse:
    """Ends this sign-in; its sockets close at once."""
    people.sign_out(request)
    return redirect("signin")


def safe_goal(request: HttpRequest) -> str:
    """Where `next` points, if it is an address of this office; else the office itself."""
    goal = str(request.POST.get("next") or request.GET.get("next") or "")
    here = get_script_prefix()
    if goal.startswith(here) and url_has_allowed_host_and_scheme(goal, allowed_hosts=None):
        return goal
    return here


def language_here(request: HttpRequest, office: Office | None) -> str:
    """The language of a page outside the office: as asked for, else the office's."""
    asked = request.POST.get("language") or request.GET.get("language") or ""
    if asked in LANGUAGES:
        return asked
    return office.language if office else language_of(None)


def form_page(request: HttpRequest, template: str, form: Typed, office: Office | None, **more: object) -> HttpResponse:
    status = 422 if form.wrong else 200
    context = {"language": form.language, "form": form, "office": office, **more}
    return render(request, template, context, status=status)


def problem(request: HttpRequest, code: str, status: int) -> HttpResponse:
    """A page that says in a sentence what is wrong, and leads back."""
    language = language_here(request, Office.objects.first())
    context = {"language": language, "sentence": say(f"errors.{code}", language), "status": status}
    return render(request, "office/problem.html", context, status=status)


def page_not_found(request: HttpRequest, *_: object, **__: object) -> HttpResponse:
    return problem(request, "not_found", 404)
