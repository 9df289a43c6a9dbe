"""Fails when a model changed without its migration."""

import os
import sys
import tempfile

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "office.settings")
os.environ.setdefault("OFFICE_DATA", tempfile.mkdtemp(prefix="office-migrations-"))

from django.core.management import execute_from_command_line

if __name__ == "__main__":
    execute_from_command_line([sys.argv[0], "makemigrations", "--check", "--dry-run"])
