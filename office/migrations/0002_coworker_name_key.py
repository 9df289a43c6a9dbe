"""Coworkers' names become unique as people see them: width, case and composition apart."""

from django.db import migrations, models
from django.db.models import Q

from office.naming import name_key


def fill(apps, schema_editor):
    """Keys of the names that are there; a look-alike of another keeps an empty one until it is renamed."""
    taken = set()
    for coworker in apps.get_model("office", "Coworker").objects.filter(retired=None).order_by("created", "pk"):
        key = (coworker.office_id, name_key(coworker.name))
        if key not in taken:
            taken.add(key)
            coworker.name_key = key[1]
            coworker.save(update_fields=["name_key"])


class Migration(migrations.Migration):
    dependencies = [("office", "0001_initial")]
    operations = [
        migrations.RemoveConstraint(model_name="coworker", name="one_coworker_per_name"),
        migrations.AddField(
            model_name="coworker",
            name="name_key",
            field=models.CharField(blank=True, default="", max_length=320),
        ),
        migrations.RunPython(fill, migrations.RunPython.noop, elidable=True),
        migrations.AddConstraint(
            model_name="coworker",
            constraint=models.UniqueConstraint(
                condition=Q(("retired", None)) & ~Q(("name_key", "")),
                fields=("office", "name_key"),
                name="one_coworker_per_name",
            ),
        ),
    ]
