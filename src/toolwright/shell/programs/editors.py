"""`sed` and `awk`, whose scripts are read; and editors, whose commands are not."""

import re
from collections.abc import Mapping, Sequence

from toolwright.shell.programs.arguments import Effects, Handler, after_start, at_start, paths_in
from toolwright.shell.programs.awk_script import is_plain_awk
from toolwright.shell.programs.options import take_options
from toolwright.shell.programs.sed_script import read_sed
from toolwright.shell.state.findings import Contained
from toolwright.shell.state.state import Field, literal

_SED = (
    "-a -e: -E -f< -i? -l: -n -r -s -u -z --debug --expression: --file< --in-place? --line-length:"
    " --null-data --posix! --quiet --regexp-extended --sandbox --separate --silent --unbuffered"
    " --follow-symlinks --zero-terminated"
)
_AWK = "-F: -v: --field-separator: --assign: --posix --re-interval --lint? --csv --sandbox"
_LONGEST = 20_000


def sed(effects: Effects, arguments: Sequence[Field]) -> None:
    """Its script is read; `e` runs something, `w` and `r` name files."""
    parsed = take_options(effects, "sed", arguments, _SED)
    scripts, operands = parsed.values("-e", "--expression"), parsed.operands
    from_file = parsed.has("-f", "--file")
    if not scripts and not from_file:
        scripts, operands = at_start(operands), after_start(operands)
    if from_file:
        effects.doubts.append(Contained("The `sed` script in a file is not examined."))
    # several scripts are one, line by line
    if scripts:
        _sed_script(effects, Field("", ("\n".join(one.text for one in scripts),), all(one.exact for one in scripts)))
    in_place = parsed.has("-i", "--in-place")
    effects.touch("write" if in_place else "read", *operands)
    for suffix in parsed.values("-i", "--in-place"):
        for operand in operands:
            name = (
                f"{operand.spelled}{suffix.text}"
                if "*" not in suffix.text
                else suffix.text.replace("*", operand.spelled)
            )
            effects.touch("write", Field(name, (name,), operand.exact and suffix.exact))


def _sed_script(effects: Effects, script: Field) -> None:
    parsed = read_sed(script.text) if script.exact and len(script.text) <= _LONGEST else None
    if parsed is None or parsed.runs:
        effects.doubts.append(
            Contained("A `sed` script can run programs and write files; this one is not plain enough to rule that out.")
        )
        return
    effects.touch("read", *(literal(name) for name in parsed.reads))
    effects.touch("write", *(literal(name) for name in parsed.writes))


def awk(effects: Effects, arguments: Sequence[Field]) -> None:
    parsed = take_options(effects, "awk", arguments, _AWK)
    program, files = at_start(parsed.operands), after_start(parsed.operands)
    if (
        len(program) != 1
        or not program[0].exact
        or len(program[0].text) > _LONGEST
        or not is_plain_awk(program[0].text)
    ):
        effects.doubts.append(
            Contained(
                "An `awk` program can run programs and write files; this one is not plain enough to rule that out."
            )
        )
    effects.touch("read", *(one for one in files if not re.match(r"[A-Za-z_]\w*=", one.text)))


def editor(effects: Effects, arguments: Sequence[Field]) -> None:
    """Editors and their like take commands from every side, among them such as run programs."""
    if len(arguments) == 1 and arguments[0].text in ("--version", "--help", "-V"):
        return
    effects.doubts.append(Contained("What an editor or calculator like this is told to do is not examined."))
    for argument in arguments:
        effects.touch("read", *paths_in(argument))
        if argument.known and argument.spelled[:1] not in "-+":
            effects.touch("write", argument)


EDITORS: Mapping[str, Handler] = {
    **dict.fromkeys(["sed", "gsed"], sed),
    **dict.fromkeys(["awk", "gawk", "mawk", "nawk"], awk),
    **dict.fromkeys(
        ["ed", "red", "ex", "vi", "vim", "view", "nvim", "rvim", "vimdiff", "nano", "pico", "emacs"], editor
    ),
    **dict.fromkeys(
        ["emacsclient", "gdb", "lldb", "dc", "m4", "troff", "groff", "nroff", "mail", "mutt", "joe"], editor
    ),
}
