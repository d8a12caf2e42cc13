"""tw demo: a whole session on a small project, played by a script; everything but the model is real."""

import argparse
import asyncio
import shlex
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

from toolwright.app.project import LocalProject
from toolwright.app.shown import looks_of
from toolwright.cli.options import note, parser
from toolwright.cli.output import say
from toolwright.cli.run.questions import TerminalUser
from toolwright.config.places import own_programs
from toolwright.demo.project import write_project
from toolwright.demo.script import PROMPT, turns
from toolwright.errors import UsageError
from toolwright.inbox import Answerer, Question, Reply
from toolwright.machine.folders import make_temporary
from toolwright.models.info import ModelInfo
from toolwright.models.scripted import DEFAULT_INFO, ScriptedModel
from toolwright.terminal.call_text import shown_call
from toolwright.terminal.changes import shown_change
from toolwright.terminal.renderer import Renderer
from toolwright.terminal.typed import is_terminal
from toolwright.workspace import Workspace, open_workspace

SETTINGS = '{\n  // In this project deleting is asked about.\n  "permission": {"bash": {"rm *": "ask"}}\n}\n'


def main(arguments: list[str]) -> int:
    options = _parser().parse_args(arguments)
    if not options.screen:
        return asyncio.run(_demo(options))
    from toolwright.cli.actions.demo_screen import play_on_full_screen

    return play_on_full_screen(_prepared(options), turns(_python()), _info())


def _parser() -> argparse.ArgumentParser:
    root = parser(
        "demo",
        "A session from prompt to answer on a small broken project, in a temporary folder or in the new one that"
        " --directory names. The model is a script, so no key and no network are needed; the tools, permissions,"
        " sandbox and records are real.",
    )
    root.add_argument("--yes", action="store_true", help="answer the permission question with yes, also on a terminal")
    root.add_argument("--screen", action="store_true", help="on the full screen, with its keys and commands")
    return root


async def _demo(options: argparse.Namespace) -> int:
    folder = _prepared(options)
    there = is_terminal(sys.stdin) and is_terminal(sys.stderr) and not options.yes
    user: Answerer = TerminalUser(folder) if there else partial(_say_yes, folder)
    model = ScriptedModel(*turns(_python()), title={"text": "Fix the basket"}, info=_info())
    async with open_workspace(folder, answer=user, model=model, client="cli", keep=True) as workspace:
        return await _play(workspace, folder)


def _info() -> ModelInfo:
    return replace(DEFAULT_INFO, provider="demo", id="script")


def _prepared(options: argparse.Namespace) -> Path:
    folder = _folder(options)
    write_project(folder)
    (folder / "toolwright.jsonc").write_text(SETTINGS, "utf-8")
    return folder


def _folder(options: argparse.Namespace) -> Path:
    """A new temporary folder, or the empty one that was named."""
    if "directory" not in options:
        return make_temporary("toolwright-demo-")
    folder = Path(options.directory).resolve()
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} is there already and not an empty folder. Name a new one for the demo.")
    return folder


def _say_yes(folder: Path, question: Question) -> Reply:
    """Nobody is at the terminal: the script answers the question too, and shows it."""
    note(f"{shown_call(question, folder)}\n  (answered by the script: once)")
    return Reply(kind="once")


async def _play(workspace: Workspace, folder: Path) -> int:
    session = workspace.session()
    note(f"A small project with a fault, in {folder}\n\n> {PROMPT}\n")
    view = Renderer.of_terminal(session.id)
    looks = looks_of(workspace)
    workspace.bus.subscribe(lambda event: view(looks.event(event)))
    async with view.ticking():
        result = await session.prompt(PROMPT)
    say("\nWhat has changed\n", lines=True)
    for plan in await LocalProject(workspace).changes(session.id):
        say(shown_change(plan.path, *plan.turned().shown(), folder), lines=True)
    _say_how_to_go_on(workspace, session.id, folder)
    return 1 if result.error is not None else 0


def _say_how_to_go_on(workspace: Workspace, session_id: str, folder: Path) -> None:
    tw, where = _program(), shlex.quote(str(folder))
    say(
        f"The session is {session_id}, stored in {workspace.folders.database}.\n"
        f"  {tw} session show last --directory {where}\n"
        f"  {tw} session revert last --directory {where}     undoes the changes\n\n"
        "With a real model: set a key, such as ANTHROPIC_API_KEY, and\n"
        f"  {tw} run 'what does this project do?' --model anthropic/claude-sonnet-5-5\n"
        f"{tw} models lists the known models; a local server works by its address.",
        lines=True,
    )
    if tw != "tw":
        bin_folder = shlex.quote(str(Path(sys.argv[0]).absolute().parent))
        say(f'\ntw is not on your path yet; this puts it there: export PATH={bin_folder}:"$PATH"', lines=True)


def _program() -> str:
    """Return how this program is started from here: by its name, where that leads to it, or by its path."""
    started = Path(sys.argv[0])
    on_path = own_programs(Path.cwd()).find("tw")
    if started.name != "tw" or (on_path and Path(on_path).resolve() == started.resolve()):
        return "tw"
    return shlex.quote(str(started.absolute()))


def _python() -> str:
    """The Python the demo's tests run with, as one types it."""
    return "python3" if own_programs(Path.cwd()).find("python3") else shlex.quote(sys.executable)
