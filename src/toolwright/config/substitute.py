"""`{env:NAME}` and `{file:path}` inside the strings of a configuration.

Done on parsed values, so that whatever a variable or a file holds stays one string and can add no key.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from toolwright.config.jsonc import KeyPath
from toolwright.errors import ConfigError

_TOKEN = re.compile(r"\{(env|file):([^{}]+)\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Substitution:
    """Fills in the strings of one file."""

    folder: Path
    home: Path
    environment: Mapping[str, str]
    where: Callable[[KeyPath], str]
    confined_to: Path | None = None
    """For a project that is not trusted: no file outside of it may be filled in."""

    def apply(self, value: Any, path: KeyPath = ()) -> Any:
        if isinstance(value, dict):
            return {key: self.apply(entry, (*path, key)) for key, entry in value.items()}
        if isinstance(value, list):
            return [self.apply(entry, (*path, index)) for index, entry in enumerate(value)]
        if isinstance(value, str) and "{" in value:
            return self._fill(value, self.folder, path, ())
        return value

    def _fill(self, text: str, folder: Path, path: KeyPath, reading: tuple[Path, ...]) -> str:
        def replacement(match: re.Match[str]) -> str:
            kind, name = match.groups()
            if kind == "env":
                return self.environment.get(name.strip(), "")
            return self._file(name.strip(), folder, path, reading)

        return _TOKEN.sub(replacement, text)

    def _file(self, name: str, folder: Path, path: KeyPath, reading: tuple[Path, ...]) -> str:
        named = self.home / name[2:] if name.startswith("~/") else folder / name
        token = f"{{file:{name[:200]}}}"
        try:
            file = named.resolve()
            self._require_within(file, token, path)
            content = file.read_text("utf-8").strip()
        except (OSError, ValueError) as error:
            raise ConfigError(f"{self.where(path)}: {token} cannot be read: {_reason(error)}.") from error
        if file in reading:
            chain = " → ".join(str(one) for one in (*reading, file))
            raise ConfigError(f"{self.where(path)}: {token} includes itself: {chain}. Break the circle.")
        return self._fill(content, file.parent, path, (*reading, file))

    def _require_within(self, file: Path, token: str, path: KeyPath) -> None:
        if self.confined_to is not None and not file.is_relative_to(self.confined_to):
            raise ConfigError(
                f"{self.where(path)}: {token} lies outside of {self.confined_to}, which is not trusted."
                " Look at its settings, then run tw trust."
            )


def _reason(error: OSError | ValueError) -> str:
    if isinstance(error, OSError):
        return f"{error.filename}: {error.strerror}"
    return "it is not UTF-8 text" if isinstance(error, UnicodeDecodeError) else str(error)
