"""Which build of the office this is."""

from importlib.metadata import PackageNotFoundError, version


def number() -> str:
    """The installed version, or `source` for a checkout that was not installed."""
    try:
        return version("agent-office")
    except PackageNotFoundError:
        return "source"


NUMBER = number()
