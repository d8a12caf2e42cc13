"""Programs that are run at certain moments, by Claude Code's protocol: JSON in, an exit code or JSON out."""

import json
import logging
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolwright.config.load import Config
from toolwright.config.places import between
from toolwright.errors import ToolError
from toolwright.extension import ExtensionProblem
from toolwright.extensions.program import Done, run_program
from toolwright.folders import Folders
from toolwright.jsontypes import Json
from toolwright.record import record

if TYPE_CHECKING:
    from toolwright.process.scope import Scopes

log = logging.getLogger(__name__)

EVENTS = (
    "PreToolUse",
    "PostToolUse",
    "PermissionRequest",
    "UserPromptSubmit",
    "Stop",
    "SubagentStop",
    "SessionStart",
    "SessionEnd",
    "PreCompact",
    "Notification",
)
SECONDS = 60.0
"""How long a program may take, unless its entry says otherwise."""
BLOCKED = 2
"""The exit code that blocks what is about to happen; what is on stderr says why."""
THEIR_NAMES = {
    "bash": "Bash",
    "read": "Read",
    "edit": "Edit",
    "multiedit": "MultiEdit",
    "write": "Write",
    "glob": "Glob",
    "grep": "Grep",
    "list": "LS",
    "task": "Task",
    "webfetch": "WebFetch",
    "websearch": "WebSearch",
    "todowrite": "TodoWrite",
    "todoread": "TodoRead",
    "skill": "Skill",
}
"""Built-in tools by the names that programs of this protocol know."""


@record(frozen=True, slots=True, kw_only=True)
class ShellHook:
    """One entry: when, for which tools, and what to run."""

    event: str
    command: str
    matcher: str = ""
    """A regular expression for the whole name of a tool, ours or theirs; empty and `*` are any."""
    seconds: float = SECONDS
    origin: str = ""

    def fits(self, name: str) -> bool:
        if self.matcher in ("", "*") or not name:
            return True
        names = (name, THEIR_NAMES.get(name, name))
        try:
            return any(re.fullmatch(self.matcher, one) for one in names)
        except re.error:
            return True  # a guard whose matcher is broken guards everything


@record(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What the programs of one moment came to, together."""

    blocked: str = ""
    """Why it must not happen; empty if it may."""
    decision: str = ""
    """allow, deny or ask, where one was given."""
    reason: str = ""
    arguments: Json | None = None
    """In place of the tool's own."""
    context: str = ""
    """Words for the model."""
    stopped: str = ""
    """Why the turn should end; empty if it should not."""


@record(slots=True, kw_only=True, eq=False)
class ShellHooks:
    """The programs of a workspace, and the running of them."""

    hooks: Sequence[ShellHook]
    scopes: "Callable[[], Scopes]"
    directory: Path
    environment: Mapping[str, str]
    problems: list[ExtensionProblem] = field(default_factory=list[ExtensionProblem])

    def has(self, event: str) -> bool:
        return any(hook.event == event for hook in self.hooks)

    async def run(self, event: str, session_id: str, name: str = "", **more: Any) -> Verdict:
        """Run the programs of a moment one after the other; the first that blocks has the last word."""
        verdict = Verdict()
        given: Json = {
            "session_id": session_id,
            "transcript_path": "",
            "cwd": str(self.directory),
            "permission_mode": "default",
            "hook_event_name": event,
            **more,
        }
        for hook in self.hooks:
            if hook.event == event and hook.fits(name):
                verdict = _joined(verdict, await self._verdict(hook, given))
                if verdict.blocked:
                    break
        return verdict

    async def _verdict(self, hook: ShellHook, given: Json) -> Verdict:
        import asyncio

        env = {
            **self.environment,
            "CLAUDE_PROJECT_DIR": str(self.directory),
            "TOOLWRIGHT_PROJECT_DIR": str(self.directory),
            "TOOLWRIGHT_FILE": str((given.get("tool_input") or {}).get("filePath") or ""),
        }
        data = json.dumps(given, ensure_ascii=False, default=str).encode("utf-8", "replace")
        try:
            async with asyncio.timeout(hook.seconds):
                done = await run_program(
                    self.scopes(), ["/bin/sh", "-c", hook.command], cwd=self.directory, env=env, given=data
                )
        except TimeoutError:
            return self._trouble(hook, f"it took longer than {hook.seconds:g} seconds")
        except ToolError as error:
            return self._trouble(hook, str(error))
        if done.code == BLOCKED:
            return Verdict(blocked=done.err.strip() or f"{hook.command} refused it")
        if done.code != 0:
            said = done.err.strip().splitlines()
            return self._trouble(hook, f"it {done.how}{f': {said[-1]}' if said else ''}")
        return read_answer(done, hook.event)

    def _trouble(self, hook: ShellHook, reason: str) -> Verdict:
        """One that fails decides nothing, but a guard that does not answer in time does not let things pass."""
        problem = ExtensionProblem(name=f"{hook.origin} {hook.event}: {hook.command[:80]}", reason=reason)
        if problem not in self.problems:
            self.problems.append(problem)
        log.warning("%s: %s", problem.name, reason)
        late = "took longer" in reason and hook.event == "PreToolUse"
        return Verdict(blocked=f"The hook {hook.command[:80]!r} did not answer: {reason}." if late else "")


def read_answer(done: Done, event: str) -> Verdict:
    """What a program that ended well has said: JSON, or plain text that is context for the model."""
    text = done.out.strip()
    try:
        said: Any = json.loads(text) if text.startswith("{") else None
    except ValueError:
        said = None
    if not isinstance(said, dict):
        plain = event in ("UserPromptSubmit", "SessionStart")
        return Verdict(context=text if plain else "")
    inner = said.get("hookSpecificOutput")
    more: Json = inner if isinstance(inner, dict) else {}
    decided = more.get("decision")
    nested: Json = decided if isinstance(decided, dict) else {}
    decision = str(more.get("permissionDecision") or nested.get("behavior") or _older(said.get("decision")) or "")
    reason = str(more.get("permissionDecisionReason") or nested.get("message") or said.get("reason") or "")
    changed = more.get("updatedInput") or nested.get("updatedInput")
    blocks = decision == "deny" and event != "PermissionRequest"
    return Verdict(
        blocked=(reason or "a hook refused it") if blocks else "",
        decision=decision,
        reason=reason,
        arguments=changed if isinstance(changed, dict) else None,
        context=str(more.get("additionalContext") or ""),
        stopped=str(said.get("stopReason") or "a hook ended it") if said.get("continue") is False else "",
    )


def hook_entries(config: Config, folders: Folders) -> tuple[list[ShellHook], list[ExtensionProblem]]:
    """The programs that our settings name and, if they say so, those of Claude Code and Codex; ours first."""
    problems: list[ExtensionProblem] = []
    found = [hook for source in config.sources for hook in _read(source.value.get("hooks"), source.name, problems)]
    for file in _foreign_files(config, folders):
        if file.is_file():
            known = config.known if not file.is_relative_to(folders.home / file.parent.name) else None
            found += _read(_hooks_in(file, config.root, known, problems), str(file), problems)
    found += _older_entries(config)
    return found, problems


def _foreign_files(config: Config, folders: Folders) -> list[Path]:
    """Where other programs keep the same; a project's count once it is trusted."""
    foreign = config.settings.foreign
    names = [Path(".claude", "settings.json")] if "hooks" in foreign.claude else []
    names += [Path(".codex", "hooks.json")] if "hooks" in foreign.codex else []
    keepers = [folders.home, *(between(config.root, config.directory) if config.trusted else ())]
    return list(dict.fromkeys(keeper / name for name in names for keeper in keepers))


def _hooks_in(file: Path, root: Path, known: Mapping[str, str] | None, problems: list[ExtensionProblem]) -> Any:
    from toolwright.config import jsonc
    from toolwright.config.reading import READ, read_text
    from toolwright.errors import ConfigError

    read = dict[Path, str]()
    before = READ.set(read)
    try:
        text = read_text(file)
        if known is not None and known.get(os.path.relpath(file, root)) != read[file]:
            raise ConfigError("it has changed since you trusted the project; tw trust shows how and asks anew")
        said = jsonc.parse(text, str(file))
    except ConfigError as error:
        problems.append(ExtensionProblem(name=str(file), reason=str(error)))
        return None
    finally:
        READ.reset(before)
    return said.get("hooks") if isinstance(said, dict) else None


def _read(said: Any, origin: str, problems: list[ExtensionProblem]) -> Iterator[ShellHook]:
    for event, groups in said.items() if isinstance(said, Mapping) else ():
        if event not in EVENTS:
            problems.append(ExtensionProblem(name=origin, reason=f"nothing here happens at {event!r}"))
            continue
        for group in groups if isinstance(groups, list) else ():
            entries = group.get("hooks") if isinstance(group, Mapping) else None
            for entry in entries if isinstance(entries, list) else ():
                if isinstance(entry, Mapping) and entry.get("type", "command") == "command" and entry.get("command"):
                    limit = entry.get("timeout")
                    yield ShellHook(
                        event=event,
                        command=str(entry["command"]),
                        matcher=str(group.get("matcher") or ""),
                        seconds=float(limit) if isinstance(limit, int | float) and limit > 0 else SECONDS,
                        origin=origin,
                    )
                else:
                    kind = entry.get("type") if isinstance(entry, Mapping) else entry
                    problems.append(ExtensionProblem(name=origin, reason=f"{event}: only commands, not {kind!r}"))


def _older_entries(config: Config) -> Iterator[ShellHook]:
    """`experimental.hook` of the reference: what to run after an edit and at the end of a turn."""
    import shlex

    said = config.settings.experimental.hook
    for words in _commands_in(said.get("session_completed")):
        yield ShellHook(event="Stop", command=shlex.join(words), origin="experimental.hook")
    edited = said.get("file_edited")
    for ending, entries in edited.items() if isinstance(edited, Mapping) else ():
        for words in _commands_in(entries):
            yield ShellHook(
                event="PostToolUse",
                matcher="edit|write|multiedit",
                command=f'case "$TOOLWRIGHT_FILE" in *{shlex.quote(ending)}) {shlex.join(words)};; esac',
                origin="experimental.hook",
            )


def _commands_in(entries: Any) -> Iterator[list[str]]:
    for entry in entries if isinstance(entries, list | tuple) else ():
        words = entry.get("command") if isinstance(entry, Mapping) else None
        if isinstance(words, list | tuple) and words:
            yield [str(word) for word in words]


def _older(decision: Any) -> str:
    return {"block": "deny", "deny": "deny", "approve": "allow", "allow": "allow", "ask": "ask"}.get(str(decision), "")


def _joined(first: Verdict, second: Verdict) -> Verdict:
    strictness = ("deny", "ask", "allow", "")
    return Verdict(
        blocked=first.blocked or second.blocked,
        decision=min(
            first.decision, second.decision, key=lambda one: strictness.index(one) if one in strictness else 3
        ),
        reason=second.reason or first.reason,
        arguments=second.arguments or first.arguments,
        context="\n\n".join(filter(None, (first.context, second.context))),
        stopped=first.stopped or second.stopped,
    )
