"""tw plugin: the plugins there are, and whether they work."""

import argparse
import asyncio
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from toolwright.cli.options import note, open_from, parser, print_json, print_table, subcommand
from toolwright.extension import HOOK_KINDS, Extension, hooks_of, parts_of
from toolwright.extensions.plugins import Plugin, Plugins
from toolwright.extensions.shell_hooks import ShellHooks
from toolwright.workspace import Workspace

DONE, FAILED = 0, 1


def main(arguments: list[str]) -> int:
    options = _parser().parse_args(arguments)
    if options.action in ("list", "verify"):
        return asyncio.run(_list(options) if options.action == "list" else _verify(options))
    from toolwright.cli.actions import plugin_packages

    actions = {"install": plugin_packages.install, "update": plugin_packages.update, "remove": plugin_packages.remove}
    return asyncio.run(actions[options.action](options))


async def _list(options: argparse.Namespace) -> int:
    async with open_from(options) as workspace:
        plugins = workspace.plugins
        if plugins is not None:
            await plugins.start_all()
        started = (
            [{**one.to_json(), **_release(plugins, one)} for one in plugins.plugins] if plugins is not None else []
        )
        missing = [
            {"name": one.name, "status": "failed", "hooks": [], "error": one.reason} for one in workspace.problems
        ]
        active = [{"name": one.origin, "status": "active", "hooks": parts_of(one)} for one in _loaded(workspace)]
        rows = [*started, *active, *missing, *_inert(workspace)]
        if options.json:
            print_json(rows)
        else:
            print_table([(str(one["name"]), str(one["status"]), _details(one)) for one in rows])
        if not rows:
            note("no plugins; a file in .toolwright/plugin or the setting plugin brings one")
    return DONE


def _loaded(workspace: Workspace) -> list[Extension]:
    """The plugins that are extensions themselves, of this process, and have joined."""
    failed = {one.name for one in workspace.problems}
    return [one for one in workspace.extensions if one.origin and one.origin not in failed]


def _inert(workspace: Workspace) -> list[dict[str, object]]:
    """List what a project would bring if it were trusted."""
    if workspace.trusted:
        return []
    folders = [folder.path for folder in workspace.config.folders if folder.level == "project"]
    files = [file for folder in folders for kind in ("plugin", "plugins") for file in sorted((folder / kind).glob("*"))]
    wanted = [file for file in files if file.suffix in (".py", ".js", ".ts", ".mjs", ".mts")]
    return [{"name": file.name, "status": "inert", "hooks": []} for file in wanted]


def _release(plugins: Plugins, plugin: Plugin) -> dict[str, str]:
    lock = plugins.store.lock(plugin.source.package) if plugin.source.package else None
    return {"release": f"{lock.version} {lock.integrity}"} if lock else {}


def _details(plugin: dict[str, object]) -> str:
    hooks = plugin["hooks"]
    listed = ", ".join(hooks) if isinstance(hooks, list) else ""
    return "  ".join(str(one) for one in (listed, plugin.get("release"), plugin.get("error")) if one)


async def _verify(options: argparse.Namespace) -> int:
    """Make a prompt, a call, a command and a question happen, and say which hooks heard of it."""
    from toolwright.models.scripted import ScriptedCall, ScriptedModel

    with tempfile.TemporaryDirectory(prefix="toolwright-verify-") as folder:
        file = Path(folder) / "probe.txt"
        file.write_text("probe\n")
        async with open_from(options, answer=lambda _: "reject") as workspace:
            plugins, hooks = workspace.plugins, workspace.shell_hooks
            loaded = _loaded(workspace)
            if plugins is None and hooks is None:
                note("no plugins and no hooks")
                return DONE
            heard = {one.origin: _listening(workspace, one) for one in loaded}
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
        started = list(plugins.plugins) if plugins is not None else []
        rows = [(one.source.name, one.status, _fired(one)) for one in started]
        rows += [(one.origin, "active", _heard(one, heard[one.origin])) for one in loaded]
        print_table([*rows, *(_runs(hooks) if hooks is not None else ())])
        broken = any(one.status == "failed" for one in started) or bool(
            workspace.problems or (hooks and hooks.problems)
        )
        for problem in workspace.left_out():
            note(f"{problem.name}: {problem.reason}")
        note("made to happen: a prompt, its requests, calls of bash, todoread and read, a question")
        return FAILED if broken else DONE


def _listening(workspace: Workspace, extension: Extension) -> set[str]:
    """The kinds of its hooks that hear of something from now on."""
    heard: set[str] = set()

    def around(kind: str, hook: Callable[..., Any]) -> Callable[..., Any]:
        def listening(*arguments: Any) -> Any:
            heard.add(kind)
            return hook(*arguments)

        return listening

    for hook in hooks_of(extension):
        at = workspace.hooks.index(hook)
        kinds = {kind: member for kind in HOOK_KINDS if (member := getattr(hook, kind)) is not None}
        workspace.hooks[at] = replace(hook, **{kind: around(kind, one) for kind, one in kinds.items()})
        if hook.call is not None:
            workspace.caller.hooks[workspace.caller.hooks.index(hook.call)] = around("call", hook.call)
    return heard


def _heard(extension: Extension, heard: set[str]) -> str:
    hooks = [kind for kind in parts_of(extension) if kind in HOOK_KINDS]
    return _render_fired(sorted(heard), [kind for kind in hooks if kind not in heard])


def _fired(plugin: Plugin) -> str:
    silent = [name for name in plugin.hooks if name not in plugin.fired and name != "tool"]
    return _render_fired(sorted(plugin.fired), silent)


def _render_fired(fired: list[str], silent: list[str]) -> str:
    line = f"fired: {', '.join(fired) or 'none'}"
    return f"{line}; not: {', '.join(silent)}" if silent else line


def _runs(hooks: ShellHooks) -> Iterator[tuple[str, str, str]]:
    for hook in hooks.hooks:
        failed = any(hook.shown in problem.name for problem in hooks.problems)
        counts = f"run {hooks.runs[hook]} times, blocked {hooks.blocks[hook]}: {hook.shown}"
        yield f"{hook.event} {hook.matcher}".rstrip(), "failed" if failed else "ready", counts


def _parser() -> argparse.ArgumentParser:
    root = parser(
        "plugin",
        "Plugins hear of calls, prompts and questions, and may change or refuse them. --pure leaves them out.",
        examples="  tw plugin list\n  tw plugin install opencode-pty\n  tw plugin verify",
    )
    group = root.add_subparsers(dest="action", required=True, metavar="list|install|update|remove|verify")
    subcommand(group, "list", "the plugins there are, and their hooks", as_json=True)
    installing = subcommand(
        group, "install", "install a package and add it to the settings; without a name, all they name"
    )
    installing.add_argument("package", nargs="?", default="", help="as in NAME, NAME@1.2.3, git+https://…")
    installing.add_argument("--user", action="store_true", help="for all your projects, not for this one")
    updating = subcommand(group, "update", "install packages as they are now; what is installed stays until then")
    updating.add_argument("package", nargs="?", default="", help="as the settings name it; all of them if left out")
    removing = subcommand(group, "remove", "delete a package and take it out of the settings")
    removing.add_argument("package", help="as the settings name it")
    subcommand(group, "verify", "make things happen and say which hooks heard of it; exit 1 if a plugin is broken")
    return root
