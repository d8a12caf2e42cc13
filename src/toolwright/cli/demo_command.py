"""tw demo: a whole session on a small project, played by a script; everything but the model is real."""

import argparse
import asyncio
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from toolwright.cli.options import note, parser
from toolwright.cli.progress import Live
from toolwright.cli.questions import TerminalUser, shown_question
from toolwright.demo.project import write_project
from toolwright.demo.script import PROMPT, turns
from toolwright.inbox import Question, Reply
from toolwright.models.scripted import DEFAULT_INFO, ScriptedModel
from toolwright.session.undo import Undo
from toolwright.workspace import Workspace, open_workspace

SETTINGS = '{\n  // In this project deleting is asked about.\n  "permission": {"bash": {"rm *": "ask"}}\n}\n'


def main(arguments: list[str]) -> int:
    options = _parser().parse_args(arguments)
    return asyncio.run(_demo(options))


def _parser() -> argparse.ArgumentParser:
    made = parser(
        "demo",
        "A session from prompt to answer on a small broken project in a temporary folder. The model is a script, so no"
        " key and no network are needed; the tools, the permissions, the sandbox and the records are real.",
    )
    made.add_argument("--yes", action="store_true", help="answer the permission question with yes, also on a terminal")
    return made


async def _demo(options: argparse.Namespace) -> int:
    folder = Path(tempfile.mkdtemp(prefix="toolwright-demo-"))
    write_project(folder)
    (folder / "toolwright.jsonc").write_text(SETTINGS, "utf-8")
    user = TerminalUser() if sys.stdin.isatty() and not options.yes else None
    info = replace(DEFAULT_INFO, provider="demo", id="script")
    model = ScriptedModel(*turns(), title={"text": "Fix the basket"}, info=info)
    async with open_workspace(folder, answer=user or _say_yes, model=model, client="cli", keep=True) as workspace:
        return await _play(workspace, folder)


def _say_yes(question: Question) -> Reply:
    """Nobody is at the terminal: the script answers the question too, and shows it."""
    note(f"{shown_question(question)}\n  (answered by the script: once)")
    return Reply(kind="once")


async def _play(workspace: Workspace, folder: Path) -> int:
    session = workspace.session()
    note(f"A small project with a fault, in {folder}\n\n> {PROMPT}\n")
    workspace.bus.subscribe(Live(session.id, colour=sys.stderr.isatty()))
    result = await session.prompt(PROMPT)
    undo = Undo(workspace.files, session.conversation)
    _print_diff(undo, folder)
    _say_how_to_go_on(workspace, session.id, folder)
    return 1 if result.error is not None else 0


def _print_diff(undo: Undo, folder: Path) -> None:
    from toolwright.diff import unified
    from toolwright.session.undo import Selection

    print("\nWhat has changed\n")
    for plan in undo.plan(Selection(turn=undo.conversation.messages[0].info.id)):
        after, before = plan.texts()
        print(unified(str(Path(plan.path).relative_to(folder)), before, after))


def _say_how_to_go_on(workspace: Workspace, session_id: str, folder: Path) -> None:
    print(
        f"The session is {session_id}, stored in {workspace.folders.database}.\n"
        f"  tw session show {session_id} --directory {folder}\n"
        f"  tw session revert {session_id} --directory {folder}     takes the change back\n\n"
        "With a real model: set a key, such as ANTHROPIC_API_KEY, and\n"
        "  tw run 'what does this project do?' --model anthropic/claude-sonnet-5-5\n"
        "tw models lists what is known; a local server works by its address, see docs/models.md."
    )
