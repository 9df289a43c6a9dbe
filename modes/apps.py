"""How coworkers work; tells the job engine how a mission becomes runs."""

from django.apps import AppConfig


class ModesConfig(AppConfig):
    name = "modes"

    def ready(self) -> None:
        from modes import runner
        from modes.stream import ticker
        from office import jobs, runtime

        jobs.register("mission", runner.KIND)
        runtime.CLOSERS.append(ticker.stop)
