"""Set-ups of other programs: which parts are in use here, which are not, and why."""

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolwright.config.content import content_of
from toolwright.config.places import CLAUDE_HOOKS, CODEX_HOOKS, between
from toolwright.config.reading import read_head
from toolwright.machine.folders import Folders
from toolwright.record import record

if TYPE_CHECKING:
    from toolwright.config.foreign.found import ForeignSetup
    from toolwright.config.load import Config

MOST = 1000
"""Files of one kind that are counted."""
MOST_BYTES = 8_000_000
"""Of a file that is looked through."""
_SETTINGS = (".json", ".jsonc", ".toml")


@record(frozen=True, slots=True, kw_only=True)
class OtherSetup:
    """Files of another program, and what becomes of them."""

    program: str
    kind: str
    files: tuple[Path, ...]
    names: tuple[str, ...] = ()
    """The parts in question, where it is not all."""
    why: str = ""
    """Why they have no effect; empty if they are in use."""

    def __str__(self) -> str:
        more = f" and {len(self.files) - 1} more" if len(self.files) > 1 else ""
        subject = f"{self.kind} of {self.program} ({self.files[0]}{more})"
        named = f": {', '.join(self.names)}" if self.names else ""
        return f"{subject} have no effect{named or ''}: {self.why}" if self.why else f"{subject} are in use{named}"


@record(frozen=True, slots=True, kw_only=True)
class _Place:
    """Place where a program keeps one kind of thing, below the project or the home."""

    program: str
    kind: str
    patterns: tuple[str, ...]
    setting: tuple[str, str] = ("", "")
    """The key below `foreign` and the word in it that has them read."""
    instead: str = ""
    """Advice where no setting does it."""
    home: tuple[str, ...] | None = None
    """Their places in the home, if not the same."""
    holding: str = ""
    """Text that is in the file if it holds any."""

    @property
    def advice(self) -> str:
        key, word = self.setting
        return self.instead or f'they are read with "foreign": {{"{key}": ["{word}"]}} in your settings'


_RULES_INSTEAD = (
    'tw import {0} shows them as our rules; "foreign": {{"{0}": ["permissions"]}} in your settings reads them'
)


def _place(program: str, kind: str, *patterns: str, **more: Any) -> _Place:
    return _Place(program=program, kind=kind, patterns=patterns, **more)


_PLACES = (
    _place("Claude Code", "commands", ".claude/commands/**/*.md", setting=("claude", "commands")),
    _place("Claude Code", "agents", ".claude/agents/**/*.md", setting=("claude", "agents")),
    _place("Claude Code", "skills", ".claude/skills/*/SKILL.md", setting=("skills", "")),
    _place("other agents", "skills", ".agents/skills/*/SKILL.md", setting=("skills", "")),
    _place(
        *("Claude Code", "permissions", *CLAUDE_HOOKS),
        home=CLAUDE_HOOKS[:1],
        setting=("claude", "permissions"),
        instead=_RULES_INSTEAD.format("claude"),
        holding='"permissions"',
    ),
    _place(
        *("Codex", "permissions", ".codex/rules/*.rules"),
        setting=("codex", "permissions"),
        instead=_RULES_INSTEAD.format("codex"),
    ),
    _place(
        *("Gemini CLI", "permissions", ".gemini/policies/*.toml"),
        setting=("gemini", "permissions"),
        instead=_RULES_INSTEAD.format("gemini"),
    ),
    _place(
        "Claude Code", "hooks", *CLAUDE_HOOKS, home=CLAUDE_HOOKS[:1], setting=("claude", "hooks"), holding='"hooks"'
    ),
    _place("Claude Code", "MCP servers", ".mcp.json", home=(), setting=("claude", "mcp")),
    _place("Claude Code", "MCP servers", home=(".claude.json",), setting=("claude", "mcp"), holding="mcpServers"),
    _place("Codex", "MCP servers", ".codex/config.toml", setting=("codex", "mcp"), holding="mcp_servers"),
    _place("Codex", "hooks", *CODEX_HOOKS, setting=("codex", "hooks")),
    _place("Gemini CLI", "MCP servers", ".gemini/settings.json", setting=("gemini", "mcp"), holding="mcpServers"),
    _place(
        *("Gemini CLI", "commands", ".gemini/commands/**/*.toml"),
        instead="write them as Markdown in .toolwright/command/",
    ),
    _place(
        *("Cursor", "rules", ".cursor/rules/*.md*", ".cursorrules"),
        instead="name them under instructions in toolwright.json",
    ),
    _place(*("Cursor", "MCP servers", ".cursor/mcp.json"), instead="copy them to .mcp.json, whose form is the same"),
)


def other_setups(directory: Path, folders: Folders, config: "Config | None") -> Iterator[OtherSetup]:
    """Everything of other programs in the project and in the home. Without settings, none of it is in use."""
    yield from _in_places(folders.home, _PLACES, config, in_home=True)
    yield from of_project(directory, folders, config)
    if config is not None:
        yield from _read_pieces([one for one in config.foreign if not one.file.is_relative_to(config.root)], config)
    yield from keys_elsewhere(folders)


def keys_elsewhere(folders: Folders) -> Iterator[OtherSetup]:
    """Keys for model providers that another program has stored."""
    keys = folders.data.parent / "opencode" / "auth.json"
    if keys.is_file():
        why = "tw auth PROVIDER stores one, or set its variable"
        yield OtherSetup(program="OpenCode", kind="keys", files=(keys,), why=why)


def untrusted_files(directory: Path, folders: Folders) -> list[str]:
    """The agents, commands and code that a project brings beside its settings, and that wait for trust."""
    return [name for name in content_of(directory, folders).files if Path(name).suffix not in _SETTINGS]


def of_project(directory: Path, folders: Folders, config: "Config | None") -> Iterator[OtherSetup]:
    """Yield what the project alone has of them."""
    for folder in between(config.root if config is not None else directory, directory):
        if folder != folders.home:
            yield from _in_places(folder, _PLACES, config, in_home=False)
    if config is not None:
        yield from _read_pieces([one for one in config.foreign if one.file.is_relative_to(config.root)], config)


def _in_places(top: Path, places: Sequence[_Place], config: "Config | None", *, in_home: bool) -> Iterator[OtherSetup]:
    for place in places:
        patterns = place.home if in_home and place.home is not None else place.patterns
        present = [file for pattern in patterns for file in _some(top, pattern) if _holds(file, place.holding)]
        files = tuple(Path("~" if in_home else "", file.relative_to(top)) for file in present)
        wanted = _is_wanted(place, config)
        if files and (not wanted or place.kind not in ("agents", "MCP servers")):
            why = "" if wanted else place.advice
            yield OtherSetup(program=place.program, kind=place.kind, files=files, why=why)


def _read_pieces(setups: "Sequence[ForeignSetup]", config: "Config") -> Iterator[OtherSetup]:
    """The agents and servers that were read, by file; one line for those in use, one for each that is not."""
    for file in dict.fromkeys(one.file for one in setups):
        pieces = [one for one in setups if one.file == file]
        inside = file.is_relative_to(config.root)
        label = file.relative_to(config.root) if inside else file
        waits = inside and not config.trusted
        used = tuple(one.name for one in pieces if not one.reason)
        if used:
            why = "the project is not trusted (tw trust)" if waits and pieces[0].kind == "MCP servers" else ""
            program, kind = pieces[0].program, pieces[0].kind
            yield OtherSetup(program=program, kind=kind, files=(label,), names=used, why=why)
        for piece in pieces:
            if piece.reason:
                yield OtherSetup(
                    program=piece.program,
                    kind=piece.kind,
                    files=(label,),
                    names=(piece.name,),
                    why=piece.reason.rstrip("."),
                )


def _is_wanted(place: _Place, config: "Config | None") -> bool:
    key, word = place.setting
    if config is None or not key:
        return False
    value = getattr(config.settings.foreign, key)
    return bool(value) if not word else word in value


def _some(keeper: Path, pattern: str) -> list[Path]:
    return sorted(islice(keeper.glob(pattern), MOST))


def _holds(file: Path, text: str) -> bool:
    try:
        return not text or text.encode() in read_head(file, MOST_BYTES)
    except (OSError, ValueError):
        return True
