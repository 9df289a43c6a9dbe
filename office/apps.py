"""The building's entry in Django; its start-up checks live in `office/checks.py`."""

from django.apps import AppConfig


class OfficeConfig(AppConfig):
    name = "office"

    def ready(self) -> None:
        from office import checks  # noqa: F401  (registers the checks)
