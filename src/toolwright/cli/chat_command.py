"""tw chat, and tw alone on a terminal: the conversation with an agent."""

import argparse
import sys
from pathlib import Path

from toolwright.backend import LocalBackend, Ways, answer_later
from toolwright.chat.background import Background
from toolwright.chat.chat import Chat
from toolwright.chat.commands import ChatCommands
from toolwright.chat.keyboard import Keyboard
from toolwright.chat.screen import BOLD, DIM, Screen
from toolwright.chat.signals import Ended, handled
from toolwright.chat.transcript import show_messages
from toolwright.cli.dispatch import DONE, STOPPED
from toolwright.cli.options import named_session, open_from, parser
from toolwright.cli.terminal import is_terminal
from toolwright.errors import UsageError
from toolwright.messages import SessionInfo
from toolwright.version import VERSION
from toolwright.workspace import Workspace


def main(arguments: list[str]) -> int:
    options = _parser().parse_args(arguments)
    if not (is_terminal(sys.stdin) and is_terminal(sys.stdout)):
        raise UsageError("The conversation needs a terminal. Use tw run 'prompt' in scripts and pipes.")
    if options.session and options.go_on:
        raise UsageError("--session and --continue both say which session; give one of them.")
    background = Background()
    try:
        workspace = background.wait(_opened(options))
        try:
            return _talk(workspace, background, options)
        finally:
            background.wait(_closed(workspace))
    finally:
        background.close()


def _parser() -> argparse.ArgumentParser:
    made = parser(
        "chat",
        "Talk with an agent about this folder. tw alone opens it too, and tw 'prompt' begins with a prompt.",
        examples=(
            "  tw\n"
            "  tw 'why does test_login fail?'\n"
            "  tw --continue\n"
            "  tw --session last --agent plan --model anthropic/claude-sonnet-5-5"
        ),
    )
    made.add_argument("prompt", nargs="*", help="what to begin with")
    made.add_argument("--agent", default="", help="the agent to talk with (build)")
    made.add_argument("--model", "-m", default="", metavar="P/M", help="the model to use")
    made.add_argument("--continue", "-c", dest="go_on", action="store_true", help="go on with the last session")
    made.add_argument("--session", "-s", default="", metavar="ID", help="go on with this session: id, words or last")
    made.add_argument("--plain", action="store_true", help="lines only, nothing that is drawn again")
    return made


async def _opened(options: argparse.Namespace) -> Workspace:
    return await open_from(options, answer=answer_later, keep=True).__aenter__()


async def _closed(workspace: Workspace) -> None:
    if "titles" in workspace.__dict__:
        await workspace.titles.settled()
    await workspace.close()


def _talk(workspace: Workspace, background: Background, options: argparse.Namespace) -> int:
    screen = Screen.of(sys.stdout)
    if options.plain:
        screen.moves = False
    keyboard = Keyboard(screen=screen, history=workspace.folders.data / "prompts.jsonl")
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
        screen.line(f"tw --session {chat.session.slug or chat.session.id} goes on with it", DIM)
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
    """How to get a model, from what is found on this machine."""
    screen.line()
    screen.line("No model is chosen yet.", BOLD)
    for name in ways.keys[:3]:
        screen.wrapped(f"  /model {name}   there is a key for it")
    for name in ways.local[:3]:
        screen.wrapped(f"  /model {name}   it runs on this machine")
    if not ways.keys and not ways.local:
        screen.wrapped("  Set a key, such as ANTHROPIC_API_KEY or OPENAI_API_KEY, or store one with tw auth PROVIDER;")
        screen.wrapped("  or start a server on this machine, such as Ollama. Then: /model PROVIDER/MODEL")
    screen.wrapped('  To have it every time, put "model": "PROVIDER/MODEL" into toolwright.json.')
    screen.wrapped("  /demo   shows a whole session that needs none")


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
