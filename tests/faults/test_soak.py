"""Some hundred tabs come and go, politely and not: nothing is left behind."""

import threading

import pytest
from django.db import connection

from office import http
from office.live import pool
from office.live.hub import hub
from tests.live.raw import RawSocket

ROUNDS, TABS = 12, 25
POOL = "office-db"


def database_connections() -> int:
    """Connections of this process that PostgreSQL knows; SQLite has none to count."""
    if connection.vendor != "postgresql":
        return 0
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()")
        return int(cursor.fetchone()[0])


def threads() -> int:
    """Of this process, but for the pool of the database, which fills up to its bound and stays."""
    names = [thread.name for thread in threading.enumerate()]
    return len([name for name in names if not name.startswith(POOL)])


@pytest.fixture
def crowd(live, cast, tab, settings):
    """Opens so many sockets of Bob, each following a thread."""
    settings.LIVE_SOCKETS_PER_PERSON = 1000
    bob = tab(cast.bob, connect=False)

    def come(stream: str) -> list[RawSocket]:
        sockets = [RawSocket(live.url, bob.session) for _ in range(TABS)]
        for one in sockets:
            one.send(type="subscribe", stream=stream)
        for one in sockets:
            one.read_until("subscribed")
        return sockets

    return come


def test_three_hundred_sockets_come_and_are_killed_and_nothing_stays(cast, tab, hall, crowd, live) -> None:
    alice = tab(cast.alice)
    view = alice.watch(hall)
    gone = lambda: len(hub.sockets) == 1  # noqa: E731
    for one in crowd(view.stream):
        one.close()
    alice.wait(gone)
    before = threads()
    for number in range(ROUNDS):
        sockets = crowd(view.stream)
        alice.say(hall, str(number))
        for one in sockets:
            one.close()
    alice.wait(lambda: gone() and len(view.messages) == ROUNDS)
    assert list(hub.by_stream) == [view.stream]
    assert len(live.call(lambda: hub.by_stream[view.stream])) == 1
    assert threads() <= before + 2
    assert database_connections() <= http.THREADS + pool.THREADS + 2  # one a thread of the pools, and the test's own
