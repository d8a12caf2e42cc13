"""tw plugin: the plugins there are, and whether they work."""

import argparse
import asyncio
import tempfile
from collections.abc import Iterator
from pathlib import Path

from toolwright.cli.options import note, open_from, parser, print_json, print_table, subcommand
from toolwright.extensions.plugins import Plugin
from toolwright.extensions.shell_hooks import ShellHooks
from toolwright.workspace import Workspace

DONE, FAILED = 0, 1


def main(arguments: list[str]) -> int:
    options = _parser().parse_args(arguments)
    return asyncio.run(_list(options) if options.action == "list" else _verify(options))


async def _list(options: argparse.Namespace) -> int:
    async with open_from(options) as workspace:
        plugins = workspace.plugins
        if plugins is not None:
            await plugins.start_all()
        found = [one.to_json() for one in plugins.plugins] if plugins is not None else []
        missing = [
            {"name": one.name, "status": "failed", "hooks": [], "error": one.reason} for one in workspace.problems
        ]
        shown = [*found, *missing, *_inert(workspace)]
        if options.json:
            print_json(shown)
        else:
            print_table([(str(one["name"]), str(one["status"]), _told(one)) for one in shown])
        if not shown:
            note("no plugins; a file in .toolwright/plugin or the setting plugin brings one")
    return DONE


def _inert(workspace: Workspace) -> list[dict[str, object]]:
    """What a project would bring if it were trusted."""
    if workspace.trusted:
        return []
    folders = [folder.path for folder in workspace.config.folders if folder.level == "project"]
    files = [file for folder in folders for kind in ("plugin", "plugins") for file in sorted((folder / kind).glob("*"))]
    wanted = [file for file in files if file.suffix in (".py", ".js", ".ts", ".mjs", ".mts")]
    return [{"name": file.name, "status": "inert", "hooks": []} for file in wanted]


def _told(plugin: dict[str, object]) -> str:
    hooks = plugin["hooks"]
    listed = ", ".join(hooks) if isinstance(hooks, list) else ""
    return f"{listed}  {plugin.get('error') or ''}".strip()


async def _verify(options: argparse.Namespace) -> int:
    """Make a prompt, a call, a command and a question happen, and say which hooks heard of it."""
    from toolwright.models.scripted import ScriptedCall, ScriptedModel

    with tempfile.TemporaryDirectory(prefix="toolwright-verify-") as folder:
        file = Path(folder) / "probe.txt"
        file.write_text("probe\n")
        async with open_from(options, answer=lambda _: "reject") as workspace:
            plugins, hooks = workspace.plugins, workspace.shell_hooks
            if plugins is None and hooks is None:
                note("no plugins and no hooks")
                return DONE
            if plugins is not None:
                await plugins.start_all()
            command: ScriptedCall = {"name": "bash", "args": {"command": "true", "description": "probe"}}
            # One that succeeds also where the rules of the project want a person asked about commands.
            harmless: ScriptedCall = {"name": "todoread", "args": {}}
            model = ScriptedModel({"tools": [command, harmless]}, {"text": "Done."})
            async with workspace.session(rules={"*": "allow", "external_directory": "ask"}) as session:
                # Given with the prompt, so that no agent's own model is asked in its place.
                await session.prompt("A probe of the plugins.", model=model)
                await session.call("read", filePath=str(file))
        found = list(plugins.plugins) if plugins is not None else []
        rows = [(one.source.name, one.status, _fired(one)) for one in found]
        print_table([*rows, *(_runs(hooks) if hooks is not None else ())])
        broken = any(one.status == "failed" for one in found) or bool(workspace.problems or (hooks and hooks.problems))
        for problem in workspace.left_out():
            note(f"{problem.name}: {problem.reason}")
        return FAILED if broken else DONE


def _fired(plugin: Plugin) -> str:
    silent = [name for name in plugin.hooks if name not in plugin.fired and name != "tool"]
    fired = f"fired: {', '.join(sorted(plugin.fired)) or 'none'}"
    return f"{fired}; not: {', '.join(silent)}" if silent else fired


def _runs(hooks: ShellHooks) -> Iterator[tuple[str, str, str]]:
    for hook in hooks.hooks:
        failed = any(hook.command[:80] in problem.name for problem in hooks.problems)
        told = f"run {hooks.runs[hook]} times, blocked {hooks.blocks[hook]}: {hook.command[:80]}"
        yield f"{hook.event} {hook.matcher}".rstrip(), "failed" if failed else "ready", told


def _parser() -> argparse.ArgumentParser:
    made = parser(
        "plugin",
        "Plugins hear of calls, prompts and questions, and may change or refuse them. --pure leaves them out.",
        examples="  tw plugin list\n  tw plugin verify",
    )
    group = made.add_subparsers(dest="action", required=True, metavar="list|verify")
    subcommand(group, "list", "the plugins there are, and their hooks", as_json=True)
    subcommand(group, "verify", "make things happen and say which hooks heard of it; exit 1 if a plugin is broken")
    return made
