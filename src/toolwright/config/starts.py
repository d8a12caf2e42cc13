"""Programs, plugins, servers and commands that a project's settings start or add by themselves, one line each."""

import re
import shlex
from collections.abc import Iterator
from typing import Any

from toolwright.config import jsonc
from toolwright.errors import ConfigError

_ARGUMENTS = ("args", "arguments")
_SHELL = re.compile(r"!`([^`]+)`")


def starts_of(name: str, content: bytes) -> Iterator[str]:
    """The lines for one file that a project brings; none for what is no settings file, or no longer one."""
    text = content.decode("utf-8", "replace")
    if name.endswith(".md"):
        yield from _shell_in(text)
    if not name.endswith((".json", ".jsonc")):
        return
    try:
        value: Any = jsonc.parse(text, "")
    except (ConfigError, RecursionError):
        return
    yield from dict.fromkeys(_started(value, ()))


def _started(value: Any, path: tuple[str, ...]) -> Iterator[str]:
    if isinstance(value, list):
        for entry in value:
            yield from _started(entry, path)
    if not isinstance(value, dict):
        return
    for key, setting in value.items():
        here = (*path, str(key))
        if key == "command" and (words := _words(setting, value)):
            yield f"runs {words} ({'.'.join(path)})"
        elif key == "url" and path and isinstance(setting, str):
            yield f"connects to {setting} ({'.'.join(path)})"
        elif key in ("plugin", "plugins") and not path and isinstance(setting, list):
            yield from (f"plugin {entry}" for entry in setting if isinstance(entry, str))
        elif key == "template" and isinstance(setting, str):
            yield f"command /{path[-1] if path else ''}"
            yield from _shell_in(setting)
        else:
            yield from _started(setting, here)


def _words(command: Any, beside: dict[str, Any]) -> str:
    """The program and its arguments, in one list or in two keys."""
    more: list[Any] = next((beside[key] for key in _ARGUMENTS if isinstance(beside.get(key), list)), [])
    if isinstance(command, str):
        return " ".join([command, *(shlex.quote(str(word)) for word in more)])
    return shlex.join(map(str, command)) if isinstance(command, list) else ""


def _shell_in(text: str) -> Iterator[str]:
    yield from (f"runs {match[1]} (in a command)" for match in _SHELL.finditer(text))
