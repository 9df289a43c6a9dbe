"""Edit-and-resend, and retracting. No version is ever overwritten."""

from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import Max

from office import jobs
from office.errors import Refused
from office.live import log
from office.live.models import Stream
from office.models import Coworker, Person
from threads.access import check_open, message_for
from threads.actions.post import Given, addressees, give, next_mission
from threads.events import message_body, mission_body
from threads.markdown import render
from threads.models import OPEN_MISSIONS, Message, MessageState, Mission, MissionState
from threads.wording import check_text


def edit_message(
    actor: Person, *, message: str, version: int, text: str, client_msg_id: UUID
) -> tuple[Message, Mission | None]:
    """A new version of one's own message beside the old, and its mission given again with the new words.

    Refusals: not_yours (403), retracted, outdated (409: `version` is not the current one), mission_not_over (409),
    and those of a post. The same `client_msg_id` again gives the version that is there.
    """
    found = own_message(actor, message)
    text = check_text(text)
    check_open(found.conversation.thread)
    html = render(text)
    try:
        return store_version(actor, found, version=version, text=text, html=html, client_msg_id=client_msg_id)
    except IntegrityError:
        same = Message.objects.filter(conversation=found.conversation_id, number=found.number)
        made = same.filter(person=actor, client_msg_id=client_msg_id, text=text).first()
        if made is None:
            raise Refused("id_reused", status=409, field="client_msg_id") from None
        return message_for(actor, made.pk), made.mission


@transaction.atomic(durable=True)
def store_version(
    actor: Person, found: Message, *, version: int, text: str, html: str, client_msg_id: UUID
) -> tuple[Message, Mission | None]:
    thread = found.conversation.thread
    stream = log.lock(thread.stream)
    check_has_words(found)
    newest, shown = newest_version(found), shown_version(found)
    if Message.objects.filter(person=actor, client_msg_id=client_msg_id).exists():
        raise IntegrityError("sent before")
    if version != shown:
        raise Refused("outdated", status=409, version=shown)
    check_mission_over(found.mission)
    fresh = add_version(found, version=newest + 1, text=text, html=html, client_msg_id=client_msg_id, person=actor)
    log.append(stream, "message.edited", {"message": message_body(fresh)})
    return fresh, give_again(stream, actor, fresh, found.mission)


def give_again(stream: Stream, actor: Person, fresh: Message, before: Mission | None) -> Mission | None:
    """The mission with the new words: the same one, or a first one when the edit addresses somebody only now."""
    thread = fresh.conversation.thread
    addressed = addressees(thread.session.channel, fresh.text, None)
    if before is None:
        return first_mission(stream, actor, fresh, addressed) if addressed else None
    # New words that name nobody are for those who were asked: to edit is to ask again.
    addressed = addressed or list(before.coworkers.filter(retired=None).order_by("created", "pk"))
    before.instruction = fresh
    before.save(update_fields=["instruction"])
    if not addressed:
        return None
    before.coworkers.set(addressed)
    before.state, before.ended = MissionState.QUEUED, None
    before.save(update_fields=["state", "ended"])
    log.append(stream, "mission.changed", {"mission": mission_body(before, addressed)})
    jobs.enqueue("mission", Given(stream, before, addressed, again=True))
    return before


def first_mission(stream: Stream, actor: Person, fresh: Message, addressed: list[Coworker]) -> Mission:
    """A mission for words that addressed nobody before."""
    mission = next_mission(actor, fresh.conversation.thread)
    give(stream, mission, fresh, addressed)
    Message.objects.filter(pk=fresh.pk).update(mission=mission)
    fresh.mission = mission
    return mission


@transaction.atomic(durable=True)
def retract_message(actor: Person, *, message: str) -> Message:
    """Takes one's own words back, in all versions; the place stays, and no later request holds the text."""
    found = own_message(actor, message)
    thread = found.conversation.thread
    stream = log.lock(thread.stream)
    check_has_words(found)
    check_mission_over(found.mission)
    rows = Message.objects.filter(conversation=found.conversation_id, number=found.number)
    rows.update(state=MessageState.RETRACTED, text="", html="")
    current = message_for(actor, rows.get(current=True).pk)
    log.append(stream, "message.retracted", {"message": message_body(current)})
    return current


def own_message(actor: Person, message: str) -> Message:
    """A message of the actor's."""
    found = message_for(actor, message)
    if found.person_id != actor.pk:
        raise Refused("not_yours", status=403)
    return found


def check_has_words(message: Message) -> None:
    """Raises `Refused("retracted")` (409) for words taken back; ask while the stream's lock is held."""
    message.refresh_from_db(fields=["state"])
    if message.state == MessageState.RETRACTED:
        raise Refused("retracted", status=409)


def check_mission_over(mission: Mission | None) -> None:
    """Raises `Refused("mission_not_over")` (409) while a coworker works on it; stop it first."""
    if mission and Mission.objects.filter(pk=mission.pk, state__in=OPEN_MISSIONS).exists():
        raise Refused("mission_not_over", status=409)


def newest_version(message: Message) -> int:
    rows = Message.objects.filter(conversation=message.conversation_id, number=message.number)
    return rows.aggregate(newest=Max("version"))["newest"] or 0


def shown_version(message: Message) -> int | None:
    """The version people see now, which an edit starts from; by choice it may be an older one."""
    rows = Message.objects.filter(conversation=message.conversation_id, number=message.number, current=True)
    return rows.values_list("version", flat=True).first()


def add_version(of: Message, *, version: int, **fields: object) -> Message:
    """A new current version at the same number; the caller holds the stream's lock."""
    Message.objects.filter(conversation=of.conversation_id, number=of.number, current=True).update(current=False)
    fresh = Message(
        conversation=of.conversation,
        number=of.number,
        anchor=of.anchor,
        version=version,
        mission=of.mission,
        **fields,
    )
    fresh.save(force_insert=True)
    return fresh
