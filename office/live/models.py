"""The durable event log. A stream numbers its events densely from 1; live frames are copies of these rows."""

import secrets

from django.db import models
from django.utils import timezone


def new_epoch() -> str:
    """Random, so that a number from before a restore is never taken for one from after it."""
    return secrets.token_hex(8)


class Stream(models.Model):
    """One log: `office:<id>`, `person:<id>` or `thread:<id>`."""

    name = models.CharField(primary_key=True, max_length=60)
    epoch = models.CharField(max_length=16, default=new_epoch)
    last_seq = models.PositiveBigIntegerField(default=0)
    # Events up to this one have been pruned.
    pruned_seq = models.PositiveBigIntegerField(default=0)


class Event(models.Model):
    """What happened, with absolute values, so that applying it twice changes nothing."""

    stream = models.ForeignKey(Stream, models.CASCADE, related_name="events")
    seq = models.PositiveBigIntegerField()
    type = models.CharField(max_length=40)
    payload = models.JSONField()
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = (models.UniqueConstraint(fields=["stream", "seq"], name="dense_seq_per_stream"),)
