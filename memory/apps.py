"""What is kept; for now the counting of tokens."""

from django.apps import AppConfig


class MemoryConfig(AppConfig):
    name = "memory"
