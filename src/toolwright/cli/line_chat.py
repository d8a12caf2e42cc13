"""The line-based conversation: prompts typed and answered one after the other."""

import argparse
import sys

from toolwright.backend import UsableModels
from toolwright.chat.background import Background
from toolwright.chat.chat import Chat
from toolwright.chat.commands import ChatCommands
from toolwright.chat.keyboard import Keyboard
from toolwright.chat.no_model import no_model_lines
from toolwright.chat.screen import BOLD, DIM, Screen
from toolwright.chat.signals import Ended, handled
from toolwright.chat.transcript import show_messages
from toolwright.cli.dispatch import DONE, STOPPED
from toolwright.cli.project import Project, open_project
from toolwright.messages import SessionInfo, last_agent
from toolwright.version import VERSION


def talk_in_lines(options: argparse.Namespace) -> int:
    background = Background()
    try:
        project = background.wait(open_project(options))
        try:
            return _talk(project, background, options)
        finally:
            background.wait(_closed(project))
    finally:
        background.close()


async def _closed(project: Project) -> None:
    await project.close()


def _talk(project: Project, background: Background, options: argparse.Namespace) -> int:
    screen = Screen.of(sys.stdout)
    if options.plain:
        screen.moves = False
    keyboard = Keyboard(screen=screen, history=project.history)
    chat = Chat(
        backend=project.backend,
        background=background,
        screen=screen,
        keyboard=keyboard,
        agent=project.agent,
        model=options.model,
    )
    commands = ChatCommands(chat=chat, own={one.name: one for one in chat.wait(chat.backend.commands())})
    keyboard.start(lambda word, line: _completions(commands, word, line))
    _greet(chat, project)
    if project.session is not None:
        _resume(chat, project.session, options)
    if not chat.next_model():
        _tell_no_model(screen, chat.wait(chat.backend.usable_models()))
    try:
        with handled(chat.interrupted, keyboard.place, keyboard.continued):
            chat.talk(" ".join(options.prompt), commands)
    except (KeyboardInterrupt, Ended):
        return STOPPED
    finally:
        screen.clear()
        screen.end_line()
    if chat.session is not None:
        screen.line(f"{project.again} --session {chat.session.id} goes on with it", DIM)
    return DONE


def _resume(chat: Chat, info: SessionInfo, options: argparse.Namespace) -> None:
    chat.session = chat.wait(chat.backend.resume(info.id))
    messages = chat.wait(chat.backend.messages(info.id))
    if messages and not options.agent:
        known = [one.name for one in chat.wait(chat.backend.agents())]
        chat.agent = agent if (agent := last_agent(messages)) in known else chat.agent
    chat.screen.line(info.title, BOLD)
    show_messages(chat.screen, messages, last=6)


def _greet(chat: Chat, project: Project) -> None:
    screen = chat.screen
    screen.line(f"toolwright {VERSION}  {project.where}", DIM)
    for note in project.notes:
        screen.wrapped(note, DIM)
    screen.line("/help lists the commands, Ctrl-C stops a turn, Ctrl-D leaves", DIM)


def _tell_no_model(screen: Screen, usable: UsableModels) -> None:
    screen.line()
    for line, code in no_model_lines(usable):
        screen.wrapped(line, code)


def _completions(commands: ChatCommands, word: str, line: str) -> list[str]:
    """Commands after `/`, files after `@`."""
    if word.startswith("/") and line.lstrip() == word:
        return [f"/{name} " for name in commands.names() if name.startswith(word[1:])]
    if not word.startswith("@"):
        return []
    backend = commands.chat.backend
    folder, _, start = word[1:].rpartition("/")
    try:
        found = sorted((backend.directory / folder).iterdir())
    except OSError:  # it may be on another machine
        paths = commands.chat.wait(backend.files(word[1:]))
        return [f"@{path} " for path in paths if path.startswith(word[1:])]
    prefix = f"@{folder}/" if folder else "@"
    return [f"{prefix}{one.name}{'/' if one.is_dir() else ' '}" for one in found if one.name.startswith(start)]
