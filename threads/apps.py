"""What is said; tells the wires who may follow a thread, and the building which streams belong to a channel."""

from django.apps import AppConfig


class ThreadsConfig(AppConfig):
    name = "threads"

    def ready(self) -> None:
        from office.actions.channels import STREAM_SOURCES
        from office.live import streams
        from threads.access import may_follow_thread, streams_of_channel
        from threads.follow import all_who_may_follow

        streams.register("thread", may_follow_thread, all_who_may_follow)
        STREAM_SOURCES.append(streams_of_channel)
