"""The commands that let a script, or somebody locked out, in."""

import io

import pytest
from django.contrib.auth import authenticate
from django.core.management import CommandError, call_command
from django.utils import timezone
from rest_framework.test import APIClient

from office.actions.founding import found_office
from office.actions.people import claim_office
from office.models import Office
from tests.cast import PASSWORD, Cast
from tests.desk import Desk


def printed(*command: str) -> str:
    out = io.StringIO()
    call_command(*command, stdout=out)
    return out.getvalue().strip()


def test_the_command_prints_a_token_that_works(cast: Cast) -> None:
    token = printed("token", "Alice@example.com", "--name", "backup")
    http = APIClient(headers={"authorization": f"Bearer {token}"})
    assert http.get("/api/v1/office/").json()["me"]["id"] == cast.alice.pk
    assert [one.name for one in cast.alice.tokens.all()] == ["backup"]


def test_nobody_by_that_address_is_said_in_a_sentence(cast: Cast) -> None:
    with pytest.raises(CommandError, match=r"nobody@example\.com"):
        printed("token", "nobody@example.com", "--name", "x")


def test_a_token_needs_a_name_that_can_be_seen(cast: Cast) -> None:
    with pytest.raises(CommandError, match="invisible"):
        printed("token", "alice@example.com", "--name", "\u200b")


def test_the_link_command_opens_an_office_without_an_owner(transactional_db: None) -> None:
    found_office(language="en")
    token = printed("link").rstrip("/").rpartition("/")[2]
    assert claim_office(token=token, name="Ann", email="a@example.com", password=PASSWORD, language="en").name == "Ann"


def test_somebody_locked_out_gets_a_password_that_works_and_the_sign_ins_before_it_end(cast: Cast) -> None:
    Office.objects.filter(pk=cast.office.pk).update(claimed=timezone.now())
    before = Desk(cast.alice)
    told = printed("link", "--place", "https://office.example.com/")
    assert "https://office.example.com/signin/" in told
    password = told.partition("password: ")[2].split(" ")[0]
    assert authenticate(username="alice@example.com", password=password) == cast.alice
    assert before.refused("get", "sidebar/", 401) == "not_signed_in"


def test_no_password_is_given_for_an_address_that_is_nobodys(cast: Cast) -> None:
    with pytest.raises(CommandError, match="Nobody"):
        printed("link", "charlie@example.com")
