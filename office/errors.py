"""The one way to refuse something: a stable code, a status, the field, and what the sentence needs."""

from typing import Any


class Refused(Exception):
    """What was asked cannot be done; `code` picks the sentence in `office/words/errors*.toml`.

    `status` is the HTTP status the API answers with, `field` the input it concerns, `detail` the values that the
    sentence's placeholders name (they are sent to the client too, so nothing secret goes in).
    """

    def __init__(self, code: str, *, status: int = 422, field: str | None = None, **detail: Any) -> None:
        super().__init__(code)
        self.code, self.status, self.field, self.detail = code, status, field, detail


def absent() -> Refused:
    """The same answer for what does not exist and for what the asker may not know of."""
    return Refused("not_found", status=404)
