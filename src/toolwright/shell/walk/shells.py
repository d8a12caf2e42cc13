"""Shells started by a script: the text they are given is walked like the script itself."""

from collections.abc import Sequence

from toolwright.record import record
from toolwright.shell.programs.wrappers import WRAPPERS
from toolwright.shell.state.findings import Contained
from toolwright.shell.state.state import Dialect, Field, ShellState, dialect_of, literal, unknown
from toolwright.shell.walk.call import ShellCall, Walk
from toolwright.shell.walk.set_options import option_problem, shopt_problem

_FOLLOWED = frozenset({"sh", "bash", "zsh", "dash", "ksh", "mksh", "ash", "rbash"})
_OTHERS = frozenset({"fish", "csh", "tcsh", "elvish", "nu", "xonsh", "pwsh", "osh", "yash", "rc", "es", "oil", "ion"})
SHELLS = _FOLLOWED | _OTHERS
_LONG = frozenset({"--login", "--norc", "--noprofile", "--restricted", "--verbose", "--noediting"})
_LETTERS = frozenset("clisr")


@record(frozen=True, slots=True, kw_only=True)
class Invocation:
    """The arguments of a shell told apart."""

    flags: str
    operands: Sequence[Field]
    doubt: str = ""


def run_shell(walk: Walk, call: ShellCall, name: str) -> None:
    """`sh -c text`, `sh file`, or a shell that reads its commands from standard input."""
    if any(one.text in ("--version", "--help") for one in call.arguments[:1]):
        return
    parsed = _told_apart([*call.arguments, *call.also])
    if parsed.doubt:
        walk.findings.doubt(parsed.doubt)
    if name in _OTHERS:
        walk.findings.doubt(f"What `{name}` is given is not examined.")
        return
    dialect = dialect_of(name)
    if "c" in parsed.flags:
        script = parsed.operands[0] if parsed.operands else unknown("nothing")
        called = all(one.single for one in parsed.operands[1:2])
        arguments = tuple(parsed.operands[2:]) if called else None
        run_script(walk, call, script, call.state, dialect=dialect, arguments=arguments)
    elif parsed.operands and "s" not in parsed.flags:
        _run_file(walk, call, parsed.operands[0])
    else:
        fed = call.feed.text if call.feed is not None else None
        run_script(walk, call, fed or unknown("standard input"), call.state, dialect=dialect)


def _told_apart(arguments: Sequence[Field]) -> Invocation:
    flags, position, doubt = "", 0, ""
    while position < len(arguments):
        text = arguments[position].text
        if text in ("--", "-"):
            position += 1
            break
        if any(not one or one[0] in "-+*?[" for one in arguments[position].texts) and not arguments[position].exact:
            doubt = f"`{arguments[position].spelled}` may tell a shell what to do, and is only known when it runs."
            break
        if text[:1] not in ("-", "+") or len(text) < 2:
            break
        position += 1
        if text.startswith("--"):
            doubt = doubt if text in _LONG else f"What the option `{text}` of a shell does is not examined."
            continue
        flags += text[1:] if text.startswith("-") else ""
        names = [one.text for one in arguments[position : position + text.count("o") + text.count("O")]]
        position += len(names)
        for letter, name in zip((one for one in text if one in "oO"), names, strict=False):
            doubt = (option_problem("", name) if letter == "o" else shopt_problem(name)) or doubt
        doubt = option_problem(text[1:].replace("O", ""), "", harmless=_LETTERS) or doubt
    return Invocation(flags=flags, operands=arguments[position:], doubt=doubt)


def _run_file(walk: Walk, call: ShellCall, file: Field) -> None:
    walk.findings.touch("read", file, call.state)
    walk.findings.touch("script", file, call.state)
    if file.text.startswith(("/dev/", "/proc/")) or file.spelled.startswith("<("):
        walk.findings.doubt("A shell runs what it is fed, which is not known.")
    if file.text in SHELLS or file.text in WRAPPERS:
        walk.findings.doubt(f"A script called `{file.text}`, which a shell looks for on the PATH too, is not examined.")


def run_script(
    walk: Walk,
    call: ShellCall,
    script: Field,
    state: ShellState,
    *,
    dialect: Dialect = "sh",
    arguments: tuple[Field, ...] | None = None,
) -> None:
    """Walk through a text for another shell, which inherits the folder and hardly any variables."""
    if not script.exact and call.mark and call.mark in script.spelled and "$" not in script.spelled:
        # a name may hold anything that a shell acts on
        walk.findings.doubt(Contained(f"A shell runs `{script.spelled}` with names of files in it."))
        script = literal(script.spelled)
    if not script.exact:
        walk.findings.doubt(f"A shell runs `{script.spelled}`, which is only known when it runs.")
        return
    home = {"HOME": state.variables["HOME"]} if "HOME" in state.variables else {}
    inside = ShellState(
        folders=state.folders,
        variables=home,
        arguments=arguments,
        calls=state.calls,
        dialect=dialect,
        top=state.top,
        functions=state.functions,
    )
    walk.nested(script.text, inside, call.draft)
