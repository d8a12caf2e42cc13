"""The log on stderr, for whoever asks for it: TOOLWRIGHT_LOG=debug, or debug,json for one JSON object per line."""

import json
import logging
import os
import sys

from toolwright.cli.output import say
from toolwright.text.display import visible, visible_json

LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR")


def start_log() -> None:
    """Log as the variable wants it: without it nothing is logged, and problems are told in our own words."""
    words = [word.strip().upper() for word in os.environ.get("TOOLWRIGHT_LOG", "").split(",") if word.strip()]
    log = logging.getLogger("toolwright")
    log.handlers.clear()
    if not words:
        log.addHandler(logging.NullHandler())
        _tell_always("toolwright.session.storage.rescue")
        return
    wrong = [word for word in words if word not in (*LEVELS, "JSON")]
    if wrong:
        warning = (
            f"TOOLWRIGHT_LOG={wrong[0].lower()} means nothing; use debug, info, warning or error, and json if wanted"
        )
        say(warning, to=sys.stderr)
    handler = logging.StreamHandler()
    handler.setFormatter(JsonLine() if "JSON" in words else TextLine())
    log.addHandler(handler)
    log.setLevel(next((word for word in words if word in LEVELS), "DEBUG"))


def _tell_always(name: str) -> None:
    """Show what this module has to say to every user, since nobody else tells it."""
    handler = logging.StreamHandler()
    handler.setFormatter(PlainLine())
    logging.getLogger(name).handlers[:] = [handler]


class TextLine(logging.Formatter):
    """`2026-01-31T12:00:00.123Z DEBUG call: …`, followed by the traceback if there is one."""

    def format(self, record: logging.LogRecord) -> str:
        module = record.name.removeprefix("toolwright.")
        return visible(f"{_moment(record)} {record.levelname} {module}: {_message(self, record)}")


class PlainLine(logging.Formatter):
    """As the command line tells its own warnings."""

    def format(self, record: logging.LogRecord) -> str:
        return visible(f"warning: {record.getMessage()}.", lines=False)


class JsonLine(logging.Formatter):
    """The same as an object: time, level, module, message."""

    def format(self, record: logging.LogRecord) -> str:
        line = {"time": _moment(record), "level": record.levelname.lower(), "module": record.name}
        return visible_json(json.dumps({**line, "message": _message(self, record)}, ensure_ascii=False))


def _moment(record: logging.LogRecord) -> str:
    from datetime import UTC, datetime

    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _message(formatter: logging.Formatter, record: logging.LogRecord) -> str:
    trace = f"\n{formatter.formatException(record.exc_info)}" if record.exc_info else ""
    return f"{record.getMessage()}{trace}"
