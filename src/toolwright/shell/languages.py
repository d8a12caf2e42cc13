"""Programs that are given code: what can be told of it, and where it must be left to a person."""

import re
from collections.abc import Mapping, Sequence

from toolwright.shell.arguments import Effects, paths_in, sort_arguments
from toolwright.shell.state import Field

INTERPRETERS: Mapping[str, tuple[str, str]] = {
    **dict.fromkeys(["python", "python2", "python3", "pypy", "pypy3"], ("-c", "-W -X -m")),
    **dict.fromkeys(["node", "nodejs"], ("-e -p --eval --print -i", "-r --require --import --loader -C")),
    **dict.fromkeys(["perl", "perl5"], ("-e -E -n -p -i", "-I -M -m -0 -F -x")),
    **dict.fromkeys(["ruby", "irb"], ("-e -n -p -i", "-I -r -C -E")),
    "php": ("-r -R -B -E -F", "-d -c -f -S -t"),
    "lua": ("-e -i", "-l"),
    "luajit": ("-e -i", "-l"),
    "tclsh": ("", ""),
    "expect": ("-c -i", "-f"),
    "osascript": ("-e", "-l"),
    "Rscript": ("-e", ""),
    "R": ("-e", "-f"),
    "ghci": ("-e", ""),
    "jshell": ("", ""),
    "gdb": ("-ex", ""),
    "sqlite3": ("", "-cmd"),
    "ed": ("", "-p"),
    "ex": ("-c", ""),
    "vi": ("-c", ""),
    "vim": ("-c --cmd -S", "-u"),
    "nvim": ("-c --cmd -S", "-u"),
    "emacs": ("--eval --batch -l -f", ""),
}
"""For each interpreter the options that give code on the command line, and further ones that take a value."""

_VERSIONED = re.compile(r"(python|pypy|perl|ruby|lua|luajit|node|php|tclsh|bash|ksh|zsh)[0-9.]+")
_ASKS_ABOUT_ITSELF = ("--version", "-V", "-v", "--help", "-h")
_SED = re.compile(
    r"(?:\s|;|\n|(?:\d+|\$|/(?:[^/\\\n]|\\.)*/I?)(?:[,~](?:[+~]?\d+|\$|/(?:[^/\\\n]|\\.)*/I?))?!?\s*(?=[a-zA-Z=]))*"
    r"(?:[pdDgGhHnNPqQxlF=]\s*\d*|s(?P<d>[^\\\n\w\s])(?:(?!(?P=d))[^\\\n]|\\.)*(?P=d)(?:(?!(?P=d))[^\\\n]|\\.)*(?P=d)[gpiIm0-9]*"
    r"|y(?P<e>[^\\\n\w\s])(?:(?!(?P=e))[^\\\n]|\\.)*(?P=e)(?:(?!(?P=e))[^\\\n]|\\.)*(?P=e))?\s*(?:;|\n|$)"
)
_AWK_ACTS = re.compile(r"system|getline|[|>@]|close|-f\b")


def plain_name(program: str) -> str:
    """The name a program goes by in these tables: without folder, version and, on some systems, capitals."""
    name = program.rpartition("/")[2].removesuffix(".exe")
    versioned = _VERSIONED.fullmatch(name) if name not in INTERPRETERS else None
    return versioned.group(1) if versioned else name


def interpreter(name: str, found: Effects, arguments: Sequence[Field]) -> None:
    """A script file is read and run; code on the command line or on standard input cannot be judged."""
    inline, valued = INTERPRETERS[name]
    first = next((one for one in arguments if not one.text.startswith("-") or one.text == "-"), None)
    before = arguments[: arguments.index(first)] if first is not None else arguments
    codes = inline.split()
    if any(_gives_code(one, codes) for one in before):
        found.doubts.append(f"The code given to `{name}` on the command line is not examined.")
        return
    if any(one.text in _ASKS_ABOUT_ITSELF for one in before) and first is None:
        return
    # What the script or module is told about it may open, like any program that is not known.
    found.touch("read", *(path for one in arguments for path in paths_in(one)))
    if any(one.text in ("-m", "--test", "-f", "-S") for one in before):
        return
    given = sort_arguments(arguments, valued)
    if not given.operands or given.operands[0].text == "-":
        found.doubts.append(f"`{name}` runs what it is fed on standard input, which is not examined.")
        return
    if given.operands[0].text.startswith("/dev/"):
        found.doubts.append(f"`{name}` runs what it is fed, which is not examined.")
    found.touch("read", given.operands[0])


def _gives_code(argument: Field, codes: Sequence[str]) -> bool:
    text = argument.spelled
    if not text.startswith("-"):
        return False
    if text.startswith("--"):
        return text.partition("=")[0] in codes
    return any(code[1] in text[1:] for code in codes if len(code) == 2) or text in codes


def sed(found: Effects, arguments: Sequence[Field]) -> None:
    """Its script is judged only where it is made of plain edits; `e` and `w` would run and write."""
    valued = "-e --expression -f --file -l --line-length"
    given = sort_arguments([_without_suffix(one) for one in arguments], valued)
    scripts, operands = given.values("-e", "--expression"), given.operands
    if not scripts and not given.has("-f", "--file"):
        scripts, operands = operands[:1], operands[1:]
    found.touch("read", *given.values("-f", "--file"))
    if given.has("-f", "--file") or not all(one.exact and is_plain_sed(one.text) for one in scripts):
        found.doubts.append(
            "A `sed` script can run programs and write files; this one is not plain enough to rule that out."
        )
    found.touch("write" if given.has("-i", "--in-place") else "read", *operands)


def _without_suffix(argument: Field) -> Field:
    """`-i.bak` keeps a copy; its letters are no options."""
    match = re.match(r"(-[nErsz]*i)", argument.text)
    return Field(match.group(1), (match.group(1),)) if match else argument


def is_plain_sed(script: str) -> bool:
    position = 0
    while position < len(script):
        match = _SED.match(script, position)
        if match is None or match.end() == position:
            return False
        position = match.end()
    return True


def awk(found: Effects, arguments: Sequence[Field]) -> None:
    given = sort_arguments(
        arguments, "-F -v -f --field-separator --assign --file -i --include -l --load -e --source -E"
    )
    program, files = given.operands[:1], given.operands[1:]
    if given.has("-f", "--file", "-i", "--include", "-l", "--load", "-e", "--source", "-E", "--exec"):
        found.doubts.append("An `awk` program from elsewhere is not examined.")
        found.touch("read", *given.values("-f", "--file"), *given.operands)
        return
    if not all(one.exact and not _AWK_ACTS.search(one.text) for one in program):
        found.doubts.append(
            "An `awk` program can run programs and write files; this one is not plain enough to rule that out."
        )
    found.touch("read", *(one for one in files if not re.match(r"[A-Za-z_]\w*=", one.text)))
