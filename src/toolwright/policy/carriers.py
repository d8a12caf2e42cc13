"""Patterns of command lines that let any command through, by what the analysis of command lines knows of programs."""

from collections.abc import Iterator, Sequence

from toolwright.shell.analysis.analysis import analyse
from toolwright.shell.programs.builders import make
from toolwright.shell.programs.editors import editor
from toolwright.shell.programs.files_of import HANDLERS
from toolwright.shell.programs.languages import AGENTS, INTERPRETERS, plain_name
from toolwright.shell.programs.network import runs_later, secure_shell, tmux
from toolwright.shell.walk.shells import SHELLS

_PROBE = "anything"
_RUN = (_PROBE, f"place {_PROBE}", f". -exec {_PROBE} ;")
"""Where command lines carry others: at once, after a place or a time, for each file that is found."""
_MOUNTED = ("-v /:/all image", "run -v /:/all image")
"""How a container is given this whole machine."""
_READ_SCRIPTS = frozenset({*SHELLS, *INTERPRETERS, *AGENTS, "source", "."})
_TAKE_ORDERS = frozenset({make, editor, runs_later, tmux, secure_shell})
"""What reads the programs whose orders are commands, or such as change them."""


def carrying(pattern: str) -> Iterator[str]:
    """Command lines that fit a pattern and run whatever somebody likes, one for each way there is."""
    head, star, _ = pattern.partition("*")
    words = head.split()
    if not star or not words:
        return
    start = " ".join(words)
    yield from (line for line in (f"{start} {end}" for end in _RUN) if _runs_probe(line))
    yield from (line for line in (f"{start} {end}" for end in _MOUNTED) if _hands_over_all(line))
    if _takes_orders(words) or (words[-1].startswith("-") and _doubts_probe(f"{start} {_PROBE}")):
        yield f"{start} {_PROBE}"


def _runs_probe(line: str) -> bool:
    commands = analyse(line, cwd="/", home="/").commands
    return any(text.split()[:1] == [_PROBE] for command in commands for text in command.implied)


def _hands_over_all(line: str) -> bool:
    return "/" in analyse(line, cwd="/", home="/").touched.get("within", {})


def _doubts_probe(line: str) -> bool:
    """Return whether it is what stands in the place of the star that cannot be judged, such as a setting of git."""
    return any(f"`{_PROBE}`" in reason for reason in analyse(line, cwd="/", home="/").reasons)


def _takes_orders(words: Sequence[str]) -> bool:
    """Return whether a program is told by its arguments what to run, and no script, target or file is named yet."""
    name = plain_name(words[0])
    handler = HANDLERS.get(name)
    if name not in _READ_SCRIPTS and handler not in _TAKE_ORDERS:
        return False
    named = sum(word[0] not in "-0123456789" for word in words[1:])
    return named <= (handler is secure_shell)
