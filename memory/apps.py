"""What is kept; for now the counting of tokens."""

from django.apps import AppConfig


class MemoryConfig(AppConfig):
    name = "memory"

    def ready(self) -> None:
        from memory.tokens import warm
        from office import runtime

        # Loading the ranks takes half a second, which the first mission would wait for.
        runtime.STARTERS.append(warm)
