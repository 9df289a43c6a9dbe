"""Opening a channel's sitting: its session, main thread and conversation, made when they are first needed."""

from django.db import IntegrityError, transaction
from django.db.models import Max

from office.live import log
from office.models import Channel
from threads.models import Conversation, Session, Thread


def open_thread(channel: Channel) -> Thread:
    """The main thread of the channel's open session. Two first visitors at once get the same one."""
    found = Thread.objects.filter(session__channel=channel, session__closed=None, kind="main").first()
    if found is not None:
        return found
    try:
        return begin_session(channel)
    except IntegrityError:  # somebody else was first
        return Thread.objects.get(session__channel=channel, session__closed=None, kind="main")


@transaction.atomic
def begin_session(channel: Channel) -> Thread:
    """A new session with its main thread. The stream is made with it, so that its lock can be taken ever after."""
    last = Session.objects.filter(channel=channel).aggregate(last=Max("number"))["last"] or 0
    session = Session.objects.create(channel=channel, number=last + 1)
    thread = Thread.objects.create(session=session)
    Conversation.objects.create(thread=thread)
    log.open_stream(thread.stream)
    return thread
