"""Reads: a page of messages around a number, the thread's body, unread counts."""

from typing import Any, NamedTuple

from django.db.models import Max, Q, QuerySet

from office.models import Channel, Person
from threads.events import message_body, mission_body, thread_body
from threads.models import OPEN_MISSIONS, Conversation, Message, Mission, ReadMark, Thread

PAGE = 100


class Page(NamedTuple):
    messages: list[dict[str, Any]]
    more_before: bool
    more_after: bool


def main_conversation(thread: Thread) -> Conversation:
    """The thread's shared conversation, tied to the thread object at hand so that nothing is read twice."""
    conversation = Conversation.objects.get(thread=thread, key="main")
    conversation.thread = thread
    return conversation


def bodies_of(conversation: Conversation, messages: list[Message]) -> list[dict[str, Any]]:
    """Messages of one conversation as bodies, in display order; their versions are counted in one query."""
    numbers = [message.number for message in messages]
    edited = Message.objects.filter(conversation=conversation, number__in=numbers, version__gt=1).order_by()
    counts = dict(edited.values_list("number").annotate(most=Max("version")))
    for message in messages:
        message.conversation = conversation
    return [message_body(message, versions=counts.get(message.number, 1)) for message in in_order(messages)]


def page_of_messages(
    thread: Thread,
    *,
    before: int | None = None,
    after: int | None = None,
    around: int | None = None,
    limit: int = PAGE,
) -> Page:
    """Up to `limit` messages by number, the newest when nothing is asked for; in display order (anchor, number)."""
    conversation = main_conversation(thread)
    # Prefetched rather than joined: one object for each author instead of one for each message.
    rows = Message.objects.filter(conversation=conversation, current=True).prefetch_related("person", "coworker")
    limit = max(1, min(limit, 200))
    if around is not None:
        before = around + limit // 2 + 1
    if after is not None:
        chosen = list(rows.filter(number__gt=after).order_by("number")[:limit])
    else:
        chosen = list((rows.filter(number__lt=before) if before else rows).order_by("-number")[:limit])
    numbers = [message.number for message in chosen] or [0]
    return Page(
        bodies_of(conversation, chosen), min(numbers) > 1, max(numbers) < conversation.last_number and bool(chosen)
    )


def in_order(messages: list[Message]) -> list[Message]:
    return sorted(messages, key=lambda message: (message.anchor, message.number))


def thread_view(thread: Thread) -> dict[str, Any]:
    """The thread with its newest page and its open missions; what runs add is added by whoever knows runs."""
    conversation = Conversation.objects.get(thread=thread, key="main")
    page = page_of_messages(thread)
    return {
        "thread": thread_body(thread, conversation.pk),
        "messages": page.messages,
        "more_before": page.more_before,
        "missions": [mission_body(mission) for mission in open_missions(thread)],
    }


def open_missions(thread: Thread) -> QuerySet[Mission]:
    rows = Mission.objects.filter(thread=thread, state__in=OPEN_MISSIONS).order_by("number")
    return rows.select_related("instruction").prefetch_related("coworkers")


def versions_of(message: Message) -> list[dict[str, Any]]:
    """Every version at the message's number, oldest first."""
    rows = Message.objects.filter(conversation=message.conversation_id, number=message.number).order_by("version")
    rows = rows.select_related("person", "coworker", "conversation__thread__session__channel__office")
    found = list(rows)
    return [message_body(row, versions=len(found)) for row in found]


def open_threads(channels: list[Channel]) -> dict[str, Thread]:
    """The main thread of each channel's open session, by channel id."""
    rows = Thread.objects.filter(session__channel__in=channels, session__closed=None, kind="main")
    return {thread.session.channel_id: thread for thread in rows.select_related("session")}


def read_marks(person: Person, threads: list[Thread]) -> dict[str, int]:
    """How far the person has read, by thread id."""
    rows = ReadMark.objects.filter(Q(person=person, thread__in=threads))
    return dict(rows.values_list("thread_id", "number"))
