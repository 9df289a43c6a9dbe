"""A model client under fire: whatever is lost, doubled, swapped or cut, at rest it shows what the server holds."""

import asyncio
import uuid
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from office.live.models import Event, Stream
from office.live.relay import relay
from tests.client import Client, View
from tests.faults.mirror import assert_same

TEXTS = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=8).filter(
    lambda text: any(letter.isalnum() for letter in text)
)
STEPS = st.one_of(
    st.tuples(st.just("post"), TEXTS),
    st.tuples(st.just("post"), TEXTS),
    st.tuples(st.just("edit"), TEXTS),
    st.tuples(st.just("retract"), st.integers(0, 9)),
    st.tuples(st.just("read"), st.integers(0, 30)),
    st.tuples(st.just("lose"), st.integers(1, 3)),
    st.tuples(st.just("double"), st.none()),
    st.tuples(st.just("swap"), st.none()),
    st.tuples(st.just("cut"), st.none()),
    st.tuples(st.just("prune"), st.none()),
    st.tuples(st.just("epoch"), st.none()),
    st.tuples(st.just("relay"), st.none()),
    st.tuples(st.just("rest"), st.none()),
)


class Fire:
    """Bob's tab under attack, Alice who goes on working, and what may be done to either."""

    def __init__(self, live: Any, alice: Client, bob: Client, view: View, channel: str) -> None:
        self.live, self.alice, self.bob, self.view, self.channel = live, alice, bob, view, channel
        self.own: list[dict[str, Any]] = []
        self.handle = bob.handle
        self.mood: list[str] = []
        self.kept: dict[str, Any] | None = None
        bob.handle = self.receive  # type: ignore[method-assign]

    def receive(self, frame: dict[str, Any]) -> None:
        """What the network does to the next events."""
        mood = self.mood.pop(0) if frame["type"] == "event" and self.mood else ""
        held, self.kept = self.kept, None
        if mood == "swap" and held is None:
            self.kept = frame
            return
        if mood != "lose":
            self.handle(frame)
        if mood == "double":
            self.handle(frame)
        if held is not None:
            self.handle(held)

    def step(self, name: str, value: Any) -> None:
        getattr(self, f"do_{name}")(value)
        self.bob.pump(0.001)

    def do_post(self, text: str) -> None:
        self.own.append(self.alice.say(self.view.thread, text)["message"])

    def do_edit(self, text: str) -> None:
        if self.own:
            last = self.own[-1]
            sheet = {"text": text, "version": last["version"], "client_msg_id": str(uuid.uuid4())}
            answer = self.alice.http.patch(f"messages/{last['id']}/", json=sheet)
            self.own[-1] = answer.raise_for_status().json()["message"]

    def do_retract(self, place: int) -> None:
        if place < len(self.own):
            gone = self.own.pop(place)
            self.alice.http.delete(f"messages/{gone['id']}/").raise_for_status()

    def do_read(self, number: int) -> None:
        self.bob.post(f"channels/{self.channel}/read/", number=number)

    def do_lose(self, count: int) -> None:
        self.mood += ["lose"] * count

    def do_double(self, _: None) -> None:
        self.mood.append("double")

    def do_swap(self, _: None) -> None:
        self.mood.append("swap")

    def do_cut(self, _: None) -> None:
        self.bob.cut()
        self.kept = None
        self.bob.reconnect()

    def do_prune(self, _: None) -> None:
        stream = Stream.objects.get(pk=self.view.stream)
        Event.objects.filter(stream=stream).delete()
        Stream.objects.filter(pk=stream.pk).update(pruned_seq=stream.last_seq)

    def do_epoch(self, _: None) -> None:
        self.do_prune(None)
        fresh = f"e{Stream.objects.get(pk=self.view.stream).last_seq}{id(object())}"[:16]
        Stream.objects.filter(pk=self.view.stream).update(epoch=fresh, last_seq=0, pruned_seq=0)

    def do_relay(self, _: None) -> None:
        async def restart() -> None:
            for task in relay._tasks:
                task.cancel()
            await asyncio.wait(relay._tasks)
            relay.ensure_running()

        self.live.run(restart())

    def do_rest(self, _: None) -> None:
        """Nothing happens for a while: one beat, and all is well."""
        self.mood.clear()
        if self.kept:
            self.handle(self.kept)
            self.kept = None
        self.live.run(relay.beat())
        assert_same(self.view)
        row = next(row for row in self.bob.get("sidebar/")["channels"] if row["id"] == self.channel)
        assert row["message_count"] == self.view.state["thread"]["message_count"]
        assert 0 <= row["last_read_number"] <= row["message_count"]


@pytest.fixture
def fire(office, live, tab, hall):
    """A new fire each time, in the same office: the thread grows from one to the next."""

    def light() -> Fire:
        alice, bob = tab(office.alice, connect=False), tab(office.bob)
        return Fire(live, alice, bob, bob.watch(hall), office.project.pk)

    return light


@pytest.mark.usefixtures("long_beats")
@settings(
    max_examples=15,
    deadline=None,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(steps=st.lists(STEPS, min_size=10, max_size=20))
def test_at_rest_the_client_shows_what_the_server_holds(fire, steps) -> None:
    attempt = fire()
    for name, value in steps:
        attempt.step(name, value)
    attempt.do_rest(None)
    attempt.bob.close()


@pytest.mark.usefixtures("long_beats")
@pytest.mark.parametrize(
    "steps",
    [
        [("lose", 1), ("post", "a"), ("rest", None)],
        [("swap", None), ("post", "a"), ("post", "b"), ("rest", None)],
        [("post", "a"), ("prune", None), ("lose", 2), ("post", "b"), ("post", "c"), ("rest", None)],
        [("post", "a"), ("epoch", None), ("post", "b"), ("rest", None)],
        [("relay", None), ("post", "a"), ("relay", None), ("edit", "b"), ("cut", None), ("rest", None)],
    ],
    ids=["lost", "swapped", "pruned", "restored", "restarted"],
)
def test_the_client_recovers_from(fire, steps) -> None:
    attempt = fire()
    for name, value in steps:
        attempt.step(name, value)
