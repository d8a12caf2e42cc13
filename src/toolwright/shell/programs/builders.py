"""Programs that build, and others that take orders in a language of their own: make, compilers, sqlite3."""

import re
from collections.abc import Mapping, Sequence

from toolwright.shell.programs.arguments import Effects, Handler, after_start, at_start, may_be_files, paths_in, tail
from toolwright.shell.programs.options import take_options
from toolwright.shell.state.findings import Contained
from toolwright.shell.state.state import Field
from toolwright.shell.state.variables import exported

_MAKE = (
    "-b -B -C: -d -e -f< -h -i -I< -j? -k -l? -L -m -n -o: -O? -p -q -r -R -s -S -t -v -w -W: --always-make"
    " --directory: --debug? --dry-run --file< --makefile< --ignore-errors --include-dir< --jobs? --keep-going"
    " --just-print --load-average? --no-builtin-rules --no-print-directory --output-sync? --print-data-base"
    " --question --quiet --silent --recon --trace --touch --warn-undefined-variables --print-directory"
)
_MAKE_VARIABLE = re.compile(r"\s*([^\s=:?+!]+)\s*(?::{1,3}|\?|\+|!)?=")
_PLAIN_VALUE = re.compile(r"[\w./:,=@%+ -]*")
_MAKE_ORDERS = re.compile(
    r".*\W.*|SHELL|MAKE\w*|\w*CC|\w*CXX|LD|AR|AS|CPP|RM|\w*_CMD|\w*COMMAND|\w*_PROGRAM|PYTHON|NODE|BASH"
)


def make(effects: Effects, arguments: Sequence[Field]) -> None:
    """The makefile is a program of the project; what it is told may not hold commands of its own."""
    parsed = take_options(effects, "make", arguments, _MAKE)
    for folder in parsed.values("-C", "--directory"):
        effects.touch("enter", folder)
    makefiles = parsed.values("-f", "--file", "--makefile")
    if any(one.text in ("-", "/dev/stdin") or one.text.startswith(("/dev/fd/", "/proc/")) for one in makefiles):
        effects.doubts.append(Contained("`make` runs what it is fed, which is not examined."))
    for argument in parsed.operands:
        match = _MAKE_VARIABLE.match(argument.spelled)
        if match is None:
            effects.touch("mention", argument)
            if not argument.known:
                effects.doubts.append(f"`{argument.spelled}` decides what `make` does, and is only known when it runs.")
            continue
        value = tail(argument, match.end())
        effects.suspected.append(value)
        if (
            not value.known
            or match.group().endswith("!=")
            or not all(map(_PLAIN_VALUE.fullmatch, value.texts))
            or _MAKE_ORDERS.fullmatch(match.group(1))
        ):
            effects.doubts.append(Contained(f"`{match.group(1)}` is set for `make`, whose commands it may be part of."))
        elif match.group(1) in ("SHELL", "PATH", "LD_PRELOAD", "MAKEFLAGS"):
            effects.doubts.append(
                exported(match.group(1), value) or Contained(f"`{match.group(1)}` is set for `make`.")
            )


_COMPILER = re.compile(
    r"-(?:c|S|E|O\w*|g[\w-]*|W(?![alp],)[\w=+-]*|f(?!plugin|dump|profile|save|auto-profile|sanitize-"
    r"|use-ld)[\w=.,+/-]*|m[\w=.,+-]+|std=[\w+]+|ansi|pedantic(?:-errors)?|w|v|s|D.*|U.*|l[\w.:+-]+|M[MDGP]*"
    r"|pthread|shared|static|pie|no-pie|rdynamic|nostd\w+|P|C|dM|dumpmachine|dumpversion|print-[\w=.-]+|pipe"
    r"|nodefaultlibs|nostartfiles|fsanitize=[\w,]+)"
)
_COMPILER_VALUED = frozenset({"-x", "-D", "-U", "-arch", "-target", "--param", "-MT", "-MQ", "-l"})
_COMPILER_FOLDERS = ("-I", "-L", "-isystem", "-iquote", "-idirafter", "-include")


def compiler(effects: Effects, arguments: Sequence[Field]) -> None:
    """Sources are read and `-o` is written; options that load or run something else are doubted."""
    position = 0
    while position < len(arguments):
        argument = arguments[position]
        text, following = argument.spelled, arguments[position + 1 : position + 2]
        position += 1
        if text in ("-o", "-MF"):
            effects.touch("write", *following)
            position += 1
        elif text.startswith("-o"):
            effects.touch("write", tail(argument, 2))
        elif option := next((one for one in _COMPILER_FOLDERS if text.startswith(one)), ""):
            effects.touch("read", *([tail(argument, len(option))] if len(text) > len(option) else following))
            position += len(text) == len(option)
        elif text in _COMPILER_VALUED:
            position += 1
        elif text.startswith(("-", "@")) and text not in ("-", "--version", "--help") and not _COMPILER.fullmatch(text):
            effects.doubts.append(Contained(f"`{text}` is not among the options of a compiler known to be harmless."))
        elif not text.startswith("-"):
            effects.touch("read", argument)


_SQLITE = (
    "-append -ascii -bail -batch -box -cmd: -column -csv -echo -header -noheader -html -json -line -list"
    " -markdown -newline: -nullvalue: -quote -readonly -separator: -stats -table -tabs -version -safe"
    " -interactive -help -init! -nofollow"
)
_SQL_REACHES_OUT = re.compile(
    r"writefile|readfile|load_extension|\bedit\s*\(|\battach\b|\bvacuum\b|fts\w*_tokenizer"
    r"|^\s*\.(?!(?:tables?|schema|fullschema|databases|headers?|mode|indexes|indices|timeout|width|stats"
    r"|version|help|quit|exit|nullvalue|separator|dump|show|eqp|changes|bail|echo|timer|print|dbinfo|lint)\b)",
    re.IGNORECASE | re.DOTALL | re.MULTILINE,
)
_SQL_ASKS = re.compile(
    r"\s*(?:select|pragma\s+\w+\s*(?:\(|;|$)|explain|with|\.(?:tables|schema|dump|indexes|header|mode))", re.IGNORECASE
)


def sqlite(effects: Effects, arguments: Sequence[Field]) -> None:
    parsed = take_options(effects, "sqlite3", [_one_dash(one) for one in arguments], _SQLITE)
    database, statements = at_start(parsed.operands), [*parsed.values("-cmd"), *after_start(parsed.operands)]
    effects.touch("read", *(one for one in database if one.text != ":memory:"))
    if not parsed.has("-readonly") and not (
        statements and all(one.exact and _SQL_ASKS.match(one.text) for one in statements)
    ):
        effects.touch("write", *(one for one in database if one.text != ":memory:"))
    if not statements and not parsed.has("-version", "-help"):
        effects.doubts.append(Contained("`sqlite3` runs what it is fed, which is not examined."))
    if any(not one.exact or _SQL_REACHES_OUT.search(one.text) for one in statements):
        effects.doubts.append(Contained("Statements like these can read and write files and run programs."))


def _one_dash(argument: Field) -> Field:
    return tail(argument, 1) if argument.spelled.startswith("--") else argument


_CARGO = re.compile(
    r"--(?:release|all|workspace|lib|bins?|tests?|examples?|benches|bench|all-targets|features|all-features"
    r"|no-default-features|target|package|exclude|jobs|keep-going|verbose|quiet|color|locked|offline|frozen"
    r"|message-format|doc|no-run|no-fail-fast|open|no-deps|fix|allow-dirty|allow-staged|check|profile"
    r"|future-incompat-report|timings|test|example|bin|nocapture|version|help|dev|build|git|branch|tag|rev"
    r"|path|rename|optional|precise|depth|edges|invert|list|vers|name|edition|vcs|dry-run|force|duplicates|prefix"
    r"|charset|format|format-version|filter-platform|no-dedupe)(?:=.*)?|-[pjvqFrhVZDdei]+\d*"
)


def cargo(effects: Effects, arguments: Sequence[Field]) -> None:
    """Options up to `--` are cargo's own; `--config` can name a program to run."""
    for argument in arguments:
        if argument.text == "--":
            break
        if argument.spelled.startswith("+"):
            continue
        head = argument.spelled.partition("=")[0]
        effects.touch("mention", *may_be_files(argument))
        if head in ("--manifest-path", "--target-dir", "--out-dir", "--root"):
            effects.touch("read" if head == "--manifest-path" else "write", *paths_in(argument))
        elif argument.spelled.startswith("-") and not _CARGO.fullmatch(argument.spelled):
            effects.doubts.append(
                Contained(f"`{argument.spelled}` is not among the options of `cargo` known to be harmless.")
            )
    for argument in arguments:
        effects.touch("read", *paths_in(argument))


BUILDERS: Mapping[str, Handler] = {
    **dict.fromkeys(["make", "gmake"], make),
    **dict.fromkeys(["gcc", "g++", "cc", "c++", "clang", "clang++"], compiler),
    "sqlite3": sqlite,
    "cargo": cargo,
}
