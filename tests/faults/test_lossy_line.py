"""Between a client and the office lies a bad line: answers get lost, sockets are cut; nothing is doubled or missing."""

import uuid

import httpx2
import pytest

from tests.client import Client
from tests.faults.mirror import assert_same
from tests.faults.proxy import Proxy
from threads.models import Message


@pytest.fixture
def line(live, settings):
    with Proxy(live.port) as proxy:
        settings.CSRF_TRUSTED_ORIGINS = [proxy.url]
        yield proxy


@pytest.fixture
def far(line, cast):
    """Bob behind the bad line."""
    client = Client(line.url, cast.bob)
    yield client
    client.close()


def test_a_send_whose_answer_was_lost_is_stored_once_and_the_retry_is_a_200(
    cast, line, far, hall, tab, sound_log
) -> None:
    alice = tab(cast.alice)
    view = alice.watch(hall)
    sheet = {"client_msg_id": str(uuid.uuid4()), "text": "once"}
    line.deaf = True
    with pytest.raises(httpx2.TransportError):
        far.http.post(f"threads/{hall}/messages/", json=sheet)
    assert line.lost.wait(10)
    alice.wait(lambda: view.texts == ["once"])
    line.mend()
    again = far.http.post(f"threads/{hall}/messages/", json=sheet)
    assert (again.status_code, again.json()["message"]["id"]) == (200, view.messages[0]["id"])
    assert Message.objects.count() == 1
    assert_same(view)


def test_a_send_that_never_reached_the_office_is_a_201_later(cast, line, far, hall) -> None:
    sheet = {"client_msg_id": str(uuid.uuid4()), "text": "late"}
    line.cut()
    with pytest.raises(httpx2.TransportError):
        far.http.post(f"threads/{hall}/messages/", json=sheet)
    line.mend()
    assert far.http.post(f"threads/{hall}/messages/", json=sheet).status_code == 201


def test_after_a_minute_in_the_tunnel_all_is_there_once_in_order(cast, line, far, hall, tab, sound_log) -> None:
    alice = tab(cast.alice)
    view = far.connect().watch(hall)
    alice.say(hall, "before")
    far.wait(lambda: view.texts == ["before"])
    line.cut()
    for number in range(60):
        alice.say(hall, str(number))
    line.mend()
    alice.say(hall, "after")
    far.reconnect()
    far.wait(lambda: len(view.messages) == 62)
    assert view.texts == ["before", *map(str, range(60)), "after"]
    assert_same(view)


def test_sends_of_one_tab_kept_over_a_cut_arrive_in_their_order(cast, line, far, hall) -> None:
    line.cut()
    outbox = [{"client_msg_id": str(uuid.uuid4()), "text": str(number)} for number in range(10)]
    line.mend()
    for place, sheet in enumerate(outbox):
        line.deaf = place == 4
        try:
            far.http.post(f"threads/{hall}/messages/", json=sheet)
        except httpx2.TransportError:
            line.mend()
            far.http.post(f"threads/{hall}/messages/", json=sheet)
    assert list(Message.objects.order_by("number").values_list("text", flat=True)) == list(map(str, range(10)))
