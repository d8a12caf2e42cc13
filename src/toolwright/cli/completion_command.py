"""tw completion: a script with which a shell completes our commands, what they do and their options."""

import argparse
from importlib import import_module

from toolwright.cli import COMMANDS
from toolwright.cli.options import parser

Words = dict[str, list[str]]


def main(arguments: list[str]) -> int:
    options = _parser().parse_args(arguments)
    print(_SCRIPTS[options.shell].replace("TABLE", _table(options.shell)), end="")
    return 0


def _parser() -> argparse.ArgumentParser:
    made = parser(
        "completion",
        "Prints a script for your shell, which then completes commands and options.",
        examples=(
            '  eval "$(tw completion bash)"                             in ~/.bashrc\n'
            '  eval "$(tw completion zsh)"                              in ~/.zshrc, after compinit\n'
            "  tw completion fish > ~/.config/fish/completions/tw.fish"
        ),
    )
    made.add_argument("shell", choices=("bash", "zsh", "fish"))
    return made


def completions() -> Words:
    """What may follow each command, and each action of one."""
    found: Words = {"": [*COMMANDS, "--help", "--version"]}
    for command in COMMANDS:
        made: argparse.ArgumentParser = import_module(f"toolwright.cli.{command}_command")._parser()
        found[command] = _options(made)
        for action in made._actions:
            if isinstance(action, argparse._SubParsersAction):
                found[command] = [*action.choices, *found[command]]
                found |= {f"{command} {name}": _options(one) for name, one in action.choices.items()}
    return found


def _options(made: argparse.ArgumentParser) -> list[str]:
    return [text for action in made._actions for text in action.option_strings if text.startswith("--")]


def _table(shell: str) -> str:
    if shell == "fish":
        lines = [_fish(words, following) for words, following in completions().items()]
    else:
        lines = [f'    "{words}") words="{" ".join(following)}" ;;' for words, following in completions().items()]
    return "\n".join(lines)


def _fish(words: str, following: list[str]) -> str:
    condition = " and ".join(f"__fish_seen_subcommand_from {word}" for word in words.split())
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
  COMPREPLY=($(compgen -W "$words" -- "${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _tw tw toolwright
"""
_SCRIPTS = {
    "bash": _BASH,
    "zsh": f"autoload -U +X bashcompinit && bashcompinit\n{_BASH}",
    "fish": "TABLE\n",
}
