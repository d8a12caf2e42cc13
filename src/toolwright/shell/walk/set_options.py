"""Options of the shell itself: which of them leave later words what they are, and what ends `set -e`."""

from collections.abc import Sequence

from toolwright.shell.state.findings import Contained
from toolwright.shell.state.state import EndStates, Field, always
from toolwright.shell.walk.call import ShellCall, Walk

_OPTIONS = frozenset("euxvCEfbon")
_LONG_OPTIONS = frozenset(
    {"errexit", "nounset", "xtrace", "verbose", "noclobber", "pipefail", "errtrace", "noglob", "notify", "noexec"}
)
"""Options of the shell with which words go on meaning what they meant."""
_SHOPTS = frozenset(
    {
        "nullglob",
        "failglob",
        "globstar",
        "globskipdots",
        "inherit_errexit",
        "checkwinsize",
        "lastpipe",
        "expand_aliases",
    }
    | {"huponexit", "histappend", "cmdhist", "checkhash", "checkjobs", "execfail"}
)
_STOPS = "errexit"
"""The option that `set -e` is short for."""


def set_options(walk: Walk, call: ShellCall) -> EndStates:
    """`set`: options that are not on the list change what later words mean, and operands are new arguments."""
    arguments = list(call.arguments)
    while arguments and arguments[0].exact and arguments[0].text[:1] in ("-", "+") and len(arguments[0].text) > 1:
        text = arguments.pop(0).text
        if text == "--":
            call.state.arguments = None
            return always(call.state)
        long = arguments.pop(0) if "o" in text and arguments else None
        name = long.text if long is not None else ""
        problem = option_problem(text[1:], name)
        if long is not None and not long.exact:
            call.state.stops_on_error = False
            problem = f"`set {text} {long.spelled}` may change what later words mean."
        if problem:
            walk.findings.doubt(problem)
        if "e" in text[1:] or name == _STOPS:
            call.state.stops_on_error = text.startswith("-")
    if arguments:
        call.state.arguments = None
    if any(_may_be_option(one) for one in arguments[:1]):
        call.state.stops_on_error = False
        walk.findings.doubt(f"`set {arguments[0].spelled}` may change what later words mean.")
    return always(call.state)


def _may_be_option(argument: Field) -> bool:
    return not argument.exact and (not argument.known or any(text[:1] in "+-*?[" for text in argument.texts))


def option_problem(letters: str, long: str, *, harmless: frozenset[str] = frozenset()) -> str:
    """Return why options of a shell need a person's eye, or nothing."""
    if letters == "a" and not long:
        return Contained("From `set -a` on programs are given every variable that is set.")
    if set(letters) - _OPTIONS - harmless or (long and long not in _LONG_OPTIONS):
        return f"The option `{long or letters}` of the shell changes what later words mean."
    return ""


def shopt_problem(name: str) -> str:
    return "" if name in _SHOPTS else f"The option `{name}` of the shell changes what later words mean."


def shopt(walk: Walk, call: ShellCall) -> EndStates:
    """`shopt`: what may change which files a wildcard names, what `cd` means, or how the script is read."""
    flags, names = _flags_and_names(call.arguments)
    if not flags & set("sou") and all(one.exact for one in call.arguments):
        return always(call.state)
    for argument in names:
        problem = shopt_problem(argument.text) if "o" not in flags else option_problem("", argument.text)
        if problem or not argument.exact:
            walk.findings.doubt(problem or shopt_problem(argument.spelled))
    if "o" in flags and any(one.text == _STOPS or not one.exact for one in names):
        # With `-s` it may be on, with `-u` it is off.
        call.state.stops_on_error = call.state.stops_on_error and "u" not in flags and all(one.exact for one in names)
    return always(call.state)


def _flags_and_names(arguments: Sequence[Field]) -> tuple[set[str], list[Field]]:
    flags = {letter for one in arguments if one.text.startswith("-") for letter in one.text[1:]}
    return flags, [one for one in arguments if not one.text.startswith("-")]
