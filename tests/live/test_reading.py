"""Read marks, typing and presence: what is said to whom."""

from concurrent.futures import ThreadPoolExecutor


def unread(client, channel: str) -> int:
    """As a client derives it, from a fresh sidebar."""
    row = next(row for row in client.get("sidebar/")["channels"] if row["id"] == channel)
    return int(row["message_count"] - row["last_read_number"])


def test_a_read_mark_moves_forward_only(cast, tab, hall) -> None:
    alice = tab(cast.alice)
    for number in range(5):
        alice.say(hall, str(number))
    read = lambda number: alice.post(f"channels/{cast.project.pk}/read/", number=number)["last_read_number"]  # noqa: E731
    assert [read(3), read(1), read(4), read(999), read(0)] == [3, 3, 4, 5, 5]
    assert unread(alice, cast.project.pk) == 0


def test_read_marks_set_at_once_end_at_the_highest(cast, tab, hall) -> None:
    alice = tab(cast.alice)
    for number in range(20):
        alice.say(hall, str(number))
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: alice.post(f"channels/{cast.project.pk}/read/", number=n), range(20, 0, -1)))
    assert unread(alice, cast.project.pk) == 0


def test_a_read_mark_is_told_to_ones_own_tabs_and_to_nobody_else(cast, tab, hall) -> None:
    here, there, bob = tab(cast.alice), tab(cast.alice), tab(cast.bob)
    mine = f"person:{cast.alice.pk}"
    there.subscribe(mine)
    bob.watch(hall), bob.subscribe(f"office:{cast.office.pk}"), bob.subscribe(f"person:{cast.bob.pk}")
    here.say(hall, "one")
    here.post(f"channels/{cast.project.pk}/read/", number=1)
    there.wait(lambda: there.events(mine))
    assert there.events(mine)[0]["event"] == "read.moved"
    assert there.events(mine)[0]["payload"]["last_read_number"] == 1
    here.say(hall, "witness")
    bob.wait(lambda: len(bob.events(f"thread:{hall}")) == 2)
    assert not [frame for frame in bob.frames if frame.get("event") == "read.moved"]
    assert (unread(here, cast.project.pk), unread(bob, cast.project.pk)) == (1, 2)


def test_typing_reaches_those_who_follow_the_thread_and_no_others(cast, tab, hall) -> None:
    alice, bob, other = tab(cast.alice), tab(cast.bob), tab(cast.bob)
    alice.watch(hall), bob.watch(hall)
    alice.send(type="typing", thread=hall)
    frame = bob.wait_frame(lambda frame: frame["type"] == "typing")
    assert frame == {"type": "typing", "stream": f"thread:{hall}", "person": cast.alice.pk, "name": "Alice"}
    other.subscribe(f"person:{cast.bob.pk}")
    other.dm(cast.lead.pk)
    other.wait(lambda: other.events(f"person:{cast.bob.pk}"))
    assert not [frame for frame in other.frames if frame["type"] == "typing"]


def test_typing_into_a_thread_one_does_not_follow_is_said_to_nobody(cast, tab, hall) -> None:
    alice, charlie = tab(cast.alice), tab(cast.charlie)
    view = alice.watch(hall)
    charlie.send(type="typing", thread=hall)
    charlie.subscribe(f"person:{cast.charlie.pk}")
    alice.say(hall, "witness")
    alice.wait(lambda: view.texts == ["witness"])
    assert not [frame for frame in alice.frames if frame["type"] == "typing"]


def test_a_coworker_at_work_is_shown_to_the_office(cast, tab, server) -> None:
    cast.provider(server.base_url)
    alice, bob = tab(cast.alice), tab(cast.bob)
    bob.subscribe(f"office:{cast.office.pk}")
    alice.say(alice.dm(cast.lead.pk)["thread"], "Hello")
    states = lambda: [frame["state"] for frame in bob.frames if frame["type"] == "presence"]  # noqa: E731
    bob.wait(lambda: "idle" in states())
    assert states() == ["reading", "writing", "idle"]


def test_a_beat_marks_who_is_here(cast, tab, beat) -> None:
    alice = tab(cast.alice)
    tab(cast.bob).close()
    beat()
    seen = {person["id"]: person["last_seen"] for person in alice.get("sidebar/")["people"]}
    assert seen[cast.alice.pk]
