"""The commands that let a script, or somebody locked out, in."""

import io

import pytest
from django.core.management import CommandError, call_command
from rest_framework.test import APIClient

from tests.cast import Cast


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
