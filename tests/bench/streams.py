"""Many answers at once from one process, 20 chunks a second each, one socket a thread: how far behind is the last?"""

import asyncio
import json
import sys
from array import array
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field

from tests.bench.clock import DIGITS, MARK, now_us
from tests.bench.figures import percentile, print_table
from tests.bench.load import Listener, few_at_once, follow, raise_file_limit
from tests.bench.processes import Failed, Folder, Server, free_port
from tests.bench.rest import Rest
from tests.bench.staging import Place, Stage, environment, stage

CHUNKS_A_SECOND = 20
STARTS_A_SECOND = 10  # posts come as people's do; what is measured is the steady state after
START_PATIENCE, END_PATIENCE = 60.0, 90.0
COLUMNS = (
    "server", "streams", "writing", "p50 ms", "p99 ms", "last client ms", "x 1 s", "model p99 ms", "client p99 ms",
    "CPU %", "RSS MB", "RSS idle MB", "chunks seen", "stored",
)  # fmt: skip


@dataclass
class Reader:
    """One socket that follows one thread, where one coworker writes."""

    place: Place
    chunks: int = 0
    newest: int = 0  # when the newest chunk seen was written
    ended: str = ""
    stored: bool = False
    worst: int = 0
    ages: array = field(default_factory=lambda: array("q"))  # type: ignore[type-arg]
    measuring: bool = False

    def take(self, listener: Listener, body: bytes) -> None:
        for line in body.split(b"\n"):
            if line.startswith(b'{"type":"delta"'):
                self.grow(line)
            elif line.startswith(b'{"type":"event"'):
                self.note(json.loads(line))

    def grow(self, line: bytes) -> None:
        """Counts the chunks of a delta. The first in it has waited longest, and tells how far behind the socket is."""
        at, now = line.find(MARK), now_us()
        if self.measuring and at >= 0:
            self.ages.append(now - int(line[at + 2 : at + 2 + DIGITS]))
        self.chunks += line.count(MARK)
        last = line.rfind(MARK)
        if last >= 0:
            self.newest = int(line[last + 2 : last + 2 + DIGITS])

    def note(self, frame: dict[str, object]) -> None:
        payload = frame["payload"] or {}
        if frame["event"] == "message.posted":  # too long a text comes without its payload; it is stored all the same
            self.stored = (
                frame.get("fetch") is True or payload["message"]["author"]["kind"] == "coworker" or self.stored
            )  # type: ignore[index]
        elif frame["event"] in ("run.finished", "run.failed", "run.stopped"):
            self.ended = str(frame["event"])


def run(quick: bool, only: str | None = None) -> None:
    """Each size on a fresh office; one row each."""
    raise_file_limit()
    sizes, hold = ((10, 20), 2.0) if quick else ((100, 200, 300, 400), 10.0)
    rows: list[list[object]] = []
    for kind in ("daphne", "uvicorn"):
        if only is None or only in kind:
            for size in sizes:
                rows.append(one_size(kind, size, hold))
                print(*rows[-1][:6], sep=", ", file=sys.stderr, flush=True)
    notes = [
        f"over {hold:.0f} s in which all stood open; age of the first chunk in each delta, which waited longest",
        "last client: the worst age that any client saw, or the silence since its newest chunk at the end",
        "x 1 s: last client against the second that is allowed; model, client: their own lateness, part of the ages",
        "chunks seen: of those the model server wrote, in deltas; stored: answers kept whole at the end",
    ]
    print_table(f"streams: {CHUNKS_A_SECOND} chunks a second each, one server process", COLUMNS, rows, notes)


def one_size(kind: str, size: int, hold: float) -> list[object]:
    """A model server, an office, `size` readers."""
    with ExitStack() as started:
        port = free_port()
        steady = ("--chunks", "0", "--pause-ms", str(1000 / CHUNKS_A_SECOND))
        model = started.enter_context(Server("model", "-m", "tests.bench.model", str(port), *steady, port=port))
        folder, port = started.enter_context(Folder()), free_port()
        office = stage(folder, channels=size, model=f"{model.url}/v1")
        command = ("manage.py", "serve", "--port", str(port), "--server", kind)
        server = Server("office", *command, port=port, **environment(folder, f"{model.url}/v1"))
        return asyncio.run(measure(kind, started.enter_context(server), model, office, hold))


async def measure(kind: str, server: Server, model: Server, office: Stage, hold: float) -> list[object]:
    """Connect, start all answers, hold, end all answers, and see what was stored."""
    idle = server.rss_mb()
    readers = [Reader(place) for place in office.channels]
    listeners = [Listener(reader.take, acks=True) for reader in readers]
    joins = [
        follow(server.url, office.session, [r.place.stream], one) for r, one in zip(readers, listeners, strict=True)
    ]
    await few_at_once(joins)
    await start_all(server, office)
    writing = await all_writing(readers)
    script = await Rest.open(model.port)
    await script.ask("GET", "/report")
    cpu, own = server.cpu_seconds(), array("d")
    for reader in readers:
        reader.measuring = True
    await hold_on(hold, own)
    share, rss, silent = (server.cpu_seconds() - cpu) / hold * 100, server.rss_mb("VmHWM"), now_us()
    for reader in readers:
        reader.measuring = False
        reader.worst = max([silent - reader.newest, *reader.ages]) if reader.newest else 0
    late = await script.ask("GET", "/report")
    await script.ask("POST", "/end", {"spacing": 1 / STARTS_A_SECOND})
    await all_ended(readers)
    written = (await script.ask("GET", "/report"))["written"]
    model_late, own_late = late["late_p99"], percentile(own, 0.99)
    return [f"office on {kind}", len(readers), writing, *lateness(readers), model_late, own_late, share, rss, idle,
            f"{sum(reader.chunks for reader in readers) / written:.2%}",
            sum(reader.stored and reader.ended == "run.finished" for reader in readers)]  # fmt: skip


def lateness(readers: list[Reader]) -> list[object]:
    """p50, p99 and the last client in ms, and that against the second which is allowed."""
    ages = sorted(age / 1000 for reader in readers for age in reader.ages)
    worst = max(reader.worst for reader in readers) / 1000
    return [percentile(ages, 0.5), percentile(ages, 0.99), worst, f"{worst / 1000:.2f}"]


async def start_all(server: Server, office: Stage) -> None:
    """Posts one instruction in each thread, evenly spaced, over a few connections, as far as the office keeps up."""
    loop = asyncio.get_running_loop()
    begun = loop.time()

    async def post(rest: Rest, numbers: range) -> None:
        for number in numbers:
            await asyncio.sleep(max(0.0, begun + number / STARTS_A_SECOND - loop.time()))
            place = office.channels[number]
            await rest.post_message(f"threads/{place.thread}/messages/", "Write at length, please.", [place.coworker])
        await rest.close()

    size, lanes = len(office.channels), 4
    ways = [await Rest.open(server.port, office.session) for _ in range(lanes)]
    with suppress(TimeoutError):  # what has not begun by then is missing in the column "writing"
        async with asyncio.timeout(START_PATIENCE + size / STARTS_A_SECOND):
            await asyncio.gather(*(post(rest, range(lane, size, lanes)) for lane, rest in enumerate(ways)))


async def all_writing(readers: list[Reader]) -> int:
    """Waits until every thread has its first words, and a second more; how many have."""
    loop = asyncio.get_running_loop()
    end = loop.time() + START_PATIENCE
    while loop.time() < end and not all(reader.chunks for reader in readers):
        if failed := [reader for reader in readers if reader.ended]:
            raise Failed(f"{len(failed)} answers ended before their time: {failed[0].ended}")
        await asyncio.sleep(0.1)
    await asyncio.sleep(1.0)
    return sum(reader.chunks > 0 for reader in readers)


async def all_ended(readers: list[Reader]) -> None:
    """Until each run is over, or for as long as one would wait."""
    loop = asyncio.get_running_loop()
    end = loop.time() + END_PATIENCE
    while loop.time() < end and not all(reader.ended or not reader.chunks for reader in readers):  # noqa: ASYNC110 - hundreds of them
        await asyncio.sleep(0.1)
    await asyncio.sleep(0.3)


async def hold_on(seconds: float, own: array) -> None:  # type: ignore[type-arg]
    """Lets time pass and notes how late this process itself wakes, in ms."""
    loop = asyncio.get_running_loop()
    end = loop.time() + seconds
    while (begun := loop.time()) < end:
        await asyncio.sleep(0.02)
        own.append((loop.time() - begun - 0.02) * 1000)
