"""tw completion: a script with which a shell completes our commands, options, sessions, agents and models."""

import argparse
import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping
from contextlib import redirect_stderr
from importlib import import_module
from pathlib import Path

from toolwright.cli import COMMANDS
from toolwright.cli.options import open_from, parser
from toolwright.cli.output import say
from toolwright.errors import ToolwrightError
from toolwright.workspace import Workspace

Words = dict[str, list[str]]


def main(arguments: list[str]) -> int:
    if arguments[:1] and arguments[0] in _NAMES:
        # What the scripts below ask for while somebody types: names, and never a complaint.
        with Path(os.devnull).open("w") as nowhere, redirect_stderr(nowhere):
            for name in asyncio.run(_names(_NAMES[arguments[0]])):
                say(name)
        return 0
    options = _parser().parse_args(arguments)
    if options.shell == "man":
        from toolwright.cli.manual import manual_page

        say(manual_page(), lines=True, end="")
        return 0
    between = " " if options.shell == "fish" else " | "
    script = _SCRIPTS[options.shell].replace("TABLE", _table(options.shell))
    say(script.replace("ACTIONS", between.join(_of_one_session())), lines=True, end="")
    return 0


def _parser() -> argparse.ArgumentParser:
    root = parser(
        "completion",
        "Prints a script for your shell, which then completes commands and options; or the manual page.",
        examples=(
            '  eval "$(tw completion bash)"                             in ~/.bashrc\n'
            '  eval "$(tw completion zsh)"                              in ~/.zshrc, after compinit\n'
            "  tw completion fish > ~/.config/fish/completions/tw.fish\n"
            "  tw completion man > ~/.local/share/man/man1/tw.1         for man tw"
        ),
    )
    root.add_argument("shell", choices=("bash", "zsh", "fish", "man"))
    return root


async def _names(of: Callable[[Workspace], Awaitable[list[str]]]) -> list[str]:
    try:
        async with open_from(argparse.Namespace(), keep=True, warn=False) as workspace:
            return await of(workspace)
    except (ToolwrightError, OSError):
        return []


async def _sessions(workspace: Workspace) -> list[str]:
    infos = await workspace.sessions.listed(LISTED, roots=True)
    return ["last", *(info.slug or info.id for info in infos)]


async def _agents(workspace: Workspace) -> list[str]:
    return [agent.name for agent in workspace.agents.visible()]


async def _models(workspace: Workspace) -> list[str]:
    """Those of the servers on this machine first."""
    from toolwright.models.known.local_servers import find_local_servers

    catalog = workspace.connections.catalog
    servers = await asyncio.to_thread(find_local_servers)
    served = [f"{server.provider}/{model.id}" for server in servers for model in server.models]
    return served + [model.full_name for provider in catalog.providers() for model in catalog.models(provider.id)]


LISTED = 50
"""Sessions that are offered, the last used first."""
_NAMES: Mapping[str, Callable[[Workspace], Awaitable[list[str]]]] = {
    "sessions": _sessions,
    "agents": _agents,
    "models": _models,
}


def completions() -> Words:
    """Return what may follow each command, and each action of one."""
    words: Words = {"": [*COMMANDS, "--help", "--version"]}
    for command in COMMANDS:
        own_parser: argparse.ArgumentParser = import_module(f"toolwright.cli.commands.{command}_command")._parser()
        words[command] = _options(own_parser)
        for action in own_parser._actions:
            if isinstance(action, argparse._SubParsersAction):
                words[command] = [*action.choices, *words[command]]
                words |= {f"{command} {name}": _options(one) for name, one in action.choices.items()}
    # The options of the conversation need no command before them.
    words[""] += [option for option in words["chat"] if option not in words[""]]
    return words


def _of_one_session() -> list[str]:
    """The actions of `tw session` that are about one of them."""
    own_parser: argparse.ArgumentParser = import_module("toolwright.cli.commands.session_command")._parser()
    actions = next(one for one in own_parser._actions if isinstance(one, argparse._SubParsersAction)).choices
    return [name for name, one in actions.items() if any(action.dest == "id" for action in one._actions)]


def _options(own_parser: argparse.ArgumentParser) -> list[str]:
    """The words that may stand there by themselves, and the options in full."""
    words = [str(one) for action in own_parser._actions if _is_word(action) for one in action.choices or ()]
    return words + [text for action in own_parser._actions for text in action.option_strings if text.startswith("--")]


def _is_word(action: argparse.Action) -> bool:
    return not action.option_strings and not isinstance(action, argparse._SubParsersAction)


def _table(shell: str) -> str:
    if shell == "fish":
        lines = [_fish(words, following) for words, following in completions().items()]
    else:
        lines = [f'    "{words}") words="{" ".join(following)}" ;;' for words, following in completions().items()]
    return "\n".join(lines)


def _fish(words: str, following: list[str]) -> str:
    condition = "; and ".join(f"__fish_seen_subcommand_from {word}" for word in words.split())
    if actions := " ".join(word for word in following if not word.startswith("-")):
        condition += f"; and not __fish_seen_subcommand_from {actions}" if words else ""
    return f'complete -c tw -n "{condition or "__fish_use_subcommand"}" -a "{" ".join(following)}"'


_BASH = """\
_tw_words() {
  local words=""
  case "$1" in
TABLE
  esac
  echo "$words"
}
_tw() {
  local words=""
  [ "$COMP_CWORD" -ge 3 ] && words="$(_tw_words "${COMP_WORDS[1]} ${COMP_WORDS[2]}")"
  [ -z "$words" ] && [ "$COMP_CWORD" -ge 2 ] && words="$(_tw_words "${COMP_WORDS[1]}")"
  [ "$COMP_CWORD" -eq 1 ] && words="$(_tw_words "")"
  case "${COMP_WORDS[1]}" in -*) [ -z "$words" ] && words="$(_tw_words chat)" ;; esac
  if [ "$COMP_CWORD" -ge 3 ] && [ "${COMP_WORDS[1]}" = session ]; then
    case "${COMP_WORDS[2]}" in ACTIONS) words="$words $(tw completion sessions)" ;; esac
  fi
  case "${COMP_WORDS[COMP_CWORD-1]}" in
    --session | -s) words="$(tw completion sessions)" ;;
    --agent) words="$(tw completion agents)" ;;
    --model | -m) words="$(tw completion models)" ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _tw tw toolwright
"""
_SCRIPTS = {
    "bash": _BASH,
    "zsh": f"autoload -U +X bashcompinit && bashcompinit\n{_BASH}",
    "fish": """\
TABLE
complete -c tw -n "__fish_seen_subcommand_from session; and __fish_seen_subcommand_from ACTIONS" \\
  -a "(tw completion sessions)"
complete -c tw -l session -s s -x -a "(tw completion sessions)"
complete -c tw -l agent -x -a "(tw completion agents)"
complete -c tw -l model -s m -x -a "(tw completion models)"
""",
}
