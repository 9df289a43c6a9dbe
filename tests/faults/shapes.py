"""The declared shape of every event. An event of another type, with a key more or a key less, is a fault.

A shape is a type, a tuple of alternatives, a fixed value, a list of one shape (any number of such), or a dict
(exactly those keys).
"""

from typing import Any

from office.live.models import Event

NONE = type(None)
TEXT, NUMBER, FLAG, ID, TIME = str, int, bool, str, str
ERROR = (NONE, {"code": TEXT, "message": TEXT}, {"code": TEXT, "message": TEXT, "retry_after": (NONE, int, float)})
AUTHOR = (
    {"kind": "person", "id": ID, "name": TEXT},
    {"kind": "coworker", "id": ID, "name": TEXT, "title": TEXT},
    {"kind": "system", "id": NONE, "name": TEXT},
)
MESSAGE = {
    "id": ID, "number": NUMBER, "anchor": NUMBER, "version": NUMBER, "versions": NUMBER, "current": True,
    "kind": ("message", "notice"), "author": AUTHOR, "text": TEXT, "html": TEXT,
    "state": ("done", "stopped", "failed", "cut", "retracted"), "error": ERROR, "client_msg_id": (NONE, ID),
    "mission": (NONE, ID), "run": (NONE, ID), "created": TIME,
}  # fmt: skip
MISSION = {
    "id": ID, "number": NUMBER, "thread": ID, "instruction": ID, "instruction_number": NUMBER, "coworkers": [ID],
    "source": ("dm", "master", "everyone", "project"),
    "state": ("queued", "running", "answered", "failed", "stopped"), "created": TIME, "ended": (NONE, TIME),
}  # fmt: skip
RUN = {
    "id": ID, "mission": ID, "thread": ID, "coworker": ID, "mode": "chat",
    "state": ("queued", "running", "done", "failed", "stopped"), "phase": ("waiting", "reading", "writing"),
    "attempt": NUMBER, "anchor": NUMBER, "number": (NONE, NUMBER), "error": ERROR, "message": (NONE, ID),
    "started": (NONE, TIME), "ended": (NONE, TIME),
}  # fmt: skip
COWORKER = {
    "id": ID, "name": TEXT, "title": TEXT, "persona": TEXT, "language": ("en", "ja"), "provider": ID,
    "provider_name": TEXT, "model": TEXT, "is_lead": FLAG, "rehearsal": FLAG, "demo": FLAG, "hue": NUMBER,
    "version": NUMBER, "retired": FLAG,
}  # fmt: skip
CHANNEL = {
    "id": ID, "kind": ("dm", "master", "everyone", "project"), "name": TEXT, "coworker": (NONE, ID), "archived": FLAG,
}  # fmt: skip
MEMBER = {"id": ID, "name": TEXT, "role": ("owner", "admin", "member", "guest"), "last_seen": (NONE, TIME)}

RUN_ENDED = {"run": {**RUN, "ended": TIME}}
THREAD_EVENTS: dict[str, dict[str, Any]] = {
    "message.posted": {"message": MESSAGE, "message_count": NUMBER},
    "message.edited": {"message": MESSAGE},
    "message.retracted": {"message": {**MESSAGE, "state": "retracted", "text": "", "html": ""}},
    "mission.accepted": {"mission": {**MISSION, "state": "queued", "ended": NONE}},
    "mission.changed": {"mission": MISSION},
    "run.queued": {"run": {**RUN, "state": "queued", "ended": NONE, "message": NONE}},
    "run.started": {"run": {**RUN, "state": "running", "started": TIME, "ended": NONE}},
    "run.finished": {"run": {**RUN_ENDED["run"], "state": "done", "message": ID}},
    "run.failed": {"run": {**RUN_ENDED["run"], "state": "failed"}},
    "run.stopped": {"run": {**RUN_ENDED["run"], "state": "stopped"}},
}
OFFICE_EVENTS: dict[str, dict[str, Any]] = {
    "coworker.hired": {"coworker": {**COWORKER, "retired": False}},
    "coworker.changed": {"coworker": COWORKER},
    "coworker.retired": {"coworker": {**COWORKER, "retired": True}},
    "membership.changed": {"member": MEMBER, "left": FLAG},
}
PERSON_EVENTS: dict[str, dict[str, Any]] = {
    "read.moved": {"thread": ID, "channel": ID, "last_read_number": NUMBER},
    "channel.opened": {"channel": CHANNEL},
    "channel.changed": {"channel": CHANNEL},
    "channel.dropped": {"channel": ID},
}
BY_STREAM = {"thread": THREAD_EVENTS, "office": OFFICE_EVENTS, "person": PERSON_EVENTS}


def fault(value: Any, shape: Any, where: str) -> str | None:
    """Why the value does not have the shape, or None."""
    if isinstance(shape, tuple):
        faults = [fault(value, one, where) for one in shape]
        return None if None in faults else f"{where}: {value!r} fits no alternative"
    if isinstance(shape, dict):
        if not isinstance(value, dict) or set(value) != set(shape):
            return f"{where}: keys {sorted(value) if isinstance(value, dict) else value!r} instead of {sorted(shape)}"
        return next((found for key in shape if (found := fault(value[key], shape[key], f"{where}.{key}"))), None)
    if isinstance(shape, list):
        if not isinstance(value, list):
            return f"{where}: {value!r} is no list"
        return next((found for one in value if (found := fault(one, shape[0], f"{where}[]"))), None)
    if isinstance(shape, type):
        return None if type(value) is shape else f"{where}: {value!r} is no {shape.__name__}"
    return None if value == shape and type(value) is type(shape) else f"{where}: {value!r} is not {shape!r}"


def fault_of(event: Event) -> str | None:
    """What is wrong with a stored event."""
    kind = event.stream_id.partition(":")[0]
    shape = BY_STREAM[kind].get(event.type)
    if shape is None:
        return f"{event.type} is not declared for {kind} streams"
    return fault(event.payload, shape, event.type)


def check_log() -> None:
    """Every event of the log has its declared shape, and every stream is dense from 1."""
    seqs: dict[str, int] = {}
    for event in Event.objects.order_by("stream", "seq"):
        assert (wrong := fault_of(event)) is None, wrong
        assert event.seq == seqs.get(event.stream_id, 0) + 1, f"{event.stream_id} has a hole before {event.seq}"
        seqs[event.stream_id] = event.seq
