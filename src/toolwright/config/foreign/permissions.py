"""Permissions of Claude Code, Codex and Gemini CLI, read and brought into our rules."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from toolwright.config import jsonc
from toolwright.config.foreign.claude_rules import claude_rules
from toolwright.config.foreign.codex_rules import codex_rules
from toolwright.config.foreign.converted import Converted
from toolwright.config.foreign.gemini_rules import gemini_rules
from toolwright.config.reading import read_text
from toolwright.errors import ConfigError
from toolwright.protocols.json_types import Json
from toolwright.record import record

MOST_FILES = 200
Files = Sequence[Path]


@record(frozen=True, slots=True, kw_only=True)
class PermissionSetup:
    """One program: the files that hold its permissions in the home or in a project, and what they come to."""

    program: str
    patterns: tuple[str, ...]
    home_patterns: tuple[str, ...]
    convert: Callable[[Files, Files, Sequence[str], bool], Converted]
    """From the user's files, the project's, the names of MCP servers, and whether to say what holds without a rule."""

    def files(self, keeper: Path, *, home: bool) -> list[Path]:
        """Those that there are, the weaker first."""
        patterns = self.home_patterns if home else self.patterns
        files = [file for pattern in patterns for file in sorted(keeper.glob(pattern))[:MOST_FILES]]
        return [file for file in files if file.is_file()]


def _claude(user: Files, project: Files, servers: Sequence[str], base: bool) -> Converted:
    return claude_rules([_json(file) for file in (*user, *project)], servers, base=base)


def _codex(user: Files, project: Files, _: Sequence[str], base: bool) -> Converted:
    files = (*user, *project)
    rules = [read_text(file) for file in files if file.suffix == ".rules"]
    return codex_rules(rules, [_toml(file) for file in files if file.suffix == ".toml"], base=base)


def _gemini(user: Files, project: Files, servers: Sequence[str], base: bool) -> Converted:
    return gemini_rules([[_toml(file) for file in project], [_toml(file) for file in user]], servers, base=base)


SETUPS: Mapping[str, PermissionSetup] = {
    "claude": PermissionSetup(
        program="Claude Code",
        patterns=(".claude/settings.json", ".claude/settings.local.json"),
        home_patterns=(".claude/settings.json",),
        convert=_claude,
    ),
    "codex": PermissionSetup(
        program="Codex",
        patterns=(".codex/config.toml", ".codex/rules/*.rules"),
        home_patterns=(".codex/config.toml", ".codex/rules/*.rules"),
        convert=_codex,
    ),
    "gemini": PermissionSetup(
        program="Gemini CLI",
        patterns=(".gemini/policies/*.toml",),
        home_patterns=(".gemini/policies/*.toml",),
        convert=_gemini,
    ),
}


def _json(file: Path) -> Json:
    value: Any = jsonc.parse(read_text(file), str(file))
    if not isinstance(value, dict):
        raise ConfigError(f"{file}:1: expected an object in braces")
    return value


def _toml(file: Path) -> Json:
    import tomllib

    try:
        return tomllib.loads(read_text(file))
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{file} is no TOML: {error}") from error
