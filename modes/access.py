"""The only look-up of runs by id from outside."""

from modes.models import Run
from office.errors import absent
from office.models import Person
from threads.access import threads_for


def run_for(actor: Person, run: str) -> Run:
    rows = Run.objects.select_related("mission__instruction", "coworker", "thread__session__channel__office")
    found = rows.filter(pk=run, thread__in=threads_for(actor).values("pk")).first()
    if found is None:
        raise absent()
    return found
