"""How coworkers work; tells the job engine how a mission becomes runs."""

from django.apps import AppConfig


class ModesConfig(AppConfig):
    name = "modes"

    def ready(self) -> None:
        from modes import runner
        from office import jobs

        jobs.register("mission", runner.KIND)
