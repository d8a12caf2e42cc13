"""Extensions from the configuration: custom tools, plugins, hooks and commands. Nothing is loaded unneeded."""

import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from toolwright.config.load import Config
from toolwright.config.places import between
from toolwright.extension import Extension, ExtensionProblem, Hook
from toolwright.extensions.home import ExtensionHome
from toolwright.extensions.tool_conditions import is_true
from toolwright.machine.folders import Folders

if TYPE_CHECKING:
    from toolwright.extensions.tool_files import ToolFiles
    from toolwright.session.prompt import Prompt
    from toolwright.session.result import TurnEnd

TOOL_FOLDERS = ("tool", "tools")
PLUGIN_FOLDERS = ("plugin", "plugins")


def extensions_of(config: Config, environment: Mapping[str, str], *, pure: bool = False) -> list[Extension]:
    """The extensions that the settings and the folders beside them ask for.

    What a project brings counts only if it is trusted; `pure` leaves plugins out.
    """
    extensions = [
        Extension(name="tool files", start=partial(_with_tool_files, active_folders(config))),
        Extension(name="commands", start=_with_commands),
    ]
    foreign = config.settings.foreign
    hooks = config.settings.hooks or "hooks" in (*foreign.claude, *foreign.codex) or config.claude_plugins
    if hooks or config.settings.experimental.hook:
        extensions.append(Extension(name="hooks", start=_with_shell_hooks))
    if not pure and not is_true(environment.get("TOOLWRIGHT_PURE")) and has_plugins(config):
        from toolwright.extensions.typed import typed_extensions

        typed = list(typed_extensions(config, active_folders(config)))
        extensions += typed
        extensions += [Extension(name=one.name, start=partial(_with_said, one)) for one in typed if one.config()]
        extensions.append(Extension(name="plugins", start=_with_plugins))
    return extensions


def has_plugins(config: Config) -> bool:
    """Tell whether settings or folders name any plugin that may run."""
    folders = active_folders(config)
    return bool(config.settings.plugin) or any((one / kind).is_dir() for one in folders for kind in PLUGIN_FOLDERS)


def _with_plugins(workspace: ExtensionHome) -> AbstractAsyncContextManager[None]:
    from toolwright.extensions.plugin_hooks import with_plugins

    return with_plugins(workspace)


@asynccontextmanager
async def _with_said(extension: Extension, workspace: ExtensionHome) -> AsyncIterator[None]:
    """The agents and commands of an extension that was loaded from a file, when the settings were read already."""
    from toolwright.extensions.contributions import join_contributions

    left_out = join_contributions(workspace, extension.name, extension.config())
    workspace.problems += (ExtensionProblem(name=extension.name, reason=reason) for reason in left_out)
    yield


def _with_shell_hooks(workspace: ExtensionHome) -> AbstractAsyncContextManager[None]:
    from toolwright.extensions.shell_moments import with_shell_hooks

    return with_shell_hooks(workspace)


def foreign_commands(config: Config, folders: Folders) -> dict[Path, str]:
    """The folders of commands that Claude Code keeps, the user's before the project's, if the settings want them.

    Each with what its commands' names begin with: those of plugins with the name of the plugin.
    """
    prefixes = {folder: f"{one.name}:" for one in config.claude_plugins for folder in one.commands}
    if "commands" in config.settings.foreign.claude:
        keepers = (folders.home, *between(config.root, config.directory))
        prefixes |= {keeper / ".claude" / "commands": "" for keeper in keepers}
    return prefixes


@asynccontextmanager
async def _with_commands(workspace: ExtensionHome) -> AsyncIterator[None]:
    """A prompt that calls a command is what that command comes to."""

    async def hook(proceed: "Callable[[Prompt], Awaitable[TurnEnd]]", prompt: "Prompt", session_id: str) -> "TurnEnd":
        if prompt.command is None and (prompt.verbatim or not prompt.text.startswith("/")):
            return await proceed(prompt)
        from toolwright.commands import answer_command

        if workspace.plugins is not None:
            await workspace.plugins.described()  # some of them bring commands
        return await answer_command(proceed, prompt, await workspace.sessions.open(session_id), workspace.commands)

    workspace.hooks.append(Hook(prompt=hook))
    yield


def active_folders(config: Config) -> list[Path]:
    """The config folders whose code counts, weakest first."""
    return [folder.path for folder in config.folders if config.trusted or folder.level != "project"]


def user_folders(config: Config, folders: Folders) -> tuple[Path, ...]:
    """Return the folders of the user's own code, wherever they lie."""
    return (folders.data, *(folder.path for folder in config.folders if folder.level != "project"))


@asynccontextmanager
async def _with_tool_files(folders: Sequence[Path], workspace: ExtensionHome) -> AsyncIterator[None]:
    files: ToolFiles | None = None
    places = [str(folder / kind) for folder in folders for kind in TOOL_FOLDERS]

    def opened() -> "ToolFiles | None":
        nonlocal files
        if files is None and any(map(os.path.isdir, places)):  # before every step
            files = _tool_files(folders, workspace)
        return files

    async def refresh(wanted: str) -> None:
        if (known := opened()) is not None:
            await known.refresh(wanted)

    async def find(tool_id: str) -> None:
        if (known := opened()) is not None:
            await known.find(tool_id)

    workspace.registry.refresh = refresh
    if any(map(os.path.isdir, places)):  # else each call would look for nothing
        workspace.registry.finders.append(find)
    try:
        yield
    finally:
        workspace.registry.refresh = None
        if files is not None:
            await files.close()


def _tool_files(folders: Sequence[Path], workspace: ExtensionHome) -> "ToolFiles":
    from toolwright.config.trust import is_trusted
    from toolwright.extensions.memory import Memory
    from toolwright.extensions.tool_files import ToolFiles, ToolFolder

    project = {folder.path for folder in workspace.config.folders if folder.level == "project"}
    files = ToolFiles(
        # The project's own come before the user's, as its settings come after and win.
        places=[ToolFolder(path=folder, is_project=folder in project) for folder in reversed(folders)],
        registry=workspace.registry,
        hosts=workspace.hosts,
        memory=Memory(folder=workspace.folders.cache / "tools"),
        still_trusted=lambda: workspace.trusted_for_once or is_trusted(workspace.directory, workspace.folders),
    )
    workspace.reports.append(
        lambda: [ExtensionProblem(name=file, reason=reason) for file, reason in files.problems.items()]
    )
    return files
