"""One sender, many sockets, one place: how fast do messages reach everybody, and how old are they when they do?"""

import asyncio
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field

from tests.bench.clock import stamp
from tests.bench.figures import median, percentile, print_table
from tests.bench.load import Listener, Room, few_at_once, follow, open_socket, raise_file_limit
from tests.bench.processes import Folder, Server, free_port
from tests.bench.rest import Rest
from tests.bench.staging import Stage, environment, stage

PLAIN, BARE, DAPHNE, UVICORN = "plain Channels on daphne", "bare websockets", "office on daphne", "office on uvicorn"
POSTED = b'"message.posted"'
FILLER, ENVELOPE = "x" * 165, 155  # the product's frame has an envelope; its text is shorter by that much
POSTS_A_SECOND = 5


@dataclass
class Entry:
    """One server in the race: how to join its room, and how to send into it."""

    name: str
    server: Server
    office: Stage | None = None
    room: Room = field(default_factory=lambda: Room(b"t="))
    send: Callable[[], None] = lambda: None
    rates: list[float] = field(default_factory=list)
    ages: list[int] = field(default_factory=list)
    costs: list[tuple[float, float]] = field(default_factory=list)  # us of processor a delivery: server, client

    async def fill(self, sockets: int) -> None:
        """Connects the room and the sender."""
        self.rates, self.ages, self.costs = [], [], []
        if self.office is None:
            await self.fill_plain(sockets)
        else:
            await self.fill_office(sockets, self.office)

    async def fill_plain(self, sockets: int) -> None:
        self.room = Room(b"t=")
        url = self.server.url.replace("http", "ws") + "/ws/"
        await few_at_once([open_socket(url, self.room.listener()) for _ in range(sockets)])
        sender = self.room.listeners[0]
        self.send = lambda: sender.send(f'{{"message": "{stamp()} {FILLER}"}}'.encode())

    async def fill_office(self, sockets: int, office: Stage) -> None:
        self.room = Room(POSTED, acks=True)
        stream = office.channels[0].stream
        joins = [follow(self.server.url, office.session, [stream], self.room.listener()) for _ in range(sockets)]
        await few_at_once(joins)
        sender = Listener(lambda _, __: None)
        await open_socket(self.server.url.replace("http", "ws") + "/bench/publish/", sender)
        sender.send(stream.encode())
        text = FILLER[ENVELOPE - 19 :]
        self.send = lambda: sender.send(f"{stamp()} {text}".encode())

    async def round(self, seconds: float) -> None:
        await self.room.closed_loop(self.send, min(0.3, seconds / 4))
        theirs, ours, begun = self.server.cpu_seconds(), time.process_time(), len(self.room.left)
        self.rates.append(await self.room.closed_loop(self.send, seconds))
        self.ages.extend(self.room.ages)
        each = 1_000_000 / ((len(self.room.left) - begun) * len(self.room.listeners))
        self.costs.append(((self.server.cpu_seconds() - theirs) * each, (time.process_time() - ours) * each))


def run(quick: bool, only: str | None = None) -> None:
    """Starts the four servers, lets them take turns, prints the table."""
    raise_file_limit()
    with ExitStack() as started:
        entries = [entry for entry in start(started) if only is None or only in entry.name]
        asyncio.run(race(entries, (20, 50) if quick else (200, 500), 2 if quick else 5, 0.6 if quick else 3.0, quick))


def start(started: ExitStack) -> list[Entry]:
    """The servers, each a process of its own on a free port."""
    ports = [free_port() for _ in range(4)]
    daphne = ("-m", "daphne", "-v", "0", "-b", "127.0.0.1", "-p", str(ports[0]), "tests.bench.plain:application")
    entries = [
        Entry(PLAIN, started.enter_context(Server(PLAIN, *daphne, port=ports[0]))),
        Entry(BARE, started.enter_context(Server(BARE, "-m", "tests.bench.bare", str(ports[1]), port=ports[1]))),
    ]
    for name, kind, port in ((DAPHNE, "daphne", ports[2]), (UVICORN, "uvicorn", ports[3])):
        folder = started.enter_context(Folder())
        office = stage(folder, channels=1)
        server = Server(name, "-m", "tests.bench.product", str(port), kind, port=port, **environment(folder))
        entries.append(Entry(name, started.enter_context(server), office))
    return entries


async def race(entries: list[Entry], sizes: tuple[int, ...], rounds: int, seconds: float, quick: bool) -> None:
    """Rounds in turn (A B C D A B C D), so that a busy minute of the machine falls on everybody."""
    rows: list[list[object]] = []
    for size in sizes:
        for entry in entries:
            await entry.fill(size)
        for _ in range(rounds):
            for entry in entries:
                await entry.round(seconds)
        rows += [row(entry, entries, size) for entry in entries]
        if size == sizes[0]:
            stored = [await stored_posts(entry, size, 3 if quick else 20) for entry in entries if entry.office]
        for entry in entries:
            await entry.room.close()
    columns = (
        "server",
        "sockets",
        "deliveries/s",
        "x plain",
        "x bare",
        "p50 ms",
        "p95 ms",
        "p99 ms",
        "CPU us",
        "client us",
    )
    print_table(
        "fanout: post to seen, 2 messages in flight", columns, [*rows, *stored], notes(entries, rounds, seconds)
    )


def notes(entries: list[Entry], rounds: int, seconds: float) -> list[str]:
    sizes = ", ".join(f"{entry.name} {entry.room.bytes}" for entry in entries)
    return [
        f"{rounds} rounds of {seconds} s in turn; ratios are medians of the ratios within a round",
        f"bytes of a message on the wire: {sizes}",
        "CPU us, client us: processor time of the server and of the load client for each delivery",
        f"stored: {POSTS_A_SECOND} REST posts a second, from the start of the request to seen by each socket",
    ]


def row(entry: Entry, entries: list[Entry], size: int) -> list[object]:
    rates = {one.name: one.rates for one in entries}
    ages = [age / 1000 for age in sorted(entry.ages)]
    times = [percentile(ages, share) for share in (0.5, 0.95, 0.99)]
    ratios = [ratio(entry.rates, rates.get(base, [])) for base in (PLAIN, BARE)]
    costs = [median(side) for side in zip(*entry.costs, strict=True)]
    return [entry.name, size, median(entry.rates), *[f"{one:.2f}" if one else None for one in ratios], *times, *costs]


def ratio(ours: list[float], theirs: list[float]) -> float | None:
    """The median over rounds of the ratio within a round."""
    return median([mine / other for mine, other in zip(ours, theirs, strict=True)]) if theirs else None


async def stored_posts(entry: Entry, size: int, seconds: int) -> list[object]:
    """Posts by REST at a steady pace; each is a row, an event and an announcement."""
    assert entry.office is not None
    rest = await Rest.open(entry.server.port, entry.office.session)
    path, loop = f"threads/{entry.office.channels[0].thread}/messages/", asyncio.get_running_loop()
    await post_stored(entry, rest, path)
    await asyncio.sleep(0.5)
    entry.room.ages = type(entry.room.ages)("q")
    begun = loop.time()
    for number in range(seconds * POSTS_A_SECOND):
        await asyncio.sleep(max(0.0, begun + number / POSTS_A_SECOND - loop.time()))
        await post_stored(entry, rest, path)
    await asyncio.sleep(1.0)  # longer than the last one may take to be seen
    await rest.close()
    ages = [age / 1000 for age in sorted(entry.room.ages)]
    unseen = sum(entry.room.left)
    name = f"{entry.name}, stored" + (f" ({unseen} unseen)" if unseen else "")
    times = [percentile(ages, share) for share in (0.5, 0.95, 0.99)]
    return [name, size, len(entry.room.listeners) * POSTS_A_SECOND, None, None, *times, None, None]


async def post_stored(entry: Entry, rest: Rest, path: str) -> None:
    entry.room.posted()
    await rest.post_message(path, f"{stamp()} {FILLER[:60]}")
