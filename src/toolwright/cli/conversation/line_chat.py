"""The line-based conversation: prompts typed and answered one after the other."""

import argparse
import sys

from toolwright.app.opened import OpenedChat
from toolwright.app.project import UsableModels
from toolwright.chat.chat import Chat
from toolwright.chat.commands import ChatCommands
from toolwright.chat.keyboard import Keyboard
from toolwright.chat.signals import Ended, handled
from toolwright.chat.transcript import show_messages
from toolwright.cli.conversation.opening import open_project
from toolwright.cli.dispatch import DONE, STOPPED
from toolwright.terminal.background import Background
from toolwright.terminal.no_model import no_model_lines
from toolwright.terminal.screen import BOLD, DIM, Screen
from toolwright.version import VERSION


def talk_in_lines(options: argparse.Namespace) -> int:
    background = Background()
    try:
        opened = background.wait(open_project(options))
        try:
            return _talk(opened, background, options)
        finally:
            background.wait(_closed(opened))
    finally:
        background.close()


async def _closed(opened: OpenedChat) -> None:
    await opened.close()


def _talk(opened: OpenedChat, background: Background, options: argparse.Namespace) -> int:
    screen = Screen.of(sys.stdout)
    if options.plain:
        screen.moves = False
    keyboard = Keyboard(screen=screen, history=opened.history)
    chat = Chat(
        desk=opened.desk,
        background=background,
        screen=screen,
        keyboard=keyboard,
    )
    commands = ChatCommands(chat=chat, named={one.name: one for one in chat.wait(chat.project.commands())})
    keyboard.start(lambda word, line: _completions(commands, word, line))
    _greet(chat, opened)
    if chat.session is not None:
        screen.line(chat.session.title, BOLD)
        show_messages(screen, chat.wait(chat.project.messages(chat.session.id)), last=6)
    if not chat.wait(chat.desk.next_model()):
        _tell_no_model(screen, chat.wait(chat.project.usable_models()))
    try:
        with handled(chat.interrupted, keyboard.place, keyboard.continued):
            chat.talk(opened.prompt, commands)
    except (KeyboardInterrupt, Ended):
        return STOPPED
    finally:
        screen.clear()
        screen.end_line()
    if chat.session is not None:
        screen.line(f"{opened.again} --session {chat.session.id} goes on with it", DIM)
    return DONE


def _greet(chat: Chat, opened: OpenedChat) -> None:
    screen = chat.screen
    screen.line(f"toolwright {VERSION}  {opened.where}", DIM)
    for note in opened.notes:
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
    project = commands.chat.project
    folder, _, start = word[1:].rpartition("/")
    try:
        entries = sorted((project.directory / folder).iterdir())
    except OSError:  # it may be on another machine
        paths = commands.chat.wait(project.files(word[1:]))
        return [f"@{path} " for path in paths if path.startswith(word[1:])]
    prefix = f"@{folder}/" if folder else "@"
    return [f"{prefix}{one.name}{'/' if one.is_dir() else ' '}" for one in entries if one.name.startswith(start)]
