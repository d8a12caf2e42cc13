"""`cd`, `pushd` and `popd`: where the script is afterwards."""

import posixpath
import re
from collections.abc import Sequence

from toolwright.shell.state.state import EndStates, Field, always, unknown
from toolwright.shell.walk.call import ShellCall, Walk

_CD_OPTION = re.compile(r"-[LPe@]+")
_ELSEWHERE = re.compile(r"-|[-+]\d+")
"""Words for a folder that the script was in before."""


def change_folder(walk: Walk, call: ShellCall) -> EndStates:
    """Follow `cd`, `chdir` or `pushd`: afterwards the script is there, or, if that failed, where it was."""
    options, operands, ended = _told_apart(call)
    before, state = call.state, call.state.copy()
    if "n" in options:
        return always(before)
    target = operands[0] if operands else call.state.variables.get("HOME", unknown("~"))
    number = len(operands)
    if number > 1 or (call.name == "pushd" and not number) or _is_unclear(target, ended=ended):
        line = " ".join([call.name, *(one.spelled for one in call.arguments)])
        walk.findings.doubt(f"Where `{line}` leads is only known when it runs.")
        state.folders = ()
        return EndStates(state, before)
    walk.findings.touch("enter", target, call.state)
    starts = before.folders or ("",)
    reached = [posixpath.join(start, text) for start in starts for text in target.texts if start or text[:1] == "/"]
    known = reached if target.known else []
    real = walk.findings.start
    state.folders = tuple(dict.fromkeys(place for path in known for place in _places(path, real, options)))
    state.forget("PWD")
    return EndStates(state, before)


def leave_folder(_: Walk, call: ShellCall) -> EndStates:
    """Follow `popd`, which leads to where only the stack knows; with `-n` only the stack changes."""
    if call.state.dialect == "bash" and [one.text for one in call.arguments[:1]] == ["-n"]:
        return always(call.state)
    state = call.state.copy()
    state.folders = ()
    return EndStates(state, call.state)


def _told_apart(call: ShellCall) -> tuple[str, Sequence[Field], bool]:
    """Return the letters of the options, the words after them, and whether `--` has ended the options."""
    letters, words = "", list(call.arguments)
    if call.name == "pushd":
        if call.state.dialect == "bash" and [one.text for one in words[:1]] == ["-n"]:
            return "n", words[1:], False
    else:
        while words and _CD_OPTION.fullmatch(words[0].text):
            letters += words.pop(0).text[1:]
    ended = [one.text for one in words[:1]] == ["--"]
    return letters, words[1:] if ended else words, ended


def _is_unclear(target: Field, *, ended: bool) -> bool:
    """Tell whether it names a folder that the script was in before, or may be an option that is not known."""
    if any(map(_ELSEWHERE.fullmatch, target.texts)):
        return True
    return not ended and any(text.startswith(("-", "+")) for text in target.texts)


def _places(path: str, real: str, options: str) -> list[str]:
    """Return where a path may lead: `..` is taken off the text; with `-P`, or if nothing is there, it follows links.

    On the way from the root to `real`, where the line begins, are no links.
    """
    by_text = posixpath.normpath(path)
    if not _may_differ(path, real, physical="P" in options):
        return [by_text]
    return [path] if set(options) & set("LP") == {"P"} else [by_text, path]


def _may_differ(path: str, real: str, *, physical: bool) -> bool:
    """Tell whether a `..` may follow a link, and it matters: what the path's text comes to is there for certain."""
    passed, rest = "", path.split("/")[1:]
    for position, part in enumerate(rest):
        if part in ("", "."):
            continue
        if part != "..":
            passed = f"{passed}/{part}"
            continue
        behind = physical or any(one not in ("", ".", "..") for one in rest[position:])
        if behind and passed and not f"{real}/".startswith(f"{passed}/"):
            return True
        passed = posixpath.dirname(passed)
    return False
