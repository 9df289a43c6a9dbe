"""Keeps keys and passwords out of the logs: every record passes through here before it is written."""

import logging
import re

SECRET = re.compile(
    r"(?i)(sk-[A-Za-z0-9_\-]{8,}|bearer\s+[A-Za-z0-9._\-]{8,}|(?:api[_-]?key|password|token)[=:]\s*\S+)"
)


def redact(text: str) -> str:
    """`text` with whatever looks like a key, token or password replaced by `[hidden]`."""
    return SECRET.sub("[hidden]", text)


class SecretFilter(logging.Filter):
    """Rewrites a record's finished message; arguments are folded in first so that none slips past."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg, record.args = redact(record.getMessage()), ()
        return True
