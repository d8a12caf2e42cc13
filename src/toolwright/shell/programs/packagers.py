"""Programs that fetch packages and run a project's scripts: npm, pnpm, yarn, and go."""

import re
from collections.abc import Iterable, Mapping, Sequence

from toolwright.shell.programs.arguments import (
    Arguments,
    Effects,
    Handler,
    may_be_files,
    names,
    paths_in,
    tail,
    two_dashes,
)
from toolwright.shell.programs.options import options, take_options
from toolwright.shell.state.findings import Contained
from toolwright.shell.state.state import Field, literal


def _switches(text: str) -> str:
    """Options that are on or off: `--audit`, `--no-audit`, `--audit=false`."""
    return " ".join(f"--{name}? --no-{name}" for name in text.split())


_NODE = _switches(
    "all audit bin-links color dev dry-run engine-strict force frozen-lockfile fund global if-present"
    " ignore-scripts immutable include-workspace-root install-links json legacy-peer-deps lockfile lockfile-only"
    " long offline optional package-lock package-lock-only parallel parseable prefer-dedupe prefer-frozen-lockfile"
    " prefer-offline prefer-online production progress quiet recursive save save-bundle save-dev save-exact"
    " save-optional save-peer save-prod silent stream strict-peer-deps strict-peer-dependencies unicode"
    " update-notifier verbose workspace-root workspaces yes non-interactive pure-lockfile exact peer prod fix"
    " interactive latest timing topological-dev"
)
"""Options of npm, pnpm and yarn that do not run, read or fetch something else."""
_NODE_VALUED = (
    " --omit: --only: --include: --depth: --audit-level: --loglevel: --filter: --access: --tag: --sort: --mode:"
)
_NPM = (
    f"{_NODE} {_NODE_VALUED} -D -E -O -P -S -B -g -w: -s -d -q -l -y -f -a -h -v -C: --prefix: --workspace:"
    " --searchlimit:"
)
_PNPM = f"{_NODE} {_NODE_VALUED} -D -E -O -P -S -g -w -r -s -h -v -F: --workspace-concurrency: --reporter:"
_YARN = f"{_NODE} {_NODE_VALUED} -D -E -O -P -W -s -v -h -i --network-timeout: --pattern: --inline-builds?"

_OF_NPM = names(
    "audit bin cache ci clean-install completion dedupe ddp diff doctor exec explain fund get help i in info init"
    " install install-test it la list ll ls outdated pack ping pkg prefix prune query r rb rebuild remove restart"
    " rm root run run-script sbom search show start stop t test un uninstall up update upgrade v version view who"
    " whoami why x isntall add tst rum urn"
)
_OF_PNPM = names(
    "add audit bin ci dedupe exec dlx fetch help i import info install install-test it la list ll ls outdated"
    " pack prune rb rebuild remove rm root run run-script start store t test un uninstall up update upgrade view"
    " why"
)
_OF_YARN = names(
    "add audit bin cache check dedupe exec dlx help info install licenses list outdated pack remove run test up upgrade"
    " version versions why workspace workspaces import"
)
_RUNS = names("run run-script rum urn")
_SCRIPTS = names("test t tst start stop restart")
"""Subcommands that are followed by words for the project's own script."""
_USUAL_SCRIPTS = names(
    "build bundle check clean compile coverage dev docs e2e fix fmt format generate lint preview release serve start"
    " storybook test typecheck type-check types unit validate verify watch"
)
"""Names of scripts that no program has; any other is better said with `run`."""
_SETS = names("set delete fix")


def npm(effects: Effects, arguments: Sequence[Field]) -> None:
    """Judge `npm`, which takes every option for its own, up to `--`. A script of the project is the project's own."""
    own = _until_dashes(arguments)
    parsed = take_options(effects, "npm", own, _NPM)
    effects.touch("enter", *parsed.values("-C", "--prefix"))
    asks = [one.text for one in parsed.operands[:2]] in (["config", "get"], ["config", "list"], ["c", "get"])
    subcommand = _subcommand(effects, "npm", parsed, ("config", "c") if asks else _OF_NPM)
    if subcommand == "pkg" and _SETS & {one.text for one in parsed.operands}:
        effects.touch("write", literal("package.json"))
    if subcommand == "init" and len(parsed.operands) > 1:
        effects.doubts.append(Contained("`npm init` with a name fetches a program of that name and runs it."))
    _read_paths(effects, arguments)


def pnpm(effects: Effects, arguments: Sequence[Field]) -> None:
    parsed = take_options(effects, "pnpm", _before_script(arguments, _OF_PNPM, _PNPM), _PNPM)
    _script_or_program(effects, "pnpm", arguments, parsed, _OF_PNPM)


def yarn(effects: Effects, arguments: Sequence[Field]) -> None:
    parsed = take_options(effects, "yarn", _before_script(arguments, _OF_YARN, _YARN), _YARN)
    _script_or_program(effects, "yarn", arguments, parsed, _OF_YARN)


def _script_or_program(
    effects: Effects, program: str, arguments: Sequence[Field], parsed: Arguments, known: frozenset[str]
) -> None:
    """A name that is no subcommand is a script of the project, or else a program, as in `pnpm touch x`."""
    subcommand = _subcommand(effects, program, parsed, known | _USUAL_SCRIPTS)
    if subcommand not in known:
        for first in parsed.operands[:1]:
            words = arguments[next(position for position, one in enumerate(arguments) if one is first) :]
            text = " ".join(one.spelled for one in words)
            effects.suspected.append(Field(text, (text,), all(one.exact for one in words)))
    _read_paths(effects, arguments)


def _before_script(arguments: Sequence[Field], subcommands: Iterable[str], known: str) -> list[Field]:
    """The words that the program itself goes by: those after the name of a script are for the script."""
    own = _until_dashes(arguments)
    for position, argument in enumerate(own):
        if not argument.spelled.startswith("-") and not _is_value(own, position, known):
            if argument.text in _RUNS:
                return own[: position + 2]
            return own if argument.text in subcommands and argument.text not in _SCRIPTS else own[: position + 1]
    return own


def _is_value(own: Sequence[Field], position: int, known: str) -> bool:
    """Tell whether a word belongs to the option before it, as in `--filter app build`."""
    return position > 0 and options(known).marks.get(own[position - 1].text, "") in tuple(":<>")


def _subcommand(effects: Effects, program: str, parsed: Arguments, known: Iterable[str]) -> str:
    for first in parsed.operands[:1]:
        if not first.exact:
            _doubt_unknown(effects, program, first)
        elif first.text not in known:
            effects.doubts.append(Contained(f"`{program} {first.text}` is not among what is known to be harmless."))
        return first.text
    return ""


def _doubt_unknown(effects: Effects, program: str, word: Field) -> None:
    if not word.exact:
        effects.doubts.append(f"`{word.spelled}` decides what `{program}` does, and is only known when it runs.")


def _until_dashes(arguments: Sequence[Field]) -> list[Field]:
    texts = [one.text for one in arguments]
    return list(arguments[: texts.index("--")] if "--" in texts else arguments)


def _read_paths(effects: Effects, arguments: Sequence[Field]) -> None:
    for argument in arguments:
        effects.touch("read", *paths_in(argument))


_GO = (
    "-a -n -p: -race -msan -asan -cover -covermode: -coverpkg: -v -work -x -buildmode: -buildvcs? -compiler:"
    " -json? -mod: -linkshared -modcacherw -tags: -trimpath -installsuffix: -ldflags: -gcflags: -o> -h"
)
_GO_TEST = (
    " -run: -bench: -benchmem -benchtime: -count: -cpu: -failfast -fullpath -fuzz: -fuzztime: -fuzzminimizetime: -list:"
    " -parallel: -short -shuffle: -skip: -timeout: -vet: -c -coverprofile> -cpuprofile> -memprofile> -blockprofile>"
    " -mutexprofile> -trace> -outputdir> -memprofilerate: -blockprofilerate: -mutexprofilefraction:"
)
_OF_GO: Mapping[str, str] = {
    "build": _GO,
    "install": _GO,
    "run": _GO,
    "test": _GO + _GO_TEST,
    "vet": _GO + " -c: -fix -diff",
    "list": _GO + " -f: -m -u -e -deps -test -find -export -compiled -retracted -versions",
    "get": _GO + " -u? -t -d -tool",
    "generate": _GO + " -run: -skip:",
    "clean": _GO + " -cache -testcache -modcache -fuzzcache -i -r",
    "fmt": "-n -x -mod:",
    "fix": "-fix: -diff -n -x",
    "version": "-m -v -json",
    "env": "-json -changed",
    "doc": "-all -src -u -c -cmd -short",
    "help": "",
    "mod": "-v -x -e -go: -compat: -json -m -vendor -fmt -print -module: -require: -droprequire: -exclude: -o>",
    "work": "-v -r -json -go: -fmt -print",
    "tool": "-n",
}
"""Each subcommand with the options that neither run nor load something else."""
_GO_TOOLS = names("cover nm objdump addr2line buildid dist test2json trace")
_LINKER = re.compile(r"(?:\s*--?(?:[sw]|buildid=[\w/.-]*|X[ =]?'?[\w./-]+=[^\s'\"`$\\]*'?))*\s*")
_COMPILER = re.compile(r"(?:all=|\./\.\.\.=)?(?:\s*--?(?:[NlSemB]|m=\d|live|race))*\s*")


def go(effects: Effects, arguments: Sequence[Field]) -> None:
    """Options have one dash or two; `-exec`, `-toolexec`, `-vettool`, `-overlay` and others run or load something."""
    _read_paths(effects, [one for one in arguments if not one.spelled.endswith("/...")])
    effects.touch("mention", *(file for one in arguments[1:] for file in may_be_files(one)))
    if not arguments:
        return
    first, own = arguments[0], _own_of_go(arguments)
    if not first.exact:
        _doubt_unknown(effects, "go", first)
    known = _OF_GO.get(first.text)
    if known is None:
        effects.doubts.append(Contained(f"`go {first.spelled}` is not among what is known to be harmless."))
        _note_commands(effects, own)
        return
    before = len(effects.doubts)
    parsed = take_options(effects, f"go {first.text}", [two_dashes(one) for one in own], _two_dashes(known))
    if first.text == "tool" and parsed.operands and parsed.operands[0].text not in _GO_TOOLS:
        effects.doubts.append(
            Contained(f"`go tool {parsed.operands[0].spelled}` is not among what is known to be harmless.")
        )
    for option, plain in (("--ldflags", _LINKER), ("--gcflags", _COMPILER)):
        if any(not one.exact or not plain.fullmatch(one.text) for one in parsed.values(option)):
            effects.doubts.append(Contained(f"`go -{option[2:]}` may run another program."))
    if len(effects.doubts) > before:
        _note_commands(effects, own)


def _own_of_go(arguments: Sequence[Field]) -> list[Field]:
    """The words that are for go itself: what follows `-args`, or the program of `go run` and `go tool`, is not."""
    own = list(arguments[1:])
    texts = [one.text for one in own]
    if "-args" in texts or "--args" in texts:
        return own[: next(position for position, text in enumerate(texts) if text in ("-args", "--args"))]
    if arguments[0].text in ("run", "tool"):
        plain = (
            position
            for position, one in enumerate(own)
            if not one.spelled.startswith("-") and not _is_value(own, position, _GO)
        )
        return own[: next(plain, len(own)) + 1]
    return own


def _note_commands(effects: Effects, own: Sequence[Field]) -> None:
    """Note the values of options that run programs: each may be a command that a rule is about."""
    for position, argument in enumerate(own):
        _, equals, _ = argument.spelled.partition("=")
        if argument.spelled.startswith("-"):
            after = own[position + 1 : position + 2]
            effects.suspected += [tail(argument, argument.spelled.index("=") + 1)] if equals else after


def _two_dashes(known: str) -> str:
    return " ".join(f"-{word}" for word in known.split())


PACKAGERS: Mapping[str, Handler] = {"npm": npm, "pnpm": pnpm, "yarn": yarn, "go": go}
