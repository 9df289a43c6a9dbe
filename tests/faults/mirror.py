"""Two mirrors of what the server holds: one fed by events alone, one read anew; they must show the same."""

from typing import Any

from tests.client import Client, View, from_snapshot

LOCAL = {"text", "text_attempt", "offset", "phase"}  # of a run: fed by deltas, or known only to a snapshot


def plain(state: dict[str, Any]) -> dict[str, Any]:
    """A thread's state without what no event carries."""
    runs = {id: {key: run[key] for key in run if key not in LOCAL} for id, run in state["runs"].items()}
    return {key: state[key] for key in ("thread", "messages", "missions")} | {"runs": runs}


def assert_same(view: View) -> None:
    """Waits until the view stands where the server stands, then compares it with a fresh snapshot."""
    client = view.client
    for _ in range(50):
        snapshot = client.get(f"threads/{view.thread}/")
        epoch, position = snapshot["epoch"], snapshot["seq"]
        client.wait(lambda epoch=epoch, position=position: view.epoch == epoch and view.seq >= position)
        if view.seq == position and client.get(f"threads/{view.thread}/")["seq"] == position:
            break
    assert plain(view.state) == plain(from_snapshot(snapshot))
    numbers = [message["number"] for message in view.messages]
    assert len(set(numbers)) == len(numbers)
    assert view.state["thread"]["message_count"] == max(numbers, default=0)


class Side:
    """The sidebar as events leave it: coworkers, people, channels with the read marks."""

    def __init__(self, client: Client) -> None:
        self.client = client
        first = client.get("sidebar/")
        self.streams = [first["stream"]["name"], first["me_stream"]["name"]]
        self.seqs = {first[name]["name"]: first[name]["seq"] for name in ("stream", "me_stream")}
        self.state = bare(first)
        for stream in self.streams:
            client.subscribe(stream)

    def assert_same(self) -> None:
        """Applies what has come up to the server's position; then a fresh sidebar must show the same."""
        fresh = self.client.get("sidebar/")
        for name in ("stream", "me_stream"):
            stream, head = fresh[name]["name"], fresh[name]["seq"]
            answer = self.client.get(f"streams/{stream}/events/", after=self.seqs[stream])
            for event in answer["events"]:
                apply(self.state, event["event"], event["payload"])
            self.seqs[stream] = answer["head"]
            self.client.wait(lambda stream=stream, head=head: head == 0 or self.heard(stream) >= head)
        assert self.state == bare(fresh)

    def heard(self, stream: str) -> int:
        """The last number that came live; those before the subscription count as heard."""
        return max((frame["seq"] for frame in self.client.events(stream)), default=self.heads(stream))

    def heads(self, stream: str) -> int:
        answers = [frame for frame in self.client.frames if frame["type"] == "subscribed" and frame["stream"] == stream]
        return int(answers[-1]["head"])


def bare(sidebar: dict[str, Any]) -> dict[str, Any]:
    """Of a sidebar what durable events keep fresh. A DM is called as its coworker, so its name is not kept twice."""
    kept = ("id", "kind", "coworker", "archived", "last_read_number")
    return {
        "coworkers": {one["id"]: {key: one[key] for key in one if key != "state"} for one in sidebar["coworkers"]},
        "people": {one["id"]: (one["name"], one["role"]) for one in sidebar["people"]},
        "channels": {
            one["id"]: {key: one[key] for key in kept} | ({} if one["coworker"] else {"name": one["name"]})
            for one in sidebar["channels"]
        },
    }


def apply(state: dict[str, Any], event: str, payload: dict[str, Any]) -> None:
    """The reference reducer of the sidebar."""
    if event.startswith("coworker."):
        state["coworkers"][payload["coworker"]["id"]] = payload["coworker"]
    elif event == "membership.changed":
        member = payload["member"]
        state["people"].pop(member["id"], None)
        if not payload["left"]:
            state["people"][member["id"]] = (member["name"], member["role"])
    elif event in ("channel.opened", "channel.changed"):
        before = state["channels"].get(payload["channel"]["id"], {"last_read_number": 0})
        channel = {**before, **payload["channel"]}
        if channel["coworker"]:
            del channel["name"]
        state["channels"][channel["id"]] = channel
    elif event == "channel.dropped":
        state["channels"].pop(payload["channel"], None)
    elif event == "read.moved" and payload["channel"] in state["channels"]:
        state["channels"][payload["channel"]]["last_read_number"] = payload["last_read_number"]
