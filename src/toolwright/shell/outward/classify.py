"""The class of one call: what its program does beyond this machine, and whether it can be taken back."""

import posixpath
import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from itertools import islice, pairwise

from toolwright.calls.acts import OUTWARD, RANKS, Act, strictest
from toolwright.shell.outward.code import of_code
from toolwright.shell.outward.http import by_method, calls_http, hosts, is_here
from toolwright.shell.outward.names import by_name_of_script, by_verb_of_unknown, is_script, is_unknown, plain_program
from toolwright.shell.outward.places import places_in
from toolwright.shell.outward.queries import ending_word, of_query, of_script
from toolwright.shell.outward.rows import Fit, by_rows, by_verbs, fits_option
from toolwright.shell.outward.table import ProgramSection, program_named, verbs
from toolwright.shell.outward.words import Words, told_apart

Remote = Callable[[str, bool], Fit]
"""A function that judges a command line run elsewhere; the flag says whether that is another machine."""

_LOWERS = ("--dry-run", "--dryrun", "--dry_run", "--help", "-help", "--list-only")
_NO = ("none", "false", "0", "no")
_RAISES = ("--force", "--delete", "--prune", "--purge", "--destroy", "--wipe", "--hard", "--reset", "--delete-all")
HANDED = 8
"""The most texts that are looked at that a program which no table has may run."""
LONGEST = 1000
"""Characters of such a word, and words of such a command."""
_STARTS = frozenset({"exec", "run", "--"})
"""Words of an unknown program behind which a command follows."""
_CONTAINERS = ("docker", "podman", "nerdctl")
_BY_SHELL = ("@host", "ssh")
"""Marks that are followed by a line for a shell on the other side; after others come the words of a command."""
_TERMINAL = ("-t", "-it", "-ti")
"""Of `docker run` and `docker exec`; elsewhere `-t` takes a word."""
_VERSION = ("--version", "--help", "-V", "-h", "-help", "-version")
_MODULE = re.compile(r"python[\d.]*|pypy\d*|py")
_RUNNING = ("deno", "bun")
"""Interpreters that have subcommands of their own."""
_BASES = ("alpine",)
"""Images that are no program, though they have the name of one."""
CODE = ("-c", "-e", "-E", "--eval", "-p", "--print", "-r", "-Command", "-command", "--command")
"""Options of interpreters that are followed by code."""
INTERPRETER = re.compile(
    r"(?:python|pypy|node|ruby|perl|php|deno|bun|tsx|ts-node|lua|Rscript|julia)[\d.]*|pwsh|powershell|osascript|bash|sh|zsh|dash|ksh"
)


def act_of(words: Sequence[str], *, stdin: str | None, remote: Remote) -> Act | None:
    """The act of a call; None where nothing is known of its program. `stdin` is what it is fed, empty if unknown."""
    name, arguments = _program(words)
    program = program_named(name)
    if program is None:
        if INTERPRETER.fullmatch(name) and (judged_code := of_code(_code_in(arguments, stdin))) is not None:
            fit, to = judged_code
            return Act(kind=fit.kind, program=name, words=(name, *fit.words), on=", ".join(to), to=to)
        fits = (
            by_name_of_script(name, arguments),
            by_verb_of_unknown(name, arguments),
            _handed_on(name, arguments, remote),
        )
        judged = max(filter(None, fits), key=lambda fit: RANKS[fit.kind], default=None)
        return Act(kind=judged.kind, program=name, words=(name, *judged.words)) if judged is not None else None
    if name in _CONTAINERS and {*arguments[:2]} & {"run", "exec"}:
        arguments = [one for one in arguments if one not in _TERMINAL]
    flags = {one for row in program.rows for token in row.options for one in token.partition("=")[0].split("|")}
    flags |= {*program.listed("lowers"), *program.listed("raises"), *program.listed("reading")}
    takes = program.listed("values")
    sorted_words = told_apart(arguments, takes, flags - set(takes))
    fit = _fit(name, program, sorted_words, stdin=stdin, remote=remote)
    fit = _by_options(program, sorted_words, fit)
    to = places_in(name, program, sorted_words) if fit.kind in OUTWARD else ()
    foreign = program.has("texts") and fit.kind in OUTWARD
    words = (name, *fit.words)
    return Act(
        kind=fit.kind, program=name, words=words, on=_target(name, program, sorted_words), to=to, foreign=foreign
    )


def _handed_on(name: str, arguments: Sequence[str], remote: Remote) -> Fit | None:
    """Judge what a program that no table has may run for its caller: words that are a command, or one that holds it."""
    if not is_unknown(name):
        return None
    texts = islice(_handed_texts(arguments), HANDED)
    return next((fit for text in texts if RANKS[(fit := remote(text, False)).kind] >= RANKS["changes"]), None)


def _handed_texts(arguments: Sequence[str]) -> Iterator[str]:
    known = {*verbs().first, *verbs().any, *verbs().last}
    for place, word in enumerate(arguments):
        begins = place == 0 or arguments[place - 1][:1] == "-" or not _STARTS.isdisjoint(arguments[:place])
        if begins and word not in known and program_named(word) is not None:
            yield " ".join(arguments[place : place + LONGEST])
        elif " " in word and len(word) <= LONGEST:
            yield word


def _code_in(arguments: Sequence[str], stdin: str | None) -> str:
    """The code in the words of an interpreter, or what it is fed."""
    codes = [code for option, code in pairwise(arguments) if option in CODE]
    return "\n".join(codes) if codes else (stdin or "")


def _program(words: Sequence[str]) -> tuple[str, Sequence[str]]:
    """The program and its arguments; `python -m twine` is twine, `node deploy.js` the script."""
    name, arguments = plain_program(words[0]), list(words[1:])
    name = "mkfs" if name.startswith("mkfs.") else name
    if _MODULE.fullmatch(name) and "-m" in arguments[:3]:
        rest = arguments[arguments.index("-m") + 1 :]
        return (plain_program(rest[0]), rest[1:]) if rest else (name, arguments)
    if INTERPRETER.fullmatch(name) and not any(one in ("-c", "-e") for one in arguments[:2]):
        place = next((at for at, one in enumerate(arguments) if not one.startswith("-")), len(arguments))
        script = arguments[place] if place < len(arguments) else ""
        if is_script(script) or (name not in _RUNNING and program_named(script) is not None):
            return script, arguments[place + 1 :]
    return (words[0] if is_script(words[0]) else name), arguments


def _fit(name: str, program: ProgramSection, words: Words, *, stdin: str | None, remote: Remote) -> Fit:
    fed = stdin is not None
    row = by_rows(program, words, fed=fed)
    ruled = row is not None and (row.kind in ("nothing", "final") or any(one[:1] == "-" for one in row.words))
    if program.has("scripts") and (fit := _of_scripts(program, words, row)) is not None:
        return fit
    if not ruled and (fit := _behind(program, words, stdin=stdin, remote=remote)) is not None:
        image = _of_image(name, words, stdin=stdin, remote=remote) if name in _CONTAINERS else None
        return max(filter(None, (fit, image)), key=lambda one: RANKS[one.kind])
    if program.has("http") and not ruled and calls_http(program, words):
        return by_method(program, words, fed=fed)
    if (program.has("sql") or program.has("script")) and not ruled:
        return _queried(program, words, row, stdin)
    if row is not None:
        return row
    if program.otherwise is not None and (words.operands or words.options or fed):
        return _taking_away(program, words) or Fit(kind=program.otherwise, words=words.operands[:1])
    if not words.operands:
        return Fit(kind="nothing")
    return by_verbs(program, words) or Fit(kind="changes", words=words.operands[:1])


def _taking_away(program: ProgramSection, words: Words) -> Fit | None:
    """Judge a subcommand that takes something away by its own words, of a program whose others are changes."""
    fit = by_verbs(program, words) if program.otherwise == "changes" else None
    named = fit.words[-1] if fit is not None and fit.kind == "final" else ""
    return fit if named and not set(named) & set("./:=") else None


def _of_scripts(program: ProgramSection, words: Words, row: Fit | None) -> Fit | None:
    runs = program.listed("scripts")
    named = words.operands[1:] if words.operands[:1] and words.operands[0] in runs else ()
    if not named and (row is None or row.kind == "here"):
        named = words.operands[:1] if "*" not in runs else words.operands
    fits = [fit for one in named if (fit := by_name_of_script(one, (), plain=True)) is not None]
    return max(fits, key=lambda fit: RANKS[fit.kind], default=None)


def _behind(program: ProgramSection, words: Words, *, stdin: str | None, remote: Remote) -> Fit | None:
    """The command that follows: behind a host or a container, or at once."""
    for name, elsewhere, skipped in (("remote", True, 1), ("inside", False, 1), ("wraps", False, 0)):
        for head in (one.split() for one in " ".join(program.listed(name)).split(",") if one):
            start = 0 if head == ["@host"] else len(head)
            if list(words.operands[:start]) != (head if start else []):
                continue
            start += skipped
            if elsewhere and not words.operands[start:] and (lines := words.values("--command", "-C")):
                there = remote(lines[-1], elsewhere)
                return Fit(kind=there.kind, words=(*words.operands[: start - skipped], *there.words))
            if elsewhere and not words.operands[start:] and stdin:
                return Fit(kind=strictest([remote(stdin, elsewhere).kind, "changes"]), words=words.operands[:1])
            if not words.operands[start:]:
                # what is said in a session there is not seen
                return Fit(kind="changes" if elsewhere else "here", words=words.operands[:1])
            rest = words.given[words.places[start] :]
            line = shlex.join(rest) if len(rest) > 1 and skipped and head[-1] not in _BY_SHELL else " ".join(rest)
            feed = "" if stdin is None else f" <<< {shlex.quote(stdin)}" if stdin else " < /dev/stdin"
            there = remote(line + feed, elsewhere)
            kind = strictest([there.kind, "changes"]) if stdin is not None and elsewhere else there.kind
            return Fit(kind=kind, words=(*words.operands[:start], *there.words))
    return None


def _queried(program: ProgramSection, words: Words, row: Fit | None, stdin: str | None) -> Fit:
    """A program that runs queries: those in its words, in files, or that it is fed."""
    kinds = [row.kind if row is not None else "reads"]
    read = of_query if program.has("sql") else of_script
    texts = words.values(*program.listed("sql"), *program.listed("script"))
    texts += [one for one in words.operands if " " in one]
    kinds += [read(text) for text in texts]
    if words.has(*program.listed("files")) or any(one.endswith((".js", ".sql", ".mongo")) for one in words.operands):
        kinds.append("changes")
    if stdin is not None and not texts:
        kinds.append(read(stdin) if stdin else "changes")
    if row is None and not texts and (fit := by_verbs(program, words)) is not None:
        kinds.append(fit.kind)
    kind = strictest(kinds)
    ending = next(filter(None, map(ending_word, (*texts, stdin or ""))), "") if kind == "final" else ""
    return Fit(kind=kind, words=(*(row.words if row is not None else ()), *filter(None, [ending])))


def _of_image(name: str, words: Words, *, stdin: str | None, remote: Remote) -> Fit | None:
    """`docker run amazon/aws-cli s3 rm x` does what that program does."""
    run, image = (*words.operands, "", "")[:2]
    program = posixpath.basename(image.partition("@")[0]).partition(":")[0]
    for candidate in (program, program.removesuffix("-cli")):
        if run == "run" and candidate not in ("", name, *_BASES) and program_named(candidate) is not None:
            act = act_of([candidate, *words.given[words.places[1] + 1 :]], stdin=stdin, remote=remote)
            return Fit(kind=act.kind, words=("run", image)) if act is not None else None
    return None


def _by_options(program: ProgramSection, words: Words, fit: Fit) -> Fit:
    """Options that have it look only, or make it final."""
    lowers = (*_LOWERS, *program.listed("lowers"))
    looks = any(one.name in lowers and one.value not in _NO for one in words.options)
    takes = program.listed("values")
    asks = not words.operands and any(one.name in _VERSION and one.name not in takes for one in words.options)
    if asks or (words.given[-1:] == ("-h",) and "-h" not in takes) or words.operands[-1:] == ("help",):
        return Fit(kind="nothing", words=fit.words)
    looks = looks or any(fits_option(one, words.options) for one in lowers if "=" in one)
    if looks:
        return Fit(kind=min(fit.kind, "reads", key=RANKS.__getitem__), words=fit.words)
    raised = next((one.name for one in words.options if one.name in (*_RAISES, *program.listed("raises"))), "")
    if fit.kind == "changes" and raised:
        return Fit(kind="final", words=(*(word for word in fit.words if word != raised), raised))
    return fit


def _target(name: str, program: ProgramSection, words: Words) -> str:
    """Return what it acts on: the kind of thing, and which one where the words say it."""
    values = [f"{one.name} {one.value}" for one in words.options if one.name in program.listed("shows") and one.value]
    if program.has("http"):
        named = [] if program.on else hosts(words)
        return ", ".join(named) or program.on or ("this machine" if is_here(words.operands) else "a server")
    if program.listed("remote")[:1] == ("@host",) and words.operands:
        return f"the machine {words.operands[0].rpartition('@')[2]}"
    if name == "git" and len(words.operands) > 1 and words.operands[0] == "push":
        return f"the remote {words.operands[1]}"
    return f"{program.on} ({', '.join(values)})" if values and program.on else program.on
