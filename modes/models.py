"""Runs: one execution of a mode for a mission. A queued row is the job."""

from django.db import models
from django.db.models import Q

from office.models import Coworker, Named
from threads.models import Mission, Mode, Thread


class RunState(models.TextChoices):
    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    STOPPED = "stopped"


LIVE = (RunState.QUEUED, RunState.RUNNING)


class Phase(models.TextChoices):
    WAITING = "waiting"
    READING = "reading"
    WRITING = "writing"


class Run(Named):
    """One coworker's work on a mission. `attempt_token` fences: only its holder may store a result."""

    mission = models.ForeignKey(Mission, models.CASCADE, related_name="runs")
    thread = models.ForeignKey(Thread, models.CASCADE, related_name="runs")
    coworker = models.ForeignKey(Coworker, models.PROTECT, related_name="runs")
    mode = models.CharField(max_length=8, choices=Mode, default=Mode.CHAT)
    state = models.CharField(max_length=8, choices=RunState, default=RunState.QUEUED)
    phase = models.CharField(max_length=8, choices=Phase, default=Phase.WAITING)
    attempt = models.PositiveSmallIntegerField(default=0)
    attempt_token = models.CharField(max_length=26, blank=True, default="")
    stop_requested = models.BooleanField(default=False)
    client_id = models.UUIDField(null=True, blank=True)
    # The number of the answer that this run makes a new version of; empty for a first answer.
    number = models.PositiveIntegerField(null=True, blank=True)
    partial = models.TextField(blank=True, default="")
    error = models.CharField(max_length=40, blank=True, default="")
    retry_after = models.FloatField(null=True, blank=True)
    message = models.CharField(max_length=26, blank=True, default="")
    started = models.DateTimeField(null=True, blank=True)
    ended = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=["mission", "coworker"], condition=Q(state__in=LIVE), name="one_live_run_per_coworker"
            ),
            models.UniqueConstraint(
                fields=["thread", "coworker"], condition=Q(state="running"), name="one_running_run_per_thread"
            ),
            models.UniqueConstraint(
                fields=["mission", "client_id"], condition=Q(client_id__isnull=False), name="run_asked_once"
            ),
        )
        indexes = (models.Index(fields=["state", "created"], name="runs_by_state"),)
