"""The line-based conversation: prompts typed and answered one after the other."""

import argparse
import sys
from pathlib import Path

from toolwright.backend import LocalBackend, Ways, answer_later
from toolwright.chat.background import Background
from toolwright.chat.chat import Chat
from toolwright.chat.commands import ChatCommands
from toolwright.chat.history import History
from toolwright.chat.keyboard import Keyboard
from toolwright.chat.screen import BOLD, DIM, Screen
from toolwright.chat.signals import Ended, handled
from toolwright.chat.transcript import show_messages
from toolwright.chat.ways import ways_told
from toolwright.cli.dispatch import DONE, STOPPED
from toolwright.cli.options import named_session, open_from
from toolwright.errors import UsageError
from toolwright.messages import SessionInfo
from toolwright.version import VERSION
from toolwright.workspace import Workspace


def talk_in_lines(options: argparse.Namespace) -> int:
    background = Background()
    try:
        workspace = background.wait(_opened(options))
        try:
            return _talk(workspace, background, options)
        finally:
            background.wait(closed(workspace))
    finally:
        background.close()


async def _opened(options: argparse.Namespace) -> Workspace:
    return await open_from(options, answer=answer_later, keep=True).__aenter__()


async def closed(workspace: Workspace) -> None:
    if "titles" in workspace.__dict__:
        await workspace.titles.settled()
    await workspace.close()


def _talk(workspace: Workspace, background: Background, options: argparse.Namespace) -> int:
    screen = Screen.of(sys.stdout)
    if options.plain:
        screen.moves = False
    keyboard = Keyboard(screen=screen, history=History(file=workspace.folders.data / "prompts.jsonl"))
    if options.agent and options.agent not in workspace.agents.by_name:
        raise UsageError(f"There is no agent {options.agent!r}; tw agent list names them.")
    chat = Chat(
        backend=LocalBackend(workspace),
        background=background,
        screen=screen,
        keyboard=keyboard,
        agent=options.agent or workspace.agents.default().name,
        model=options.model,
    )
    commands = ChatCommands(chat=chat, own={one.name: one for one in chat.wait(chat.backend.commands())})
    keyboard.start(lambda word, line: _completions(commands, workspace.directory, word, line))
    _greet(chat, workspace)
    if options.session or options.go_on:
        _resume(chat, background.wait(_named(workspace, options.session or "last")), options)
    if not chat.next_model():
        _tell_ways(screen, chat.wait(chat.backend.ways_to_a_model()))
    try:
        with handled(chat.interrupted, keyboard.place):
            chat.talk(" ".join(options.prompt), commands)
    except (KeyboardInterrupt, Ended):
        return STOPPED
    finally:
        screen.clear()
        screen.end_line()
    if chat.session is not None:
        screen.line(f"tw --session {chat.session.id} goes on with it", DIM)
    return DONE


async def _named(workspace: Workspace, name: str) -> SessionInfo:
    return await named_session(workspace, name)


def _resume(chat: Chat, info: SessionInfo, options: argparse.Namespace) -> None:
    chat.session = chat.wait(chat.backend.resume(info.id))
    messages = chat.wait(chat.backend.messages(info.id))
    if messages and not options.agent:
        known = [one.name for one in chat.wait(chat.backend.agents())]
        chat.agent = messages[-1].info.agent if messages[-1].info.agent in known else chat.agent
    chat.screen.line(info.title, BOLD)
    show_messages(chat.screen, messages, last=6)


def _greet(chat: Chat, workspace: Workspace) -> None:
    screen = chat.screen
    screen.line(f"toolwright {VERSION}  {workspace.directory}", DIM)
    if not workspace.trusted:
        screen.wrapped("the project is not trusted: its own rules only forbid (tw trust)", DIM)
    screen.line("/help lists the commands, Ctrl-C stops a turn, Ctrl-D leaves", DIM)


def _tell_ways(screen: Screen, ways: Ways) -> None:
    screen.line()
    for line, code in ways_told(ways):
        screen.wrapped(line, code)


def _completions(commands: ChatCommands, directory: Path, word: str, line: str) -> list[str]:
    """Commands after `/`, files after `@`."""
    if word.startswith("/") and line.lstrip() == word:
        return [f"/{name} " for name in commands.names() if name.startswith(word[1:])]
    if word.startswith("@"):
        folder, _, start = word[1:].rpartition("/")
        try:
            found = sorted((directory / folder).iterdir())
        except OSError:
            return []
        prefix = f"@{folder}/" if folder else "@"
        return [f"{prefix}{one.name}{'/' if one.is_dir() else ' '}" for one in found if one.name.startswith(start)]
    return []
