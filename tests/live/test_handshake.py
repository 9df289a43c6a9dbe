"""Coming in by the socket: hello, versions, origins, and who is let in."""

import json

import pytest
from django.contrib.sessions.backends.db import SessionStore
from django.http import HttpRequest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from office.actions import people
from office.live import door
from office.live.hub import hub
from tests.client import Client

HELLO = json.dumps({"type": "hello", "version": 1, "client": "test"})


def sign_out(client: Client) -> None:
    """As the page's button does it."""
    request = HttpRequest()
    request.session, request.user = SessionStore(client.session), client.person
    people.sign_out(request)


def test_hello_is_answered_with_the_version_the_beat_and_the_limits(cast, tab, settings) -> None:
    frame = tab(cast.alice).frames[0]
    assert (frame["type"], frame["version"]) == ("hello", 1)
    assert frame["beat_seconds"] == settings.LIVE_BEAT_SECONDS
    assert frame["limits"]["frame_bytes"] == 64 * 1024
    assert frame["connection"]
    assert frame["build"]


@pytest.mark.parametrize(
    "first",
    [
        '{"type":"hello","version":2}',
        '{"type":"hello"}',
        '{"type":"subscribe","stream":"office:x"}',
        "[]",
        "{",
        '"hello"',
        '{"type":1}',
        "[" * 50_000,
        b"\x00\x01",
    ],
)
def test_a_bad_first_frame_closes_4400_and_says_not_to_retry(cast, tab, first) -> None:
    alice = tab(cast.alice, connect=False).open()
    alice.socket.send(first)
    assert alice.closed_with() == 4400
    assert alice.frames[-1] == {"type": "goodbye", "code": 4400, "retry": False, "retry_after": 1}


def test_a_frame_over_64_kib_closes_4400(cast, tab) -> None:
    alice = tab(cast.alice)
    alice.send(type="typing", thread="x" * 64 * 1024)
    assert alice.closed_with() == 4400


def test_64_kib_are_counted_in_bytes(cast, tab) -> None:
    alice = tab(cast.alice)
    alice.socket.send(json.dumps({"type": "typing", "thread": "あ" * 30_000}, ensure_ascii=False))
    assert alice.closed_with() == 4400


def test_a_frame_far_over_the_limit_never_reaches_the_office(cast, tab) -> None:
    alice = tab(cast.alice)
    alice.socket.send("x" * 2 * 1024 * 1024)
    assert alice.closed_with() in (1009, 1006)


def test_one_websocket_message_may_hold_several_frames(cast, tab) -> None:
    alice = tab(cast.alice, connect=False).open()
    stream = f"person:{cast.alice.pk}"
    alice.socket.send(HELLO + "\n" + json.dumps({"type": "subscribe", "stream": stream}) + "\n")
    alice.wait_frame(lambda frame: frame["type"] == "subscribed" and frame["stream"] == stream)


def test_a_frame_nobody_knows_is_answered_and_the_socket_stays(cast, tab) -> None:
    alice = tab(cast.alice)
    alice.send(type="dance")
    alice.wait_frame(lambda frame: frame == {"type": "error", "code": "unknown_frame", "ref": "dance"})
    assert alice.subscribe(f"person:{cast.alice.pk}")["type"] == "subscribed"


def test_too_many_frames_close_4009(cast, tab, settings) -> None:
    settings.LIVE_FRAMES_PER_10_SECONDS = 5
    alice = tab(cast.alice)
    for _ in range(6):
        alice.send(type="typing", thread="x")
    assert alice.closed_with() == 4009


def test_a_full_set_of_subscriptions_at_once_is_not_too_much(cast, tab, settings) -> None:
    alice = tab(cast.alice)
    for number in range(settings.LIVE_STREAMS_PER_SOCKET):
        alice.send(type="subscribe", stream=f"thread:none{number}")
    assert alice.subscribe(f"person:{cast.alice.pk}")["type"] == "subscribed"


def test_subscribing_without_an_end_is_too_much(cast, tab, settings) -> None:
    settings.LIVE_FRAMES_PER_10_SECONDS, settings.LIVE_STREAMS_PER_SOCKET = 5, 3
    alice = tab(cast.alice)
    for number in range(30):
        alice.send(type="subscribe", stream=f"thread:none{number}")
    assert alice.closed_with() == 4009


def test_acknowledging_much_is_not_too_much(cast, tab, settings) -> None:
    settings.LIVE_FRAMES_PER_10_SECONDS = 5
    alice = tab(cast.alice)
    for count in range(50):
        alice.send(type="ack", count=count)
    assert alice.subscribe(f"person:{cast.alice.pk}")["type"] == "subscribed"


def test_one_socket_more_than_a_person_may_have_closes_4009(cast, tab, settings) -> None:
    settings.LIVE_SOCKETS_PER_PERSON = 2
    tab(cast.alice), tab(cast.alice)
    tab(cast.bob)
    assert tab(cast.alice).closed_with() == 4009


def test_without_a_sign_in_the_socket_closes_4001(cast, tab) -> None:
    stranger = tab(None, connect=False).open()
    assert stranger.closed_with() == 4001


def test_an_invented_session_closes_4001(cast, tab) -> None:
    stranger = tab(None, connect=False)
    stranger.session = "a" * 32
    assert stranger.open().closed_with() == 4001


def test_a_session_from_before_a_change_of_password_closes_4001(cast, tab) -> None:
    alice = tab(cast.alice, connect=False)
    cast.alice.set_password("another long sentence")
    cast.alice.save()
    assert alice.open().closed_with() == 4001


@pytest.mark.parametrize(
    "origin",
    [None, "null", "http://evil.example", "https://127.0.0.1:{port}", "http://127.0.0.1:1", "http://127.0.0.1",
     "http://127.0.0.1.evil.example:{port}", "http://localhost:{port}", "file://", "x"],
)  # fmt: skip
def test_a_missing_or_foreign_origin_is_refused_before_the_socket_opens(cast, tab, live, origin) -> None:
    alice = tab(cast.alice, connect=False)
    with pytest.raises(InvalidStatus) as refused:
        alice.open(origin=origin and origin.format(port=live.port))
    assert refused.value.response.status_code == 403


def test_an_origin_the_owner_trusts_is_let_in(cast, tab, settings) -> None:
    settings.CSRF_TRUSTED_ORIGINS = ["https://127.0.0.1:8443"]
    alice = tab(cast.alice, connect=False).open(origin="https://127.0.0.1:8443")
    alice.socket.send(HELLO)
    alice.wait_frame(lambda frame: frame["type"] == "hello")


def test_signing_out_closes_the_sockets_of_that_sign_in_alone(cast, tab) -> None:
    here, elsewhere = tab(cast.alice), tab(cast.alice)
    sign_out(here)
    assert here.closed_with() == 4001
    assert elsewhere.subscribe(f"person:{cast.alice.pk}")["type"] == "subscribed"


def test_after_signing_out_nothing_is_accepted(cast, tab) -> None:
    alice = tab(cast.alice)
    sign_out(alice)
    alice.closed_with()
    with pytest.raises(ConnectionClosed):
        alice.send(type="subscribe", stream=f"person:{cast.alice.pk}")
    assert alice.open().closed_with() == 4001
    assert alice.http.get("sidebar/").status_code == 401
    assert hub.of_person(cast.alice.pk) == []


def test_signing_out_during_the_handshake_closes_it_too(cast, tab, gate) -> None:
    checked = gate(door, "signed_in")
    alice, bob = tab(cast.alice, connect=False).open(), tab(cast.bob, connect=False)
    assert checked.reached()
    sign_out(alice)
    # Parcels arrive in order: once this one has, the sign-out has too.
    checked.holds = lambda *_: False
    witness = bob.connect()
    sign_out(bob)
    assert witness.closed_with() == 4001
    checked.open()
    assert alice.closed_with() == 4001


def test_a_removed_member_is_signed_out_everywhere(cast, tab) -> None:
    alice, bob = tab(cast.alice), tab(cast.bob)
    assert alice.http.delete(f"members/{cast.bob.pk}/").status_code == 204
    assert bob.closed_with() == 4001
    assert bob.http.get("sidebar/").status_code in (401, 403)
    assert bob.open().closed_with() == 4001


def test_a_sign_in_that_ended_unheard_is_found_by_the_beat(cast, tab, beat) -> None:
    alice = tab(cast.alice)
    SessionStore(alice.session).delete()
    beat()
    assert alice.closed_with() == 4001
