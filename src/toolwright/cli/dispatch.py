"""From the words of a command line to the module that carries the command out, and from errors to exit codes."""

import io
import os
import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import NoReturn

from toolwright.cli import COMMANDS
from toolwright.cli.output import say
from toolwright.errors import ToolwrightError, UsageError

DONE, FAILED, USAGE, REFUSED, STOPPED, LIMIT = range(6)


def run_command(arguments: list[str]) -> int:
    """Carry out one command. What we have to say about a failure is one message, not a traceback."""
    from toolwright.cli.log import start_log

    leading, rest = _leading_options(arguments)
    _open_closed_streams()
    start_log()
    _forgive_broken_characters()
    try:
        if not rest or rest[0] not in COMMANDS:
            raise UsageError(_unknown(rest[0]) if rest else _no_command(leading))
        command = import_module(f"toolwright.cli.commands.{rest[0]}_command")
        code: int = command.main([*leading, *rest[1:]])
        sys.stdout.flush()
    except UsageError as error:
        return _complain(str(error), USAGE)
    except ToolwrightError as error:
        return _complain(str(error), FAILED)
    except KeyboardInterrupt:
        return STOPPED
    except BrokenPipeError:
        _leave_quietly()
    except OSError as error:
        _drop_output()
        return _complain(f"{os_trouble(error)}. tw doctor checks the folders that are used.", FAILED)
    except RecursionError:
        return _complain("The input is nested too deeply to be read.", FAILED)
    except _database_errors() as error:
        return _complain(f"The database of the sessions cannot be used: {error}. tw config says where it is.", FAILED)
    return code


def _open_closed_streams() -> None:
    """A stream that whoever started us has closed leads nowhere; so no file that is opened takes its number."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            opened = os.open(os.devnull, os.O_RDONLY if number == 0 else os.O_WRONLY)
            if opened != number:
                os.dup2(opened, number)
                os.close(opened)
            setattr(sys, name, open(number, "r" if number == 0 else "w", encoding="utf-8", closefd=False))  # noqa: SIM115 - for as long as we run


def _database_errors() -> tuple[type[Exception], ...]:
    """Return the errors that the database raises; none if nobody has imported it, which takes its time."""
    sqlite3 = sys.modules.get("sqlite3")
    return () if sqlite3 is None else (sqlite3.Error,)


def os_trouble(error: OSError) -> str:
    """Return what the system refused, as a sentence without its stop."""
    try:
        Path.cwd()
    except FileNotFoundError:
        return "The folder you are in was deleted: change to another, or name one with --directory"
    what = error.strerror or type(error).__name__
    if not isinstance(error.filename, str | bytes):
        return what
    place = Path(os.fsdecode(error.filename)).absolute()
    closed = isinstance(error, PermissionError) and not os.access(place.parent, os.X_OK)
    return f"{place.parent if closed else place}: {what}"


def _forgive_broken_characters() -> None:
    """Half a character, as models and file names have them, is printed as its escape; in JSON it is one anyway.

    What is read may have them too; whoever reads it says what is wrong with it.
    """
    for stream, errors in (
        (sys.stdin, "surrogateescape"),
        (sys.stdout, "backslashreplace"),
        (sys.stderr, "backslashreplace"),
    ):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=errors)


def _leading_options(arguments: list[str]) -> tuple[list[str], list[str]]:
    """Options that stand before the command, and the rest."""
    leading: list[str] = []
    rest = list(arguments)
    while rest and rest[0].startswith("-"):
        takes_value = rest[0] == "--directory"
        leading += rest[: 1 + takes_value]
        rest = rest[1 + takes_value :]
    return leading, rest


def _no_command(leading: list[str]) -> str:
    if leading[-1] == "--directory":
        return "--directory needs the name of a folder. See tw --help."
    unknown = [one for one in leading[:1] if one.partition("=")[0] not in ("--directory", "--trust", "--pure")]
    return f"There is no option {unknown[0]!r}. See tw --help." if unknown else "Name a command. See tw --help."


def _unknown(word: str) -> str:
    import shlex
    from difflib import get_close_matches

    near = get_close_matches(word, COMMANDS, n=1)
    hint = f"Did you mean {near[0]!r}?" if near else f"There are: {', '.join(COMMANDS)}."
    return f"There is no command {word!r}. {hint} See tw --help; to say it to an agent: tw chat {shlex.quote(word)}."


def _complain(message: str, code: int) -> int:
    try:
        say(f"tw: {message}", lines=True, to=sys.stderr)
    except OSError:
        return code
    return code


def _leave_quietly() -> NoReturn:
    """End without a word, as other filters do, once our output is no longer read."""
    _drop_output()
    raise SystemExit(DONE)


def _drop_output() -> None:
    """Drop what could not be written, so that it is not tried again when Python ends."""
    with suppress(OSError):
        sys.stdout.flush()
        return
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
