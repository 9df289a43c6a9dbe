"""From the send of an instruction to the first words of the answer, against the model server asked directly."""

import asyncio
import json
from contextlib import ExitStack
from dataclasses import dataclass, field

import openai

from tests.bench.clock import now_us
from tests.bench.figures import median, percentile, print_table
from tests.bench.load import Listener, follow
from tests.bench.processes import Failed, Folder, Server, free_port
from tests.bench.rest import Rest
from tests.bench.staging import Place, Stage, environment, stage

PATIENCE = 30.0
FRESH = 4  # turns in each of the young chats
WORDS = "What should we do about the second draft? Say it in two or three sentences, please."
COLUMNS = ("who", "turn", "rounds", "p50 ms", "p95 ms", "over direct, p50 ms", "x direct")


@dataclass
class Desk:
    """One office under test, with a person at a socket who writes to coworkers."""

    name: str
    server: Server
    office: Stage
    young: list[float] = field(default_factory=list)
    old: list[tuple[int, float]] = field(default_factory=list)
    last_events: set[str] = field(default_factory=set)

    async def sit_down(self) -> None:
        self.first, self.over = asyncio.Event(), asyncio.Event()
        self.rest = await Rest.open(self.server.port, self.office.session)
        self.listener = Listener(self.take, acks=True)
        streams = [place.stream for place in self.office.dms]
        await follow(self.server.url, self.office.session, streams, self.listener)

    def take(self, listener: Listener, body: bytes) -> None:
        """Notes the first delta and the end of the run. A delta is told by its first bytes, at no cost."""
        for line in body.split(b"\n"):
            if line.startswith(b'{"type":"delta"') and not self.first.is_set():
                self.seen = now_us()
                self.first.set()
            elif b'"run.finished"' in line or b'"run.failed"' in line:
                self.ending = json.loads(line)["event"]
                self.over.set()

    async def turn(self, place: Place) -> float:
        """One instruction and its whole answer; ms from the send to the first delta."""
        self.first.clear()
        self.over.clear()
        begun = now_us()
        post = asyncio.create_task(self.rest.post_message(f"threads/{place.thread}/messages/", WORDS))
        async with asyncio.timeout(PATIENCE):
            await self.first.wait()
            await self.over.wait()
            await post
        if self.ending != "run.finished":
            raise Failed(f"{self.name}: a run ended with {self.ending}\n{self.server.last_words()}")
        return (self.seen - begun) / 1000


def run(quick: bool, only: str | None = None) -> None:
    """Starts the model server and the offices, lets them take turns, prints the table."""
    young, old = (2, 6) if quick else (25, 105)
    with ExitStack() as started:
        port = free_port()
        model = started.enter_context(Server("model", "-m", "tests.bench.model", str(port), port=port))
        desks = []
        for kind in ("daphne", "uvicorn"):
            if only is None or only in kind:
                desks.append(open_office(started, kind, f"{model.url}/v1", young + 1))
        asyncio.run(measure(desks, f"{model.url}/v1", old))


def open_office(started: ExitStack, kind: str, model: str, dms: int) -> Desk:
    """The product as its command starts it."""
    folder, port = started.enter_context(Folder()), free_port()
    office = stage(folder, dms=dms, model=model)
    command = ("manage.py", "serve", "--port", str(port), "--server", kind)
    server = Server(f"office on {kind}", *command, port=port, **environment(folder, model))
    return Desk(f"office on {kind}", started.enter_context(server), office)


async def measure(desks: list[Desk], model: str, old: int) -> None:
    """Direct and through each office in turn, first young chats, then one chat that grows old."""
    client = openai.AsyncOpenAI(base_url=model, api_key="-", max_retries=0)
    for desk in desks:
        await desk.sit_down()
    for _ in range(5):  # first uses load what is loaded late
        await ask_directly(client)
        for desk in desks:
            await desk.turn(desk.office.dms[0])
    direct: list[float] = []
    for place in range(1, len(desks[0].office.dms)):
        for _ in range(FRESH):
            direct.append(await ask_directly(client))
            for desk in desks:
                desk.young.append(await desk.turn(desk.office.dms[place]))
    for number in range(6, old + 1):
        direct.append(await ask_directly(client))
        for desk in desks:
            desk.old.append((number, await desk.turn(desk.office.dms[0])))
    await client.close()
    report(desks, direct, old)


async def ask_directly(client: openai.AsyncOpenAI) -> float:
    """The same server through the openai client; ms to the first words."""
    begun, first = now_us(), 0
    messages = [{"role": "user", "content": WORDS}]
    stream = await client.chat.completions.create(model="scripted-1", messages=messages, stream=True)  # type: ignore[call-overload]
    async with stream:
        async for chunk in stream:
            if not first and chunk.choices and chunk.choices[0].delta.content:
                first = now_us()
    return (first - begun) / 1000


def report(desks: list[Desk], direct: list[float], old: int) -> None:
    base = median(direct)
    rows: list[list[object]] = [["direct, openai client", "-", len(direct), base, percentile(direct, 0.95), 0.0, 1.0]]
    for desk in desks:
        late = [value for number, value in desk.old if number > old - 10]
        rows += [
            line(desk.name, f"1-{FRESH}", desk.young, base),
            line(desk.name, f"{max(6, old - 9)}-{old}", late, base),
        ]
    notes = [
        "office: from the start of the POST to the first delta frame, in a DM; turns of all rows took place in turn",
        "direct: from the call of the openai client to its first chunk with text",
    ]
    print_table("first_token: send to first words", COLUMNS, rows, notes)


def line(name: str, turns: str, values: list[float], base: float) -> list[object]:
    middle = median(values)
    return [name, turns, len(values), middle, percentile(values, 0.95), middle - base, middle / base]
