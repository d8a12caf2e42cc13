"""The programs that settings name for certain moments: ours, Claude Code's, Codex's, the reference's older form."""

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from toolwright.config.load import Config
from toolwright.config.places import CLAUDE_HOOKS, CODEX_HOOKS, between
from toolwright.extension import ExtensionProblem
from toolwright.extensions.shell_hooks import SECONDS, ShellHook
from toolwright.machine.folders import Folders
from toolwright.protocols.json_types import Json

EVENTS = (
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "PermissionRequest",
    "UserPromptSubmit",
    "Stop",
    "StopFailure",
    "SubagentStart",
    "SubagentStop",
    "SessionStart",
    "SessionEnd",
    "PreCompact",
    "PostCompact",
    "Notification",
)
OTHER_EVENTS = (
    *("Setup", "PermissionDenied", "PostToolBatch", "UserPromptExpansion", "InstructionsLoaded", "ConfigChange"),
    *("FileChanged", "CwdChanged", "DirectoryAdded", "WorktreeCreate", "WorktreeRemove", "TaskCreated"),
    *("TaskCompleted", "TeammateIdle", "Elicitation", "ElicitationResult", "PreModelSwitch", "PostModelSwitch"),
    "MessageDisplay",
)
"""Moments of Claude Code that there are not here."""
LONGEST = 86_400.0
"""Seconds that no entry is given more of."""


def hook_entries(config: Config, folders: Folders) -> tuple[list[ShellHook], list[ExtensionProblem]]:
    """The programs that our settings name and, if they say so, those of Claude Code and Codex; ours first."""
    problems: list[ExtensionProblem] = []
    hooks = [hook for source in config.sources for hook in _read(source.value.get("hooks"), source.name, problems)]
    foreign = config.settings.foreign
    wanted = {CLAUDE_HOOKS: "hooks" in foreign.claude, CODEX_HOOKS: "hooks" in foreign.codex}
    for names in (names for names, asked in wanted.items() if asked):
        hooks += _foreign(_places(names, config, folders), config, folders, problems)
    for plugin in config.claude_plugins:
        hooks += _read(plugin.hooks, f"the plugin {plugin.name} in {plugin.folder}", problems)
    for foreign_agent in config.foreign:
        hooks += _read(foreign_agent.hooks, str(foreign_agent.file), problems, foreign_agent.name)
    hooks += _older_entries(config)
    return hooks, problems


def _places(names: Sequence[str], config: Config, folders: Folders) -> list[Path]:
    """The files of a program that there are, the general before the special; a project's once it is trusted."""
    keepers = [folders.home, *(between(config.root, config.directory) if config.trusted else ())]
    files = [keeper / name for keeper in keepers for name in (names if keeper != folders.home else names[:1])]
    return [file for file in dict.fromkeys(files) if file.is_file()]


def _foreign(
    files: Sequence[Path], config: Config, folders: Folders, problems: list[ExtensionProblem]
) -> list[ShellHook]:
    """The hooks of all these files together; none where the last of them that speaks of it switches them off."""
    settings = dict[Path, Json]()
    for file in files:
        known = config.known if not file.is_relative_to(folders.home / file.parent.name) else None
        settings[file] = _settings_in(file, config.root, known, problems)
    off = [one["disableAllHooks"] for one in settings.values() if isinstance(one.get("disableAllHooks"), bool)]
    if off and off[-1]:
        return []
    return [hook for file, one in settings.items() for hook in _read(one.get("hooks"), str(file), problems)]


def _settings_in(file: Path, root: Path, known: Mapping[str, str] | None, problems: list[ExtensionProblem]) -> Json:
    from toolwright.config import jsonc
    from toolwright.config.reading import READ, read_text
    from toolwright.errors import ConfigError

    read = dict[Path, str]()
    before = READ.set(read)
    try:
        text = read_text(file)
        if known is not None and known.get(os.path.relpath(file, root)) != read[file]:
            raise ConfigError("it has changed since you trusted the project; tw trust shows how and asks anew")
        settings = jsonc.parse(text, str(file))
    except ConfigError as error:
        problems.append(ExtensionProblem(name=str(file), reason=str(error)))
        return {}
    finally:
        READ.reset(before)
    return settings if isinstance(settings, dict) else {}


def _never(event: str) -> str:
    return f"nothing here happens at {event!r}" + (
        "" if event in OTHER_EVENTS else ", and no program has such a moment"
    )


def _read(groups_by_event: Any, origin: str, problems: list[ExtensionProblem], agent: str = "") -> Iterator[ShellHook]:
    for event, groups in groups_by_event.items() if isinstance(groups_by_event, Mapping) else ():
        if event not in EVENTS:
            problems.append(ExtensionProblem(name=origin, reason=_never(event)))
            continue
        for group in groups if isinstance(groups, list) else ():
            entries = group.get("hooks") if isinstance(group, Mapping) else None
            for entry in entries if isinstance(entries, list) else ():
                # What an agent has to say at its end is said at the end of a subagent.
                moment = "SubagentStop" if agent and event == "Stop" else event
                named = "" if agent and event != moment else group.get("matcher")
                matcher = named if isinstance(named, str) else ""  # what is no text guards everything
                hook = _hook(moment, matcher, entry, origin, agent)
                if hook.missing:
                    problems.append(ExtensionProblem(name=origin, reason=f"{event}: {hook.missing}"))
                yield hook


def _hook(event: str, matcher: str, entry: Any, origin: str, agent: str) -> ShellHook:
    fields: Mapping[str, Any] = entry if isinstance(entry, Mapping) else {}
    kind, limit = fields.get("type", "command"), fields.get("timeout")
    subject = fields.get(_FORMS.get(str(kind), ""))
    runs = isinstance(subject, str) and bool(subject)
    headers, variables = fields.get("headers"), fields.get("allowedEnvVars")
    return ShellHook(
        event=event,
        matcher=matcher,
        command=str(subject) if runs and kind == "command" else "",
        url=str(subject) if runs and kind == "http" else "",
        headers=tuple((str(key), str(value)) for key, value in headers.items()) if isinstance(headers, Mapping) else (),
        variables=tuple(map(str, variables)) if isinstance(variables, list) else (),
        prompt=str(subject) if runs and kind == "prompt" else "",
        model=str(fields.get("model") or ""),
        missing="" if runs else f"commands, addresses and prompts are run here, not {kind if fields else entry!r}",
        seconds=float(min(limit, LONGEST)) if isinstance(limit, int | float) and limit > 0 else SECONDS,
        origin=origin,
        agent=agent,
    )


_FORMS = {"command": "command", "http": "url", "prompt": "prompt"}
"""The forms of an entry, each with the key under which it says what to run, tell or ask."""


def _older_entries(config: Config) -> Iterator[ShellHook]:
    """`experimental.hook` of the reference: what to run after an edit and at the end of a turn."""
    import shlex

    hooks = config.settings.experimental.hook
    for words in _commands_in(hooks.get("session_completed")):
        yield ShellHook(event="Stop", command=shlex.join(words), origin="experimental.hook")
    edited = hooks.get("file_edited")
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
