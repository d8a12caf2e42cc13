"""Random scripts, read by the analysis and run by bash: whatever bash did, the analysis must have said.

Every program that bash can find is a stand-in that writes down its name and arguments; no script may name a path, so
nothing else can run. Run: python -m tests.attacks.fuzz_shell --seconds 60 --seed 1
"""

import argparse
import contextlib
import fnmatch
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.attacks.shell.catalogue import ATTACKS
from tests.shell.samples import DELETES_VICTIM, HIDDEN_CODE, WRITES_WITHOUT_COMMAND
from toolwright.shell import Analysis, analyse

SILENT = ("rm", "git", "ls", "touch", "cp", "mv", "foo", "find", "sed", "awk", "python3", "sudo", "make", "tee", "sort")
"""Stand-ins that do nothing."""
PASSING = ("cat", "env", "xargs", "head", "tr", "true", "nice", "timeout", "nohup", "bash", "sh")
"""Stand-ins that go on to do what the real one does."""
TIMEOUT = 2
_END = "that-is-all"
"""Ends each line of the log."""
LONGEST = 240
_NOBODY = 65534
_PIPE = re.compile(r"/dev/fd/\d+")
"""The numbers of pipes are given out as they come."""
_FORBIDDEN = (
    "/",
    "~",
    "kill",
    "suspend",
    "ulimit",
    "exec {",
    "coproc",
    "logout",
    "PWD",
    "HOME",
    "fc ",
    "bind",
    "disown",
)
"""What a script may not hold: paths, and builtins that reach beyond it."""

PIECES = (
    "rm",
    "victim",
    "ls",
    "x",
    "$x",
    '"$x"',
    "${x}",
    "${x%m}",
    "${x:-rm}",
    "x=rm",
    "x=ls",
    "x+=m",
    "y=$x",
    "echo",
    "cat",
    "foo",
    "printf",
    "%s",
    "'",
    '"',
    "`",
    "$",
    "$(",
    ")",
    "$((",
    "))",
    "${",
    "}",
    "{",
    "(",
    "[[",
    "]]",
    "[",
    "]",
    "((",
    "\\",
    "\\\n",
    "|",
    "||",
    "&&",
    "&",
    ";",
    "\n",
    " ",
    "\t",
    "<",
    ">",
    ">>",
    "<<<",
    "<<E",
    "\nE\n",
    "<<'E'",
    "<<-E",
    "<(",
    ">(",
    ">&",
    "<&",
    "-",
    "2",
    "#",
    "!",
    "=",
    "+=",
    "*",
    "?",
    "[a-z]",
    "{a,b}",
    "{1..3}",
    "if ",
    "then ",
    "else ",
    "fi",
    "for x in ",
    "do ",
    "done",
    "while ",
    "case ",
    " in ",
    "esac",
    ";;",
    "f() ",
    "f",
    "function ",
    "local ",
    "declare ",
    "export ",
    "readonly ",
    "unset ",
    "eval ",
    "set -- ",
    "read x",
    "test ",
    "true",
    "false",
    "env ",
    "command ",
    "builtin ",
    "sh -c ",
    "bash -c ",
    "xargs ",
    "shift",
    "return",
    "break",
    "$'\\x72m'",
    "$'",
    '$"',
    "a",
    "1",
    "@",
    "$@",
    "$1",
    "$#",
    "_",
    "$_",
    ":",
    ",",
    "%",
    "^",
    "-c",
    "-n",
    "--",
    "IFS=",
    "set -e",
    "trap ",
    *(
        "x=(",
        "x[0]=",
        "${x[0]}",
        "${x[@]}",
        '"${x[@]}"',
        "${!x}",
        "${#x}",
        "${x:0:1}",
        "${x/r/l}",
        "${x//s/m}",
        "${x^^}",
    ),
    *(
        "${x,,}",
        "${x@Q}",
        "${x@E}",
        "${x@A}",
        "${x@P}",
        "${x#r}",
        "${x:=rm}",
        "${x:+ls}",
        "x=r",
        "y=m",
        "$x$y",
        "${x}m",
    ),
    *(
        "declare -n r=x;",
        "declare -i ",
        "declare -a ",
        "declare -l ",
        "local -n ",
        "printf -v x ",
        "mapfile -t x",
        "read -ra x",
    ),
    *(
        "let ",
        "((x=1))",
        "((IFS=1))",
        "((x++))",
        "$((x=1))",
        "$[",
        "x=rm1victim",
        "IFS=1 ",
        "for ((i=0;i<2;i++)); do ",
        "i",
    ),
    *(
        "[[ -v ",
        "[[ $x == ",
        " =~ ",
        "-eq ",
        "-v ",
        "until ",
        "select x in ",
        "elif ",
        ";&",
        ";;&",
        "|&",
        "&>",
        ">|",
        "<>",
    ),
    *("{x}<", "3<", "<&3", "0<", "<<\\E", "<<E$", "$-", "$?", "$!", "$*", "$0", "${@:1}", "${*%m}", "set -f", "set -u"),
    *(
        "set +e",
        "shopt -s nullglob;",
        "shopt -s extglob;",
        "@(rm|ls)",
        "!(x)",
        "time ",
        "exec ",
        "exec -a x ",
        "command -p ",
    ),
    *(
        "builtin eval ",
        "eval -- ",
        "source x",
        ". x",
        "getopts a x ",
        "wait -p x",
        "unset -n r",
        "alias ls=rm",
        "hash -r",
    ),
    *(
        "trap 'rm victim' EXIT",
        "trap 'rm victim' DEBUG",
        "PS4='$(rm victim)'",
        "set -x",
        "set -- rm victim",
        "$'\\''",
        "$'\\n'",
    ),
    *(
        "\r",
        "\v",
        "\f",
        "\u00a0",
        "\u00e9",
        "\x01",
        "\x7f",
        "$'\\cm'",
        "$'\\u72m'",
        "\\r\\m",
        "r\\\nm",
        "{r,l}{m,s}",
        "{rm,victim}",
    ),
    *(
        "function f {",
        "f() (",
        "f()((",
        "f() [[",
        "\"${x:-'rm'}\"",
        "\"${x#'r'}\"",
        '"${x:-"rm"}"',
        '"${x%"${x#r}"}"',
        "${!x:-rm}",
        "[[ x =~ a|",
        "$(cat <<E\n",
        "\nE)",
        "{x[0]}<",
        "pushd -n ",
        "popd -n ",
        "uniq ",
        "return 1",
        "continue",
        "exit",
        "pushd ",
        "test -v ",
        "[ -n ",
        " -a ",
        " -o ",
    ),
)


@dataclass(slots=True)
class Score:
    """What a run has come to."""

    scripts: int = 0
    understood: int = 0
    surprises: list[str] | None = None

    def note(self, surprise: str) -> None:
        self.surprises = [*(self.surprises or []), surprise]


class Range:
    """A folder in which scripts are run, with the stand-ins and their log."""

    def __init__(self, base: Path) -> None:
        base.chmod(0o755)
        self.programs = base / "programs"
        self.work = base / "work"
        self.log = base / "log"
        self.start = base / "start"
        self.programs.mkdir()
        self.log.touch()
        self.log.chmod(0o666)
        self.start.write_text("enable -n kill suspend ulimit bind fc\n")
        for name in (*SILENT, *PASSING):
            self._stand_in(name)

    def _stand_in(self, name: str) -> None:
        real = shutil.which(name) if name in PASSING else None
        after = f'exec {real} "$@"' if real else "exit 0"
        path = self.programs / name
        path.write_text(f"#!/bin/sh\nprintf '%s\\0' {name} \"$@\" {_END} >> {self.log}\n{after}\n")
        path.chmod(0o755)

    def run(self, script: str) -> tuple[list[list[str]], list[str]]:
        """The calls that bash made and the files it left behind."""
        shutil.rmtree(self.work, ignore_errors=True)
        self.work.mkdir()
        self.work.chmod(0o777)
        for name in ("victim", "x", "a"):
            (self.work / name).write_text(":\n")
            (self.work / name).chmod(0o666)
        self.log.write_text("")
        environment = {"PATH": str(self.programs), "BASH_ENV": str(self.start), "LC_ALL": "C"}
        process = subprocess.Popen(
            ["/bin/bash", "--norc", "--noprofile", "-c", script],
            cwd=self.work,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            preexec_fn=_confine,
        )
        try:
            process.wait(TIMEOUT)
        except subprocess.TimeoutExpired:
            pass
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        # what follows the last end was cut off when the script was stopped
        *whole, _ = self.log.read_bytes().decode("utf-8", "replace").split(f"\0{_END}\0")
        calls = [line.split("\0") for line in whole]
        changed = [
            path.name
            for path in self.work.iterdir()
            if path.name not in ("victim", "x", "a") or path.read_bytes() != b":\n"
        ]
        return calls, changed


def _confine() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (2, 2))
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(_NOBODY)
        os.setuid(_NOBODY)
    resource.setrlimit(resource.RLIMIT_NPROC, (512, 512))


def scripts(chance: random.Random) -> Iterator[str]:
    """Known scripts, changed at random: pieces put in, taken out, exchanged, and two joined; and pieces alone."""
    seeds = [one for one in (*DELETES_VICTIM, *HIDDEN_CODE, *WRITES_WITHOUT_COMMAND) if _may_run(one)]
    seeds += [one.command for one in ATTACKS if one.kind.startswith(("14", "15")) and _may_run(one.command)]
    while True:
        script = chance.choice(seeds)
        if chance.random() < 0.2:
            ends = ("", " ", " ", "; ", "\n")
            script = "".join(chance.choice(PIECES) + chance.choice(ends) for _ in range(chance.randrange(3, 12)))
        if chance.random() < 0.3:
            script += chance.choice(("; ", "\n", " | ", " && ", " ")) + chance.choice(seeds)
        for _ in range(chance.choice((1, 1, 2, 3, 5))):
            script = _changed(script, chance)
        if len(script) <= LONGEST and _may_run(script):
            yield script


def _changed(script: str, chance: random.Random) -> str:
    start = chance.randrange(len(script) + 1)
    end = min(len(script), start + chance.choice((0, 0, 0, 1, 1, 2, 4)))
    return script[:start] + chance.choice((*PIECES, "")) + script[end:]


def _may_run(script: str) -> bool:
    return not any(word in script for word in _FORBIDDEN) and "\0" not in script


def surprise(script: str, analysis: Analysis, field: Range) -> str:
    """What bash did that the analysis had not said, in words; nothing if all was foretold."""
    calls, changed = field.run(script)
    texts = [text for one in analysis.commands for text in (one.shown, *one.implied)]
    plain = [text.split(" ") for text in texts]
    problems = []
    for call in calls:
        text = _PIPE.sub("/dev/fd/63", " ".join(call))
        open_ended = any(words[0] == call[0] and set(" ".join(words)) & set("$*?`[{") for words in plain)
        script_file = any(path.endswith(f"/{call[0]}") for path in analysis.paths("read", "take", "carry"))
        if text not in texts and not open_ended and not script_file:
            problems.append(f"ran {text!r}")
    for name in changed:
        path = str(field.work / name)
        if not any(path == one or fnmatch.fnmatchcase(path, one) for one in analysis.paths("write", "delete")):
            problems.append(f"wrote {name!r}")
    return f"{script!r}: {', '.join(problems)}" if problems else ""


def fuzz(*, seed: int, seconds: float | None = None, count: int | None = None) -> Score:
    """Go on for so long, or for so many scripts."""
    score, chance = Score(surprises=[]), random.Random(seed)
    end = time.monotonic() + seconds if seconds is not None else None
    with tempfile.TemporaryDirectory() as folder:
        field = Range(Path(folder))
        for script in scripts(chance):
            if (end is not None and time.monotonic() > end) or (count is not None and score.scripts >= count):
                return score
            score.scripts += 1
            analysis = analyse(script, cwd=str(field.work), home="/nowhere")
            if analysis.verdict != "understood":
                continue
            score.understood += 1
            # What a script before has left behind may still be at work, once.
            if surprise(script, analysis, field) and (found := surprise(script, analysis, field)):
                score.note(found)
    return score


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    score = fuzz(seed=given.seed, seconds=given.seconds)
    sys.stdout.write(
        f"{score.scripts} scripts, {score.understood} understood and run, {len(score.surprises or [])} surprises\n"
    )
    for line in score.surprises or []:
        sys.stdout.write(f"{line}\n")
    sys.exit(1 if score.surprises else 0)


if __name__ == "__main__":
    main()
