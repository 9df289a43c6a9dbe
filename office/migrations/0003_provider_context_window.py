"""Endpoints may say how many tokens their models take at once."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("office", "0002_coworker_name_key")]
    operations = [
        migrations.AddField(
            model_name="provider",
            name="context_window",
            field=models.PositiveIntegerField(blank=True, null=True),
        ),
    ]
