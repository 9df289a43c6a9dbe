"""Sending once, however often it is tried."""

import uuid
from concurrent.futures import ThreadPoolExecutor

from threads.models import Message


def try_to_send(client, thread: str, send_id: str, text: str):
    return client.http.post(f"threads/{thread}/messages/", json={"client_msg_id": send_id, "text": text})


def test_twenty_parallel_posts_with_one_id_make_one_message_that_everybody_gets(cast, tab, hall) -> None:
    watchers = [tab(cast.alice), tab(cast.bob), tab(cast.bob)]
    views = [watcher.watch(hall) for watcher in watchers]
    send_id = str(uuid.uuid4())
    tabs = [tab(cast.alice, connect=False) for _ in range(5)]
    with ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(lambda n: try_to_send(tabs[n % 5], hall, send_id, "once"), range(20)))
    assert sorted(answer.status_code for answer in answers) == [200] * 19 + [201]
    assert len({answer.json()["message"]["id"] for answer in answers}) == 1
    watchers[0].say(hall, "witness")
    for watcher, view in zip(watchers, views, strict=True):
        watcher.wait(lambda view=view: view.texts == ["once", "witness"])
        assert [frame["event"] for frame in watcher.events(view.stream)] == ["message.posted"] * 2


def test_twenty_parallel_posts_in_a_dm_make_one_mission(cast, tab, server) -> None:
    cast.provider(server.base_url)
    alice = tab(cast.alice)
    view = alice.watch(alice.dm(cast.lead.pk)["thread"])
    send_id = str(uuid.uuid4())
    with ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(lambda _: try_to_send(alice, view.thread, send_id, "once"), range(20)))
    assert len({answer.json()["mission"]["id"] for answer in answers}) == 1
    alice.wait(lambda: len(view.messages) == 2 and not view.state["missions"])
    assert len(server.requests) == 1


def test_the_same_id_with_another_text_or_thread_is_409(cast, tab, hall) -> None:
    alice = tab(cast.alice, connect=False)
    send_id = str(uuid.uuid4())
    assert try_to_send(alice, hall, send_id, "one").status_code == 201
    other_text = try_to_send(alice, hall, send_id, "two")
    other_thread = try_to_send(alice, alice.dm(cast.lead.pk)["thread"], send_id, "one")
    for answer in (other_text, other_thread):
        assert (answer.status_code, answer.json()["error"]["code"]) == (409, "id_reused")
    assert Message.objects.count() == 1


def test_ids_of_two_people_do_not_meet(cast, tab, hall) -> None:
    send_id = str(uuid.uuid4())
    for person in (cast.alice, cast.bob):
        assert try_to_send(tab(person, connect=False), hall, send_id, "mine").status_code == 201
    assert Message.objects.count() == 2


def test_a_retry_gives_the_message_as_it_is_now(cast, tab, hall) -> None:
    alice = tab(cast.alice, connect=False)
    send_id = str(uuid.uuid4())
    first = try_to_send(alice, hall, send_id, "one").json()["message"]
    again = try_to_send(alice, hall, send_id, "one")
    assert (again.status_code, again.json()["message"]) == (200, first)


def test_the_echo_carries_the_id_and_may_come_before_the_response(cast, tab, hall, gate, monkeypatch) -> None:
    from threads.api import views

    alice = tab(cast.alice)
    view = alice.watch(hall)
    answering = gate(views.post, "post_message")
    send_id = str(uuid.uuid4())
    with ThreadPoolExecutor(1) as pool:
        sending = pool.submit(try_to_send, alice, hall, send_id, "hello")
        assert answering.reached()
        alice.wait(lambda: view.texts == ["hello"])
        assert not sending.done()
        answering.open()
        response = sending.result()
    assert view.messages[0]["client_msg_id"] == send_id == response.json()["message"]["client_msg_id"]
    assert view.messages[0] == response.json()["message"]
