"""A command's options and words told apart, so that they may be given in any order."""

import argparse
import re
from collections.abc import Sequence

_NUMBER = re.compile(r"-\d+|-\d*\.\d+")


def options_first(known: argparse.ArgumentParser, arguments: Sequence[str], *, free: bool = False) -> list[str]:
    """The same arguments with the options before the words; argparse takes words only where they stand together.

    With `free` whatever follows the first word and is no long option of ours is a word, as in `rm -rf build`.
    """
    options: list[str] = []
    words: list[str] = []
    rest = list(arguments)
    while rest:
        argument = rest.pop(0)
        if argument == "--":
            words += rest
            break
        action = _option(known, argument)
        inside = free and bool(words) and (action is None or not argument.startswith("--"))
        if not _looks_like_option(argument) or inside:
            words.append(argument)
            continue
        options.append(argument)
        if action is not None and _wants_value(action, argument) and rest and not _looks_like_option(rest[0]):
            options.append(rest.pop(0))
    return [*options, *(["--", *words] if words else [])]


def action_first(known: argparse.ArgumentParser, arguments: Sequence[str], actions: Sequence[str]) -> list[str]:
    """The same arguments with the options that are the action's own behind its name, as in `tw tool --json list`."""
    ours: list[str] = []
    its: list[str] = []
    rest = list(arguments)
    while rest and rest[0] != "--":
        argument = rest.pop(0)
        if argument in actions:
            return [*ours, argument, *its, *rest]
        action = _option(known, argument) if _looks_like_option(argument) else None
        place = its if action is None else ours
        place.append(argument)
        if action is not None and _wants_value(action, argument) and rest:
            place.append(rest.pop(0))
    return list(arguments)


def nearest(known: argparse.ArgumentParser, argument: str) -> str:
    """The option that was perhaps meant, or nothing."""
    return close(argument.partition("=")[0], _long(known))


def close(word: str, known: Sequence[str]) -> str:
    """The one of the known words that was perhaps meant, or nothing."""
    from difflib import get_close_matches

    return next(iter(get_close_matches(word, known, n=1, cutoff=0.7)), "")


def _option(known: argparse.ArgumentParser, argument: str) -> argparse.Action | None:
    """The option that an argument names: in full, by its beginning if that is enough, or as one letter with a value."""
    actions = known._option_string_actions
    name = argument.partition("=")[0]
    if name in actions or not name.startswith("--"):
        return actions.get(name) or actions.get(argument[:2])
    fitting = {id(actions[option]): actions[option] for option in _long(known) if option.startswith(name)}
    return next(iter(fitting.values())) if len(fitting) == 1 else None


def _long(known: argparse.ArgumentParser) -> list[str]:
    return [option for option in known._option_string_actions if option.startswith("--")]


def _looks_like_option(argument: str) -> bool:
    if len(argument) < 2 or not argument.startswith("-") or _NUMBER.fullmatch(argument):
        return False
    return " " not in argument.partition("=")[0]


def _wants_value(action: argparse.Action, argument: str) -> bool:
    """Tell if the next argument is the option's value, rather than none or what is written onto it."""
    joined = "=" in argument or (not argument.startswith("--") and len(argument) > 2)
    return action.nargs != 0 and not joined
