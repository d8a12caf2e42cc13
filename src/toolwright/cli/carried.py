"""What the set-ups of other programs have that is not used here: found by name, told with the reason."""

from collections.abc import Iterator
from pathlib import Path

from toolwright.folders import Folders
from toolwright.record import record

MOST = 1000
"""Files of one kind that are counted."""


@record(frozen=True, slots=True, kw_only=True)
class Unused:
    """Files of another program that have no effect here."""

    program: str
    kind: str
    files: tuple[Path, ...]
    why: str

    def __str__(self) -> str:
        more = f" and {len(self.files) - 1} more" if len(self.files) > 1 else ""
        return f"{self.kind} of {self.program} ({self.files[0]}{more}) have no effect: {self.why}"


_COMMANDS = 'they are read with "foreign": {"claude": ["commands"]} in your settings'
_PROJECT = (
    ("Claude Code", "commands", (".claude/commands/**/*.md",), _COMMANDS),
    ("Claude Code", "agents", (".claude/agents/**/*.md",), "copy them to .toolwright/agent/"),
    (
        "Claude Code",
        "settings",
        (".claude/settings.json", ".claude/settings.local.json"),
        'their permissions are not read, hooks with "foreign": {"claude": ["hooks"]}; write rules into toolwright.json',
    ),
    ("Claude Code", "MCP servers", (".mcp.json",), "name them under `mcp` in your settings"),
    ("Cursor", "rules", (".cursor/rules/*.md*", ".cursorrules"), "name them under instructions in toolwright.json"),
)


def not_carried_over(project: Path, folders: Folders) -> Iterator[Unused]:
    """Everything of other programs in the project and in the home that does nothing here."""
    for program, kind, patterns, why in _PROJECT:
        files = tuple(file for pattern in patterns for file in _some(project, pattern))
        if files:
            yield Unused(program=program, kind=kind, files=files, why=why)
    keys = folders.data.parent / "opencode" / "auth.json"
    if keys.is_file():
        yield Unused(
            program="OpenCode", kind="keys", files=(keys,), why="tw auth PROVIDER stores one, or set its variable"
        )


def _some(project: Path, pattern: str) -> Iterator[Path]:
    for number, file in enumerate(project.glob(pattern)):
        if number == MOST:
            return
        yield file.relative_to(project)
