"""From the words of a command line to the module that carries the command out, and from errors to exit codes."""

import io
import sys
from importlib import import_module
from typing import NoReturn

from toolwright.cli import COMMANDS
from toolwright.display import visible
from toolwright.errors import ConfigError, ToolwrightError, UsageError

DONE, FAILED, USAGE, REFUSED, STOPPED, LIMIT = range(6)


def run_command(arguments: list[str]) -> int:
    """Carry out one command. What we have to say about a failure is one message, not a traceback."""
    leading, rest = _leading_options(arguments)
    _quiet_log()
    _forgive_broken_characters()
    try:
        if not rest or rest[0] not in COMMANDS:
            raise UsageError(_unknown(rest[0] if rest else " ".join(leading)))
        command = import_module(f"toolwright.cli.{rest[0]}_command")
        code: int = command.main([*rest[1:], *leading])
        sys.stdout.flush()
    except UsageError as error:
        return _complain(error, USAGE)
    except ConfigError as error:
        return _complain(error, FAILED)
    except ToolwrightError as error:
        return _complain(error, FAILED)
    except KeyboardInterrupt:
        return STOPPED
    except BrokenPipeError:
        _leave_quietly()
    return code


def _quiet_log() -> None:
    """What goes wrong is told in our own words; the log is for who asks for it with TOOLWRIGHT_LOG=debug."""
    import logging
    import os

    class Visible(logging.Formatter):
        def format(self, record: logging.LogRecord) -> str:
            return visible(super().format(record))

    level = os.environ.get("TOOLWRIGHT_LOG", "").upper()
    log = logging.getLogger("toolwright")
    handler = logging.StreamHandler() if level else logging.NullHandler()
    handler.setFormatter(Visible())
    log.addHandler(handler)
    if level in ("DEBUG", "INFO", "WARNING", "ERROR"):
        log.setLevel(level)


def _forgive_broken_characters() -> None:
    """Half a character, as models and file names have them, is printed as its escape; in JSON it is one anyway."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _leading_options(arguments: list[str]) -> tuple[list[str], list[str]]:
    """Options that stand before the command, and the rest."""
    leading: list[str] = []
    rest = list(arguments)
    while rest and rest[0].startswith("-"):
        takes_value = rest[0] == "--directory"
        leading += rest[: 1 + takes_value]
        rest = rest[1 + takes_value :]
    return leading, rest


def _unknown(word: str) -> str:
    from difflib import get_close_matches

    near = get_close_matches(word, COMMANDS, n=1)
    hint = f"Did you mean {near[0]!r}?" if near else f"There are: {', '.join(COMMANDS)}."
    return f"There is no command {word!r}. {hint} See tw --help."


def _complain(error: ToolwrightError, code: int) -> int:
    print(visible(f"tw: {error}"), file=sys.stderr)
    return code


def _leave_quietly() -> NoReturn:
    """Whoever read our output has stopped reading: end without a word, as other filters do."""
    import os

    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    raise SystemExit(DONE)
