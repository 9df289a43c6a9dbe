"""A client written from the protocol's page alone: REST, the socket, cursors, gap fill, deltas by offset.

Tests judge the server by what such a client ends up with.
"""

import json
import time
import uuid
from collections.abc import Callable
from socket import SHUT_RDWR
from typing import Any

import httpx2
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from office.models import Person
from tests.cast import sign_in

PATIENCE = 40.0


class Client:
    """One tab of one person."""

    def __init__(self, url: str, person: Person | None, session: str = "") -> None:
        self.url, self.person = url, person
        self.session = session or (sign_in(person) if person else "")
        cookies = {"office_session": self.session, "csrftoken": "c" * 32} if self.session else {}
        headers = {"X-CSRFToken": "c" * 32, "Origin": url}
        self.http = httpx2.Client(base_url=url + "/api/v1/", cookies=cookies, headers=headers, timeout=PATIENCE)
        self.socket: ClientConnection | None = None
        self.views: dict[str, View] = {}
        self.frames: list[dict[str, Any]] = []
        self.handled = 0
        self.lose: Callable[[dict[str, Any]], bool] = lambda frame: False  # frames this tab never gets to see

    def get(self, path: str, **params: Any) -> Any:
        return self.http.get(path, params=params).raise_for_status().json()

    def post(self, path: str, status: int | None = None, **body: Any) -> Any:
        """POSTs JSON; with `status` the answer must have it, without it must be a success."""
        answer = self.http.post(path, json=body)
        if status is None:
            answer.raise_for_status()
        else:
            assert answer.status_code == status, answer.text
        return answer.json() if answer.content else None

    def say(self, thread: str, text: str, **more: Any) -> Any:
        """Posts a message with a fresh client id."""
        return self.post(f"threads/{thread}/messages/", **{"client_msg_id": str(uuid.uuid4()), "text": text, **more})

    def dm(self, coworker: str) -> dict[str, Any]:
        return dict(self.post(f"coworkers/{coworker}/dm/"))

    def enter(self, channel: str) -> str:
        """The id of the channel's open thread."""
        return str(self.post(f"channels/{channel}/enter/")["thread"])

    def open(self, **options: Any) -> "Client":
        """Opens the socket and says nothing yet; `options` go to the handshake."""
        address = self.url.replace("http", "ws") + "/ws/v1/"
        headers = {"Cookie": f"office_session={self.session}"} if self.session else {}
        given = {"origin": self.url, "compression": None, "max_size": None, "legacy": True, **options}
        self.socket = connect(address, additional_headers=headers, **given)  # type: ignore[arg-type]
        self.handled = 0
        return self

    def connect(self) -> "Client":
        """Opens the socket and greets."""
        self.open()
        self.frames.clear()
        self.send(type="hello", version=1, client="test")
        self.wait_frame(lambda frame: frame["type"] in ("hello", "goodbye"))
        return self

    def reconnect(self) -> None:
        """A new socket for the same tab: subscribes again and fills from its cursors."""
        self.connect()
        for view in self.views.values():
            self.subscribe(view.stream)
            view.fill()

    def cut(self) -> None:
        """The connection is gone without a word, as when a train enters a tunnel."""
        assert self.socket is not None
        self.socket.socket.shutdown(SHUT_RDWR)

    def subscribe(self, stream: str) -> dict[str, Any]:
        """Subscribes; the `subscribed` frame, or the error."""
        before = len(self.frames)
        self.send(type="subscribe", stream=stream, cursor=None)
        answers = ("subscribed", "error")
        fits = lambda frame: frame["type"] in answers and stream in (frame.get("stream"), frame.get("ref"))  # noqa: E731
        return dict(self.wait(lambda: next((frame for frame in self.frames[before:] if fits(frame)), None)))

    def events(self, stream: str) -> list[dict[str, Any]]:
        """The live events of a stream in the order in which they came."""
        return [frame for frame in self.frames if frame["type"] == "event" and frame["stream"] == stream]

    def send(self, **frame: Any) -> None:
        assert self.socket is not None
        self.socket.send(json.dumps(frame))

    def watch(self, thread: str) -> "View":
        """Follows a thread by the protocol: snapshot, subscribe, fill, apply."""
        view = self.views[f"thread:{thread}"] = View(self, thread)
        assert self.subscribe(view.stream)["type"] == "subscribed"
        view.load()
        return view

    def pump(self, seconds: float = 0.2) -> bool:
        """Handles what the socket has; False when nothing came in that time."""
        assert self.socket is not None
        try:
            text = self.socket.recv(timeout=seconds)
        except TimeoutError:
            return False
        for line in str(text).split("\n"):
            self.handle(json.loads(line))
        return True

    def handle(self, frame: dict[str, Any]) -> None:
        self.handled += 1
        if self.lose(frame):
            return
        self.frames.append(frame)
        if self.handled % 20 == 0 or frame["type"] == "beat":
            self.send(type="ack", count=self.handled)
        if frame["type"] == "event" and frame["stream"] in self.views:
            self.views[frame["stream"]].take(frame)
        elif frame["type"] == "delta":
            for item in frame["items"]:
                if item["stream"] in self.views:
                    self.views[item["stream"]].grow(item)
        elif frame["type"] == "beat":
            for stream, (epoch, head) in frame["heads"].items():
                if stream in self.views:
                    self.views[stream].check(epoch, head)

    def wait(self, condition: Any, seconds: float = PATIENCE) -> Any:
        """Pumps until `condition()` is true; fails with what was seen last."""
        end = time.monotonic() + seconds
        while not (result := condition()):
            assert time.monotonic() < end, f"never came true; last frames {self.frames[-5:]}"
            self.pump(0.1)
        return result

    def wait_frame(self, fits: Any, seconds: float = PATIENCE) -> dict[str, Any]:
        """The first frame from now on, or already here, that fits."""
        return dict(self.wait(lambda: next((frame for frame in self.frames if fits(frame)), None), seconds))

    def closed_with(self, seconds: float = PATIENCE) -> int:
        """Reads until the server closes; the close code."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                self.pump(0.1)
            except ConnectionClosed as closed:
                return closed.rcvd.code if closed.rcvd else 1006
        raise AssertionError("the socket stayed open")

    def close(self) -> None:
        if self.socket is not None:
            self.socket.close()
        self.http.close()


class View:
    """A thread as this client sees it: the snapshot with events and deltas applied."""

    def __init__(self, client: Client, thread: str) -> None:
        self.client, self.thread, self.stream = client, thread, f"thread:{thread}"
        self.epoch, self.seq = "", -1
        self.state: dict[str, Any] = {}
        self.waiting: dict[int, dict[str, Any]] = {}
        self.fills = 0

    def load(self) -> None:
        snapshot = self.client.get(f"threads/{self.thread}/")
        self.epoch, self.seq = snapshot.pop("epoch"), snapshot.pop("seq")
        self.state = from_snapshot(snapshot)
        self.drain()

    def take(self, frame: dict[str, Any]) -> None:
        """A live event: the next one is applied, an old one ignored, a later one kept while the hole is filled."""
        if self.seq < 0 or frame["seq"] > self.seq:
            self.waiting[frame["seq"]] = frame
        if self.seq < 0:
            return
        self.drain()
        if self.waiting:
            self.fill()

    def drain(self) -> None:
        self.waiting = {seq: frame for seq, frame in self.waiting.items() if seq > self.seq}
        while self.seq + 1 in self.waiting:
            frame = self.waiting.pop(self.seq + 1)
            if frame.get("fetch"):
                return self.fill()
            apply(self.state, frame["event"], frame["payload"])
            self.seq = frame["seq"]

    def fill(self) -> None:
        self.fills += 1
        path = f"streams/{self.stream}/events/"
        answer = self.client.http.get(path, params={"after": self.seq, "epoch": self.epoch, "limit": 200})
        if answer.status_code == 410:
            return self.load()
        body = answer.raise_for_status().json()
        for event in body["events"]:
            assert event["seq"] == self.seq + 1, "a hole in the gap fill"
            apply(self.state, event["event"], event["payload"])
            self.seq = event["seq"]
        self.drain()
        if body["head"] > self.seq:
            self.fill()

    def check(self, epoch: str, head: int) -> None:
        """A beat: behind the head means that something was lost."""
        if epoch != self.epoch:
            self.load()
        elif head > self.seq >= 0:
            self.fill()

    def grow(self, item: dict[str, Any]) -> None:
        """A delta: appended only where its offset fits, else the whole partial text is fetched."""
        run = self.state["runs"].get(item["run"]) if self.state else None
        if run is None:
            return
        if item["attempt"] > run.get("text_attempt", 0):
            run["text"], run["text_attempt"] = "", item["attempt"]
        if item["offset"] == len(run["text"]):
            run["text"] += item["text"]
        elif item["offset"] + len(item["text"]) > len(run["text"]):
            partial = self.client.get(f"runs/{item['run']}/partial/")
            run["text"], run["text_attempt"] = partial["text"], partial["attempt"]

    @property
    def messages(self) -> list[dict[str, Any]]:
        return sorted(self.state["messages"].values(), key=lambda one: (one["anchor"], one["number"]))

    @property
    def texts(self) -> list[str]:
        return [message["text"] for message in self.messages]

    def running_text(self) -> str:
        """The text of the answer that is being written."""
        return "".join(run["text"] for run in self.state["runs"].values() if run["state"] == "running")


def from_snapshot(snapshot: dict[str, Any]) -> dict[str, Any]:
    """A snapshot keyed for the application of events."""
    runs = {run["id"]: {**run, "text_attempt": run["attempt"]} for run in snapshot["runs"]}
    return {
        "thread": snapshot["thread"],
        "messages": {message["number"]: message for message in snapshot["messages"]},
        "missions": {mission["id"]: mission for mission in snapshot["missions"]},
        "runs": runs,
    }


def apply(state: dict[str, Any], event: str, payload: dict[str, Any]) -> None:
    """The reference reducer: absolute values, so that doing it twice changes nothing."""
    noun = event.partition(".")[0]
    if noun == "message":
        state["messages"][payload["message"]["number"]] = payload["message"]
        if "message_count" in payload:
            state["thread"]["message_count"] = payload["message_count"]
    elif noun == "mission":
        apply_mission(state, payload["mission"])
    elif noun == "run":
        apply_run(state, payload["run"])
    elif noun == "thread":
        state["thread"] = payload["thread"]


def apply_mission(state: dict[str, Any], mission: dict[str, Any]) -> None:
    """Open missions are kept, the others let go."""
    state["missions"].pop(mission["id"], None)
    if mission["state"] in ("queued", "running"):
        state["missions"][mission["id"]] = mission


def apply_run(state: dict[str, Any], run: dict[str, Any]) -> None:
    """A run that goes on, or that ended without a message, stays on the screen; the newest of a coworker only."""
    for other in list(state["runs"].values()):
        if (other["mission"], other["coworker"]) == (run["mission"], run["coworker"]) and other["id"] <= run["id"]:
            before = state["runs"].pop(other["id"])
            if other["id"] == run["id"]:
                run = {**run, "text": before["text"], "text_attempt": before["text_attempt"]}
    if run["state"] in ("queued", "running") or (run["state"] in ("failed", "stopped") and not run["message"]):
        state["runs"][run["id"]] = {"text": "", "text_attempt": 0, **run}
