"""The process dies or is told to end, under either server: nothing is doubled, nothing is silent, no text is lost."""

import contextlib
import uuid
from collections.abc import Iterator

import pytest
from websockets.exceptions import ConnectionClosed

from tests.fakes import ModelServer, story
from tests.faults.served import Seed, ServedOffice
from tests.live.raw import RawSocket


@pytest.fixture(scope="module")
def seed(tmp_path_factory) -> Iterator[Seed]:
    made = Seed(tmp_path_factory.mktemp("seed"))
    yield made
    made.close()


@pytest.fixture
def model(seed) -> Iterator[ModelServer]:
    with ModelServer(port=seed.model_port) as one:
        yield one


@pytest.fixture
def served(request, tmp_path, seed, model) -> Iterator[ServedOffice]:
    server = getattr(request, "param", "daphne")
    with ServedOffice(tmp_path, seed, server, OFFICE_SOCKETS_PER_PERSON="2") as office:
        yield office


both = pytest.mark.parametrize("served", ["daphne", "uvicorn"], indirect=True)


def ask(office: ServedOffice):
    """Alice's tab in the DM with the lead, with one question asked; (tab, view)."""
    alice = office.tab("alice")
    view = alice.watch(alice.dm(office.seeded["lead"])["thread"])
    alice.say(view.thread, "Tell me")
    return alice, view


@both
def test_killed_in_mid_stream_the_text_is_kept_and_a_retry_works(served, model, gate) -> None:
    model.queue(story("half of it", gate))
    alice, view = ask(served)
    alice.wait(lambda: view.running_text() == "half of it")
    served.wait(lambda: served.rows("SELECT partial FROM modes_run") == [("half of it",)])
    served.kill()
    model.queue(story("all of it"))
    served.start()
    alice.reconnect()
    alice.wait(lambda: len(view.messages) == 2 and not view.state["missions"])
    assert (view.texts[1], view.messages[1]["state"]) == ("half of it", "failed")
    assert view.messages[1]["error"]["code"] == "interrupted"
    alice.post(f"missions/{view.messages[0]['mission']}/retry/")
    alice.wait(lambda: view.texts == ["Tell me", "all of it"])
    assert served.rows("SELECT state FROM threads_call ORDER BY created") == [("failed",), ("done",)]


def test_killed_before_the_first_token_it_is_answered_once_after_the_start(served, model, gate) -> None:
    model.queue(story(gate, "never"))
    alice, view = ask(served)
    model.wait_for(1)
    served.kill()
    model.queue(story("after the start"))
    served.start()
    alice.reconnect()
    alice.wait(lambda: len(view.messages) == 2 and not view.state["missions"])
    assert view.texts == ["Tell me", "after the start"]
    assert len(model.requests) == 2
    assert served.rows("SELECT count(*) FROM threads_message") == [(2,)]


@both
def test_told_to_end_in_mid_stream_it_ends_soon_with_the_text_kept(served, model, gate) -> None:
    model.queue(story("as far as this", gate))
    alice, view = ask(served)
    alice.wait(lambda: view.running_text() == "as far as this")
    assert served.terminate() < 8
    assert model.requests[0].closed.wait(5)
    assert alice.closed_with() in (4010, 1012)
    rows = served.rows("SELECT text, state FROM threads_message ORDER BY number")
    assert rows == [("Tell me", "done"), ("as far as this", "failed")]
    served.start()
    alice.reconnect()
    alice.wait(lambda: view.texts == ["Tell me", "as far as this"] and not view.state["missions"])


def test_told_to_end_before_the_first_token_it_answers_after_the_start(served, model, gate) -> None:
    model.queue(story(gate, "never"))
    alice, view = ask(served)
    model.wait_for(1)
    served.terminate()
    model.queue(story("later"))
    served.start()
    alice.reconnect()
    alice.wait(lambda: view.texts == ["Tell me", "later"] and not view.state["missions"])


def test_a_send_whose_answer_was_lost_with_the_process_is_stored_once(served, model) -> None:
    alice = served.tab("alice")
    sheet = {"client_msg_id": str(uuid.uuid4()), "text": "once"}
    assert alice.http.post(f"threads/{served.seeded['hall']}/messages/", json=sheet).status_code == 201
    served.kill()
    served.start()
    assert alice.http.post(f"threads/{served.seeded['hall']}/messages/", json=sheet).status_code == 200
    assert served.rows("SELECT count(*) FROM threads_message") == [(1,)]


@both
def test_a_socket_that_never_reads_is_let_go_and_memory_stays(served) -> None:
    alice, hall = served.tab("alice"), served.seeded["hall"]
    view = alice.watch(hall)
    slow = [RawSocket(served.url, served.seeded["bob"]) for _ in range(2)]
    for one in slow:
        one.read_until("hello")
        one.send(type="subscribe", stream=view.stream)
        one.read_until("subscribed")
    before = served.memory()
    for number in range(130):
        alice.say(hall, f"{number} " + "long words " * 1100)
        alice.wait(lambda number=number: len(view.messages) > number)
    assert view.fills == 0
    assert served.memory() - before < 80 * 1024 * 1024
    bob = served.tab("bob")  # two sockets a person are allowed: those two are gone
    assert bob.frames[0]["type"] == "hello"
    for one in slow:
        frames, _ = one.read()
        assert len([frame for frame in frames if frame["type"] == "event"]) < 100
        one.close()


def test_a_frame_far_too_large_closes_the_socket_and_no_other(served) -> None:
    alice, bob = served.tab("alice"), served.tab("bob")
    bob.watch(served.seeded["hall"])
    with contextlib.suppress(ConnectionClosed):
        alice.socket.send("x" * 4 * 1024 * 1024)
    assert alice.closed_with() in (1009, 4400, 1006)
    bob.say(served.seeded["hall"], "still here")
    bob.wait(lambda: bob.events(f"thread:{served.seeded['hall']}"))
