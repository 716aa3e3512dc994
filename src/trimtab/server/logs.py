"""Structured logs: one JSON object a line, with the request's id."""

import json
import logging
import re
import secrets
import time

FIELDS = ("request_id", "stream", "verb", "path", "status", "milliseconds")
"""What a record may carry beside its sentence."""

_REQUEST_ID = re.compile(r"[A-Za-z0-9._:-]{1,64}")


class JsonLines(logging.Formatter):
    """Time, level, sentence and fields; an exception as one string."""

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(record.created)),
            "level": record.levelname.lower(),
            "message": record.getMessage(),
        }
        line |= {name: getattr(record, name) for name in FIELDS if hasattr(record, name)}
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line)


def write_to_stderr(level: str) -> None:
    """Have the server's logs written as JSON lines."""
    handler = logging.StreamHandler()
    handler.setFormatter(JsonLines())
    logger = logging.getLogger("trimtab")
    logger.handlers[:] = [handler]
    logger.setLevel(level.upper())


def request_id(given: str | None) -> str:
    """The client's own id for a request if it is harmless, else a new one."""
    if given is not None and _REQUEST_ID.fullmatch(given):
        return given
    return secrets.token_hex(8)
