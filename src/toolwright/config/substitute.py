"""`{env:NAME}` and `{file:path}` inside the strings of a configuration.

Done on parsed values, so that whatever a variable or a file holds stays one string and can add no key.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import field
from pathlib import Path
from typing import Any

from toolwright.config.jsonc import KeyPath
from toolwright.config.reading import MOST_BYTES, read_bytes, reason
from toolwright.errors import ConfigError
from toolwright.record import record

_TOKEN = re.compile(r"\{(env|file):([^{}]+)\}")
_DEEPEST = 20


class _Refused(Exception):
    """A file that this source may not have filled in."""


@record(slots=True, kw_only=True)
class Substituter:
    """Fills in the strings of one source."""

    folder: Path
    home: Path
    environment: Mapping[str, str]
    where: Callable[[KeyPath], str]
    may_read: Callable[[Path], bool] = lambda _: True
    """For a project that is not trusted: which files, links resolved, it may have filled in."""
    left_out: list[KeyPath] = field(default_factory=list[KeyPath])
    """The settings that were dropped because they name a file that may not be read."""
    secrets: set[str] = field(default_factory=set[str])
    """Values that variables held, so that they are not shown."""
    _budget: int = MOST_BYTES

    def apply(self, value: Any, path: KeyPath = ()) -> Any:
        if isinstance(value, dict):
            return {
                key: filled for key, entry in value.items() if (filled := self._entry(entry, (*path, key))) is not _GONE
            }
        if isinstance(value, list):
            entries = (self._entry(entry, (*path, index)) for index, entry in enumerate(value))
            return [entry for entry in entries if entry is not _GONE]
        if isinstance(value, str) and "{" in value:
            return self._fill(value, self.folder, path, ())
        return value

    def _entry(self, value: Any, path: KeyPath) -> Any:
        try:
            return self.apply(value, path)
        except _Refused as error:
            if "permission" in path or "tools" in path:
                # It could be a restriction, and to drop one is to allow.
                raise ConfigError(f"{self.where(path)}: {error}.") from error
            self.left_out.append(path)
            return _GONE

    def _fill(self, text: str, folder: Path, path: KeyPath, reading: tuple[Path, ...]) -> str:
        def replacement(match: re.Match[str]) -> str:
            kind, name = match.groups()
            if kind == "env":
                content = self.environment.get(name.strip(), "")
                self.secrets.add(content)
            else:
                content = self._file(name.strip(), folder, path, reading)
            self._spend(len(content), path)
            return content

        return _TOKEN.sub(replacement, text)

    def _file(self, name: str, folder: Path, path: KeyPath, reading: tuple[Path, ...]) -> str:
        named = self.home / name[2:] if name.startswith("~/") else folder / name
        token = f"{{file:{name[:200]}}}"
        try:
            file = named.resolve()
            if not self.may_read(file):
                raise _Refused(f"{token} is not for a project to read that is not trusted")
            content = read_bytes(file).decode("utf-8").strip()
        except (OSError, ValueError, RuntimeError) as error:
            why = reason(error) if isinstance(error, OSError | ValueError) else "its links lead in a circle"
            raise ConfigError(f"{self.where(path)}: {token} cannot be read: {why}.") from error
        if file in reading or len(reading) > _DEEPEST:
            chain = " → ".join(str(one) for one in (*reading, file))
            raise ConfigError(f"{self.where(path)}: {token} includes itself: {chain}. Break the circle.")
        self._spend(len(content), path)
        return self._fill(content, file.parent, path, (*reading, file))

    def _spend(self, size: int, path: KeyPath) -> None:
        """Files that include files twice double with every step; so all that one source fills in has a limit."""
        self._budget -= size + 1
        if self._budget < 0:
            raise ConfigError(f"{self.where(path)}: all that is filled in here is longer than {MOST_BYTES} bytes.")


_GONE = object()
