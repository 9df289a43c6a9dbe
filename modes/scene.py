"""Reads the rows that one answer depends on into a `Scene`; everything after it is pure."""

from modes.fit import room_for
from modes.models import Run
from modes.prompt import Line, Scene
from office.models import ChannelKind
from threads.models import Message


def scene_of(run: Run) -> Scene:
    """What the run's coworker may see: the thread's current messages before the instruction, and who is here.

    The cut-off is the instruction's place in display order, so that coworkers asked together see the same, and a
    regenerated answer sees neither its old version nor what came later.
    """
    thread, coworker = run.thread, run.coworker
    channel = thread.session.channel
    instruction = run.mission.instruction
    solo = channel.kind == ChannelKind.DM
    here = [] if solo else list(channel.members.select_related("person", "coworker"))
    people = [member.person.name for member in here if member.person]
    staff = [member.coworker for member in here if member.coworker and member.coworker_id != coworker.pk]
    return Scene(
        language=coworker.language,
        name=coworker.name,
        title=coworker.title,
        persona=coworker.persona,
        channel=channel.name,
        solo=solo,
        people=[channel.person.name] if solo and channel.person else people,
        colleagues=[(other.name, other.title) for other in staff if not other.retired],
        mission=line_of(instruction, coworker.pk),
        earlier=earlier_lines(instruction, coworker.pk),
        room=room_for(coworker),
        system_role="role:system" not in coworker.provider.unsupported,
    )


def earlier_lines(instruction: Message, coworker: str) -> list[Line]:
    """What stands before the instruction; plain values, since a long thread has many rows and needs no objects."""
    rows = Message.objects.filter(
        conversation=instruction.conversation_id, current=True, kind="message", anchor__lt=instruction.anchor
    ).values_list(
        "pk", "number", "anchor", "text", "state", "coworker", "coworker__name", "coworker__title", "person__name"
    )  # fmt: skip
    return [
        Line(
            id=pk,
            number=number,
            anchor=anchor,
            text=text,
            state=state,
            own=author == coworker,
            name=(coworker_name if author else person_name) or "",
            title=title or "",
            artificial=author is not None,
        )
        for pk, number, anchor, text, state, author, coworker_name, title, person_name in rows
    ]


def line_of(message: Message, coworker: str) -> Line:
    author = message.coworker or message.person
    return Line(
        id=message.pk,
        number=message.number,
        anchor=message.anchor,
        text=message.text,
        state=message.state,
        own=message.coworker_id == coworker,
        name=author.name if author else "",
        title=message.coworker.title if message.coworker else "",
        artificial=message.coworker is not None,
    )
