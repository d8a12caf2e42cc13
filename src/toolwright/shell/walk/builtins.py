"""Commands that the shell carries out itself and that change what later words mean, or hide code in their arguments."""

import re
from collections.abc import Callable, Mapping

from toolwright.shell.grammar.nodes import Arithmetic, Literal
from toolwright.shell.programs.arguments import sort_arguments
from toolwright.shell.state.state import ALTERNATIVES, EndStates, Field, ShellState, always, literal
from toolwright.shell.state.variables import assign, exported, special
from toolwright.shell.walk.arithmetic import calculate, is_identifier
from toolwright.shell.walk.call import ShellCall, Walk
from toolwright.shell.walk.cd import change_folder, leave_folder
from toolwright.shell.walk.set_options import set_options, shopt

SILENT = frozenset({"cd", "[", "export", "declare", "typeset", "readonly", "local", "unset"})
"""Commands that are not shown or judged as such: they run nothing, and what they can hide is looked for."""

Builtin = Callable[[Walk, ShellCall], EndStates]

_ATTRIBUTES = frozenset("xgprfFaA")
"""Attributes of variables that leave their values as they are."""
_ASSIGNED_NAME = re.compile(r"\+?=|\[")
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)(\[.*\])?\+?=(.*)", re.DOTALL)
FILE_TESTS = frozenset(f"-{letter}" for letter in "abcdefghkprsuwxGLNOS")
"""Tests of `[` and `[[` that look at a file."""
_COMPARES_FILES = frozenset({"-nt", "-ot", "-ef"})


def declare(walk: Walk, call: ShellCall) -> EndStates:
    """`export`, `declare` and their like; plain assignments among their words were dealt with by the walk.

    What any other word sets is not known from then on: quotes, attributes and read-only variables all have their ways.
    """
    hands_on = call.name == "export"
    for argument in call.arguments:
        text = argument.text
        if text[:1] in ("-", "+") and len(text) > 1:
            hands_on = hands_on or "x" in text
            if set(text[1:]) - _ATTRIBUTES:
                walk.findings.doubt(f"`{call.name} {text}` gives variables a nature in which they are not followed.")
            continue
        match = _ASSIGNMENT.fullmatch(argument.spelled)
        name = match.group(1) if match else argument.spelled
        if not is_identifier(name) or (match and match.group(2)):
            walk.findings.doubt(f"`{argument.spelled}` sets a variable in a way that is not understood.")
            continue
        value = Field(match.group(3), (match.group(3),), argument.known) if match else call.state.variables.get(name)
        if match or hands_on:
            problem = (exported if hands_on else special)(name, value, dialect=call.state.dialect)
            if problem:
                walk.findings.doubt(problem)
        if match or call.name == "local":
            call.state.forget(name)
    if call.name == "readonly" or any("r" in one.text for one in call.arguments if one.text.startswith("-")):
        call.state.fixed |= {_ASSIGNED_NAME.split(one.spelled)[0] for one in call.arguments}
    return always(call.state)


def unset(walk: Walk, call: ShellCall) -> EndStates:
    for argument in call.arguments:
        if argument.text in ("-v", "-f", "-n"):
            continue
        if not is_identifier(argument.text):
            walk.findings.doubt(f"`unset {argument.spelled}` may calculate a subscript.")
            continue
        _note_special(walk, call, argument.text, literal("0"))
        call.state.forget(argument.text)
    return always(call.state)


def _note_special(walk: Walk, call: ShellCall, name: str, value: Field | None) -> None:
    if problem := special(name, value, dialect=call.state.dialect):
        walk.findings.doubt(problem)


def set_names(walk: Walk, call: ShellCall) -> EndStates:
    """`read`, `getopts`, `mapfile`: the variables named get values that are not known."""
    valued = {"read": "-a -d -i -n -N -p -t -u", "getopts": ""}.get(call.name, "-d -n -O -s -u -C -c")
    parsed = sort_arguments(call.arguments, valued)
    for script in parsed.values("-C"):
        _evaluate(walk, call, script, call.state.copy())
        walk.findings.doubt(f"`{call.name} -C` adds words to the command that it runs.")
    names = parsed.operands[1:2] if call.name == "getopts" else [*parsed.operands, *parsed.values("-a")]
    for argument in names:
        _give_unknown(walk, call, argument)
    if call.name == "read" and len(names) == 1 and parsed.options.keys() <= {"-r", "-d"}:
        _give_path(walk, call, names[0], as_it_is=parsed.has("-r"))
    if call.name == "getopts":
        call.state.forget("OPTARG")
    elif not names:
        call.state.forget("REPLY" if call.name == "read" else "MAPFILE")
    return always(call.state)


def _give_unknown(walk: Walk, call: ShellCall, name: Field) -> None:
    if not is_identifier(name.text):
        walk.findings.doubt(f"`{call.name} {name.spelled}` sets a variable in a way that is not understood.")
        return
    _note_special(walk, call, name.text, None)
    call.state.forget(name.text)


def _give_path(walk: Walk, call: ShellCall, name: Field, *, as_it_is: bool) -> None:
    """One of the paths that a listing passes down the pipe. Without `-r` a backslash in a name is lost: `.\\./x`."""
    paths = call.feed.paths if call.feed is not None else ()
    if paths and all(one.known for one in paths) and (as_it_is or walk.findings.confinement.complete):
        texts = tuple(text if one.glob else f"{text}/**" for one in paths for text in one.texts)
        if len(texts) <= ALTERNATIVES:
            assign(name.text, Field(f"${name.text}", texts, glob=True), call.state)


def print_formatted(walk: Walk, call: ShellCall) -> EndStates:
    if call.arguments and call.arguments[0].spelled.startswith("-v"):
        text = call.arguments[0].spelled
        glued = literal(text[2:]) if len(text) > 2 else None
        for name in [glued] if glued else call.arguments[1:2]:
            _give_unknown(walk, call, name)
    elif call.arguments and call.arguments[0].splits:
        walk.findings.doubt(f"`printf {call.arguments[0].spelled}` may set a variable.")
    elif call.arguments and (_COUNTS.search(call.arguments[0].text) or not call.arguments[0].exact):
        for name in call.arguments[1:]:
            if is_identifier(name.text) or call.arguments[0].exact:
                _give_unknown(walk, call, name)
    return always(call.state)


_COUNTS = re.compile(r"%[^a-zA-Z]*n")
"""The form by which `printf` is told to put a number into a variable."""


def wait(walk: Walk, call: ShellCall) -> EndStates:
    for name in sort_arguments(call.arguments, "-p").values("-p"):
        _give_unknown(walk, call, name)
    return always(call.state)


def let(walk: Walk, call: ShellCall) -> EndStates:
    for argument in call.arguments:
        part = Literal(argument.spelled, quoted=True)
        problem = calculate(Arithmetic(argument.spelled, [part], opaque=not argument.exact), call.state)
        if problem:
            walk.findings.doubt(problem)
    return always(call.state)


def evaluate(walk: Walk, call: ShellCall) -> EndStates:
    arguments = call.arguments[1:] if call.arguments[:1] == [literal("--")] else call.arguments
    text = " ".join(one.spelled for one in arguments)
    return always(_evaluate(walk, call, Field(text, (text,), all(one.exact for one in arguments)), call.state))


def _evaluate(walk: Walk, call: ShellCall, script: Field, state: ShellState) -> ShellState:
    """The state after the shell has run a text as if it stood in the script."""
    if script.exact:
        return walk.nested(script.text, state, call.draft)
    walk.findings.doubt(f"`{script.spelled}` is run as a command, and is only known when it runs.")
    state.variables.clear()
    state.folders, state.stops_on_error = (), False
    return state


def source(walk: Walk, call: ShellCall) -> EndStates:
    """A file's commands are no more examined than those of a program; but its variables are not known afterwards."""
    for argument in call.arguments[:1]:
        walk.findings.touch("read", argument, call.state)
        walk.findings.touch("script", argument, call.state)
        if argument.text.startswith(("/dev/", "/proc/")) or "<(" in argument.spelled:
            walk.findings.doubt(f"`{call.name} {argument.spelled}` runs what it is fed, which is not examined.")
        if argument.text.startswith("/dev/") and call.feed is not None and call.feed.text is not None:
            _evaluate(walk, call, call.feed.text, call.state.copy())
    home = call.state.variables.get("HOME")
    call.state.variables.clear()
    call.state.stops_on_error = False
    if home is not None:
        call.state.variables["HOME"] = home
    return always(call.state)


def trap(walk: Walk, call: ShellCall) -> EndStates:
    """Its command runs at some later point, in whatever folder the script is by then."""
    operands = [one for one in call.arguments if one.text != "--"]
    if not operands or (operands[0].text in ("-p", "-l", "-", "") and operands[0].exact):
        return always(call.state)
    later = ShellState(folders=(), dialect=call.state.dialect, functions=call.state.functions)
    _evaluate(walk, call, operands[0], later)
    if any(one.text not in ("EXIT", "0") for one in operands[1:]):
        walk.findings.doubt("A trap may change, at any point, what the rest of the script does.")
    return always(call.state)


def alias(walk: Walk, call: ShellCall) -> EndStates:
    for argument in call.arguments:
        name, equals, value = argument.spelled.partition("=")
        if equals:
            walk.findings.doubt(f"The alias `{name}` changes what a later word means.")
            _evaluate(walk, call, Field(value, (value,), argument.exact), call.state.copy())
    return always(call.state)


def shift(_: Walk, call: ShellCall) -> EndStates:
    call.state.arguments = None
    return always(call.state)


def leave_body(walk: Walk, call: ShellCall) -> EndStates:
    """`break`, `continue`, `return`. What follows is still looked at as if it could be reached."""
    walk.leave_body(call.state)
    return always(call.state)


def leave(_: Walk, __: ShellCall) -> EndStates:
    return EndStates(None, None)


def test(walk: Walk, call: ShellCall) -> EndStates:
    """`test` and `[`: files are looked at; `-v` calculates the subscript of what it is given."""
    arguments = call.arguments
    for position, argument in enumerate(arguments):
        following = arguments[position + 1] if position + 1 < len(arguments) else None
        if argument.splits:
            walk.findings.doubt(f"`{argument.spelled}` without quotes may turn the test into another one.")
        elif not argument.exact and following is not None and _may_be_subscript(following):
            walk.findings.doubt(f"`{argument.spelled}` may be an option that calculates `{following.spelled}`.")
        elif argument.text in ("-v", "-R") and following is not None and not is_identifier(following.text):
            walk.findings.doubt(f"`{argument.text} {following.spelled}` may calculate a subscript.")
        elif argument.text in FILE_TESTS and following is not None and following.text not in ("]", "-a", "-o"):
            walk.findings.touch("look", following, call.state)
        elif argument.text in _COMPARES_FILES and following is not None and position:
            walk.findings.touch("look", arguments[position - 1], call.state)
            walk.findings.touch("look", following, call.state)
    return always(call.state)


def _may_be_subscript(argument: Field) -> bool:
    return not argument.exact or "[" in argument.text


def generate_completions(walk: Walk, call: ShellCall) -> EndStates:
    parsed = sort_arguments(call.arguments, "-A -C -F -G -P -S -W -X -o")
    for script in parsed.values("-C"):
        _evaluate(walk, call, script, call.state.copy())
    plain = all(one.exact and one.text in ("-a", "-b", "-c", "-k", "-v") for one in call.arguments)
    if not plain or call.name == "complete":
        walk.findings.doubt(f"`{call.name}` may run what it is given, or list it.")
    return always(call.state)


def doubtful(walk: Walk, call: ShellCall) -> EndStates:
    """`enable`, `hash`, `fc`, `bind` and zsh's own: only asking and clearing leave later commands as they are."""
    plain = call.name in ("enable", "hash") and all(one.text in ("-a", "-p", "-r", "-l") for one in call.arguments)
    if not plain or (call.name == "hash" and any(one.text == "-p" for one in call.arguments)):
        walk.findings.doubt(f"`{call.name}` changes what a later command runs.")
    return always(call.state)


def history(walk: Walk, call: ShellCall) -> EndStates:
    """With `-w`, `-r`, `-a`, `-n` it is a way of writing and reading files."""
    if any(one.text.startswith("-") and set(one.text[1:]) - set("cd") for one in call.arguments):
        walk.findings.doubt("`history` reads and writes files, and can bring back old commands.")
    return always(call.state)


def nothing(_: Walk, call: ShellCall) -> EndStates:
    return always(call.state)


BUILTINS: Mapping[str, Builtin] = {
    **dict.fromkeys(["cd", "chdir", "pushd"], change_folder),
    "popd": leave_folder,
    **dict.fromkeys(["export", "declare", "typeset", "readonly", "local"], declare),
    "unset": unset,
    **dict.fromkeys(["read", "getopts", "mapfile", "readarray"], set_names),
    "printf": print_formatted,
    "let": let,
    "wait": wait,
    "eval": evaluate,
    "source": source,
    ".": source,
    "trap": trap,
    "alias": alias,
    "set": set_options,
    "shopt": shopt,
    "shift": shift,
    **dict.fromkeys(["break", "continue", "return"], leave_body),
    "exit": leave,
    "test": test,
    "[": test,
    **dict.fromkeys(["compgen", "complete"], generate_completions),
    **dict.fromkeys(["enable", "hash", "fc", "bind", "emulate", "zmodload", "autoload", "sched"], doubtful),
    **dict.fromkeys(["setopt", "unsetopt", "disable", "zle", "zstyle", "compctl", "vared", "zcompile"], doubtful),
    "history": history,
    **dict.fromkeys(["echo", "true", "false", ":", "pwd", "jobs"], nothing),
    **dict.fromkeys(["unalias", "umask", "ulimit", "type", "times", "dirs", "help"], nothing),
}
