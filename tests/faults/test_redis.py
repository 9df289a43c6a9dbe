"""With Redis between the processes: whatever happens to it, all is complete within one beat."""

import os
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from channels.layers import channel_layers

from office.live.hub import hub
from office.live.relay import relay
from tests.faults.mirror import assert_same
from tests.live_office import free_port

redis = pytest.importorskip("redis")

DEFAULT = os.environ.get("REDIS_URL", "redis://127.0.0.1:6379/0")
WAIT = 10


@contextmanager
def own_server() -> Iterator[str]:
    """A Redis of this test's own where the program is installed, since other people's would not like what follows."""
    if not shutil.which("redis-server"):
        yield DEFAULT
        return
    port = free_port()
    command = ["redis-server", "--port", str(port), "--save", "", "--appendonly", "no"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        try:
            yield f"redis://127.0.0.1:{port}/0"
        finally:
            process.terminate()


def answers(url: str, seconds: float) -> bool:
    """Whether a server is there within that time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            return bool(redis.Redis.from_url(url, socket_connect_timeout=1).ping())
        except redis.RedisError:
            threading.Event().wait(0.05)
    return False


@pytest.fixture(scope="module")
def redis_url() -> Iterator[str]:
    """Skipped where there is no Redis at all, and a failure so in CI."""
    with own_server() as url:
        if not answers(url, WAIT if url != DEFAULT else 1):
            (pytest.fail if os.environ.get("CI", "").lower() == "true" else pytest.skip)(f"no Redis at {url}")
        yield url


pytestmark = [
    pytest.mark.needs_redis,
    pytest.mark.usefixtures("long_beats"),
]


@pytest.fixture
def server_side(redis_url):
    """An administrator's connection to Redis."""
    with redis.Redis.from_url(redis_url) as connection:
        yield connection


@pytest.fixture
def layer(redis_url):
    """The pub/sub layer in place of the one in memory, before the office starts."""
    from channels_redis.pubsub import RedisPubSubChannelLayer

    host = {"address": redis_url, "socket_timeout": None}
    prefix = f"test{os.getpid()}"
    made = RedisPubSubChannelLayer(hosts=[host], prefix=prefix)
    before = channel_layers["default"]  # made now if nobody has asked for it yet
    channel_layers.set("default", made)
    yield made
    channel_layers.set("default", before)


@pytest.fixture
def both(layer, cast, tab, hall):
    """Alice posts, Bob watches; (alice, bob, view)."""
    alice, bob = tab(cast.alice, connect=False), tab(cast.bob)
    view = bob.watch(hall)
    alice.say(hall, "first")
    bob.wait(lambda: view.texts == ["first"])
    return alice, bob, view


def burst(both, server_side, misfortune) -> None:
    """Thirty posts, with the misfortune in their midst; then one beat."""
    alice, _, view = both
    for number in range(30):
        if number == 10:
            misfortune(server_side)
        alice.say(view.thread, str(number))


def pause(server) -> None:
    server.execute_command("CLIENT", "PAUSE", "1500", "ALL")


def kill_connections(server) -> None:
    server.execute_command("CLIENT", "KILL", "TYPE", "pubsub")
    server.execute_command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")


def flush(server) -> None:
    server.flushall()


@pytest.mark.parametrize("misfortune", [pause, kill_connections, flush])
def test_a_misfortune_of_redis_in_a_burst_is_over_after_one_beat(both, server_side, live, misfortune) -> None:
    _, bob, view = both
    burst(both, server_side, misfortune)
    live.run(relay.beat())
    bob.wait(lambda: len(view.messages) == 31)
    assert view.texts == ["first", *map(str, range(30))]
    assert_same(view)


def test_after_a_killed_connection_events_come_live_again(both, server_side, live) -> None:
    alice, bob, view = both
    kill_connections(server_side)
    alice.say(view.thread, "perhaps lost")
    live.run(relay.beat())
    bob.wait(lambda: len(view.messages) == 2)
    heard = lambda: [frame for frame in bob.events(view.stream) if frame["seq"] > 2]  # noqa: E731
    number = 0
    while not heard():
        number += 1
        assert number < 50
        alice.say(view.thread, f"again {number}")
        bob.pump(0.2)
    live.run(relay.beat())
    bob.wait(lambda: len(view.messages) == 2 + number)


def test_a_hundred_sends_open_no_more_connections(both, server_side) -> None:
    alice, bob, view = both
    before = len(server_side.client_list())
    for number in range(100):
        alice.say(view.thread, str(number))
    bob.wait(lambda: len(view.messages) == 101)
    assert len(server_side.client_list()) <= before + 2


def test_asking_for_health_leaves_nothing_behind(layer, both, server_side, live) -> None:
    alice, _, _ = both
    ask = lambda: alice.http.get(f"{live.url}/healthz").json()["channel_layer"]  # noqa: E731
    assert ask() == {"ok": True, "kind": "RedisPubSubChannelLayer"}
    subscribed = server_side.pubsub_channels()
    for _ in range(5):
        assert ask()["ok"]
    assert sorted(server_side.pubsub_channels()) == sorted(subscribed)
    assert not [stream for stream in hub.by_stream if stream.startswith("health:")]
