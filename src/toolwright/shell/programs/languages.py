"""Programs that are given code: a script file is a program like any other, code on the command line is not examined."""

import re
import sys
from collections.abc import Mapping, Sequence
from functools import lru_cache

from toolwright.record import record
from toolwright.shell.programs.arguments import (
    Effects,
    after_start,
    at_end,
    at_start,
    looks_like_path,
    may_be_files,
    paths_in,
    tail,
)
from toolwright.shell.state.findings import Contained
from toolwright.shell.state.state import Field

_MODULE = re.compile(r"[@\w][\w@./-]*")


@record(frozen=True, slots=True)
class Interpreter:
    """The forms in which an interpreter runs nothing but a script file; every other form is doubted."""

    flags: re.Pattern[str]
    """Options that neither give code nor take a value."""
    valued: frozenset[str] = frozenset()
    """Options with a value that is no code."""
    modules: frozenset[str] = frozenset()
    """Options whose value names installed code."""
    subcommands: frozenset[str] = frozenset()
    """First words that are no script."""
    asks: frozenset[str] = frozenset({"--version", "--help"})
    """Options with which it only tells about itself."""


def _interpreter(flags: str, valued: str = "", modules: str = "", subcommands: str = "", asks: str = "") -> Interpreter:
    return Interpreter(
        re.compile(flags),
        frozenset(valued.split()),
        frozenset(modules.split()),
        frozenset(subcommands.split()),
        frozenset({"--version", "--help", *asks.split()}),
    )


_PYTHON = _interpreter(r"-[uBEsSIOqbdPx]+", "-W -X", asks="-V -VV -h")
_NODE = _interpreter(
    r"--(?:test|watch|check|no-warnings|trace-\w+|trace|enable-source-maps|expose-gc|experimental-[\w-]+"
    r"|test-[\w-]+(?:=\S+)?|max-old-space-size=\d+|max-semi-space-size=\d+|stack-size=\d+|no-deprecation"
    r"|throw-deprecation|preserve-symlinks|unhandled-rejections=\w+|stack-trace-limit=\d+|inspect(?:-brk)?"
    r"|env-file=[\w./-]+)|-c",
    modules="-r --require --import --loader --experimental-loader",
    asks="-v -h",
)
_PERL = _interpreter(r"-[wWTtXc]+", asks="-v -V -h")
_RUBY = _interpreter(r"-[wWvcU]+|-W\d|-I[\w./:-]+", "-I -E", "-r", asks="-v -h")
_PHP = _interpreter(r"-[lnqmi]+", "-S -t", asks="-v -h -m -i")
_OTHER = _interpreter(r"-(?!.)", asks="-v -h")

INTERPRETERS: Mapping[str, Interpreter] = {
    **dict.fromkeys(["python", "python2", "python3", "pypy", "pypy3"], _PYTHON),
    **dict.fromkeys(["node", "nodejs"], _NODE),
    **dict.fromkeys(
        ["tsx", "ts-node", "ts-node-esm"], _interpreter(r"--(?:esm|transpile-only|files|watch)|-T", asks="-v -h")
    ),
    **dict.fromkeys(["perl", "perl5"], _PERL),
    **dict.fromkeys(["ruby", "irb"], _RUBY),
    "php": _PHP,
    **dict.fromkeys(["Rscript", "R"], _interpreter(r"--(?:vanilla|slave|no-save|no-restore|no-init-file)")),
    "julia": _interpreter(r"--(?:project(?:=\S+)?|threads=\d+|startup-file=no|color=\w+)", asks="-v -h"),
    **dict.fromkeys(
        ["lua", "luajit", "tclsh", "expect", "osascript", "ghci", "jshell", "wish", "guile", "sbcl"], _OTHER
    ),
    **dict.fromkeys(["racket", "scheme", "clojure", "groovy", "ocaml", "octave", "ipython", "bpython", "pwsh"], _OTHER),
    "deno": _interpreter(
        r"--(?:allow-[\w-]+(?:=\S+)?|no-check|quiet|watch|unstable[\w-]*)|-[Aq]+",
        subcommands="run test task fmt lint check install cache bench compile doc info init upgrade types serve",
        asks="-V -h",
    ),
    "bun": _interpreter(
        r"--(?:watch|hot|silent|bun|smol|filter=\S+)|-[fyg]",
        subcommands="run test install add remove update build init create pm x link unlink i outdated upgrade publish",
        asks="-v -h",
    ),
}
"""For each interpreter the forms that are known to be harmless."""

_PYTHON_MODULES = frozenset(
    {
        "json.tool",
        "unittest",
        "venv",
        "http.server",
        "pip",
        "ensurepip",
        "compileall",
        "py_compile",
        "site",
        "sysconfig",
    }
    | {
        "platform",
        "calendar",
        "this",
        "ast",
        "tokenize",
        "tabnanny",
        "pyclbr",
        "dis",
        "zipfile",
        "tarfile",
        "gzip",
        "base64",
    }
    | {"cProfile", "profile", "trace", "doctest", "pydoc", "mimetypes", "inspect", "locale", "textwrap", "asyncio"}
)
"""Modules of Python's own that run no code from the command line; those of others are programs like any."""
_PYTHON_RUNS = frozenset({"cProfile", "profile", "trace", "asyncio"})
"""Of these, the ones that are harmless only with a script to run."""

AGENTS = frozenset(
    {
        "tw",
        "toolwright",
        "opencode",
        "claude",
        "codex",
        "gemini",
        "aider",
        "goose",
        "copilot",
        "cursor",
        "qwen",
        "crush",
    }
    | {"amp", "cline", "auggie", "droid", "kimi", "kiro"}
)
"""Programs that run commands under rules of their own."""
_PACKAGED = re.compile(r"(?:@[^/]*/)?([a-z]+)(?:-(?:ai|agent|chat|cli|code))?(?:@.*)?")


def is_agent(name: str) -> bool:
    """Tell whether a program, package or module of this name is one, as in `opencode-ai@latest`."""
    packaged = _PACKAGED.fullmatch(name)
    return packaged is not None and packaged.group(1) in AGENTS


_VERSIONED = re.compile(r"(python|pypy|perl|ruby|lua|luajit|node|php|tclsh|bash|ksh|zsh)[0-9.]+")


@lru_cache(maxsize=1024)
def plain_name(program: str) -> str:
    """The name a program goes by in these tables: without folder, version and, on some systems, capitals."""
    name = program.rpartition("/")[2].removesuffix(".exe")
    versioned = _VERSIONED.fullmatch(name) if name not in INTERPRETERS else None
    return versioned.group(1) if versioned else name


def interpreter(name: str, effects: Effects, arguments: Sequence[Field]) -> None:
    """Note the script that is run; doubt code on the command line, on standard input, or in any form not listed."""
    form, position = INTERPRETERS[name], 0
    if len(arguments) == 1 and arguments[0].text in form.asks:
        return
    while (
        position < len(arguments)
        and arguments[position].spelled.startswith("-")
        and len(arguments[position].spelled) > 1
    ):
        argument = arguments[position]
        head, equals, value = argument.text.partition("=")
        following = arguments[position + 1] if position + 1 < len(arguments) else None
        position += 1
        if argument.text == "--":
            break
        if form is _PYTHON and argument.text.startswith("-m"):
            module = tail(argument, 2) if len(argument.text) > 2 else following
            _python_module(effects, name, module, arguments[position + (len(argument.text) == 2) :])
            return
        if head in form.modules and (value if equals else following is not None):
            module_name = value if equals else following.text if following is not None else ""
            position += 0 if equals else 1
            if not _MODULE.fullmatch(module_name):
                effects.doubts.append(_code(name))
        elif argument.text in form.valued:
            position += 1
        elif not form.flags.fullmatch(argument.text):
            effects.doubts.append(_code(name))
            return
    _run_file(effects, name, form, arguments[position:])


def _code(name: str) -> Contained:
    return Contained(f"The code given to `{name}` on the command line is not examined.")


def _run_file(effects: Effects, name: str, form: Interpreter, rest: Sequence[Field]) -> None:
    effects.touch("read", *(path for one in rest for path in paths_in(one)))
    effects.touch("mention", *(one for one in rest[1:] if one.known and one.spelled[:1] != "-"))
    if not rest or rest[0].text == "-":
        effects.doubts.append(Contained(f"`{name}` runs what it is fed on standard input, which is not examined."))
        return
    if rest[0].text in form.subcommands:
        return
    if form.subcommands and not set(rest[0].spelled) & set("./"):
        effects.doubts.append(_code(name))
    if rest[0].text.startswith(("/dev/", "/proc/")) or "<(" in rest[0].spelled:
        effects.doubts.append(Contained(f"`{name}` runs what it is fed, which is not examined."))
    if rest[0].text and not looks_like_path(rest[0].text) and ":" in rest[0].text:
        effects.doubts.append(_code(name))
    effects.touch("read", rest[0])


def _python_module(effects: Effects, name: str, module: Field | None, rest: Sequence[Field]) -> None:
    text = module.text if module is not None else ""
    effects.touch("read", *(path for one in rest for path in paths_in(one)))
    effects.touch("mention", *(file for one in rest for file in may_be_files(one)))
    own = text.partition(".")[0] in sys.stdlib_module_names
    if is_agent(text.partition(".")[0]):
        effects.doubts.append(f"`{text}` runs commands under rules of its own.")
    operands = [one for one in rest if not one.spelled.startswith("-")]
    if not _MODULE.fullmatch(text) or (own and text not in _PYTHON_MODULES):
        effects.doubts.append(
            Contained(f"What `{name} -m {text or '…'}` is told is code, or may be, and is not examined.")
        )
    elif text in _PYTHON_RUNS and (not operands or any(one.text in ("-c", "-m") for one in rest)):
        effects.doubts.append(Contained(f"What `{name} -m {text}` runs is not examined."))
    elif text == "venv":
        effects.touch("write", *operands)
    elif text == "json.tool":
        effects.touch("write", *after_start(operands))
    elif text in ("zipfile", "tarfile") and rest and rest[0].text not in ("-l", "--list", "-t", "--test"):
        extracts = rest[0].text in ("-e", "--extract")
        effects.touch("write", *(at_end(operands) if extracts else at_start(operands)))
