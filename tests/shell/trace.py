"""What a command line really did: its programs and its file operations, as strace saw them."""

import os
import posixpath
import re
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

CALLS = (
    "execve,openat,open,creat,unlink,unlinkat,rename,renameat,renameat2,mkdir,mkdirat,rmdir,truncate,link,linkat,"
    "symlink,symlinkat,chmod,fchmodat,utimensat,chdir,fchdir,clone,clone3,fork,vfork"
)
TIMEOUT = 20

_CALL = re.compile(r"(\w+)\((.*)\) += (-?\d+|\?)")
_TEXT = re.compile(r'"((?:[^"\\]|\\.)*)"')
_AT = re.compile(r'(?:AT_FDCWD|\d+)<([^>]*)>, "((?:[^"\\]|\\.)*)"')
_ESCAPE = re.compile(r"\\([0-7]{1,3}|.)")
_FORKS = ("clone", "clone3", "fork", "vfork")


@dataclass(slots=True)
class Trace:
    programs: set[str] = field(default_factory=set[str])
    """The base names of everything that was executed, but for the shell that was started."""
    changed: set[str] = field(default_factory=set[str])
    """Every path that was opened for writing, made, renamed, deleted or given other attributes."""
    read: set[str] = field(default_factory=set[str])


def trace(command: str, folder: Path, logs: Path, environment: dict[str, str]) -> Trace:
    """Run the command in the folder and say what it did. Failed attempts do not count."""
    logs.mkdir()
    # a line such as `tee -a f < f` would otherwise never end
    limits = ["prlimit", "--fsize=2000000", "--cpu=5"]
    program = [
        *limits,
        "strace",
        "-ff",
        "-qq",
        "-y",
        "--seccomp-bpf",
        "-s",
        "4096",
        "-o",
        str(logs / "t"),
        "-e",
        f"trace={CALLS}",
    ]
    process = subprocess.Popen(
        [*program, "bash", "-c", command],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        process.wait(TIMEOUT)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    found = Trace()
    files = {int(path.suffix[1:]): path for path in logs.iterdir()}
    first = min(files)
    _follow(first, str(folder), files, found, top=True)
    return found


def _follow(pid: int, folder: str, files: dict[int, Path], found: Trace, *, top: bool = False) -> None:
    """One process from its start in `folder`, then those it started, each from where it was by then."""
    path = files.pop(pid, None)
    if path is None:
        return
    for name, arguments, result in _calls(path):
        if result < 0:
            continue
        if name in _FORKS:
            _follow(result, folder, files, found)
        elif name == "chdir":
            folder = posixpath.join(folder, _plain(_TEXT.findall(arguments)[0]))
        elif name == "fchdir":
            folder = arguments.partition("<")[2].rpartition(">")[0]
        elif name == "execve":
            if not top:
                found.programs.add(posixpath.basename(_plain(_TEXT.findall(arguments)[0])))
            top = False
        else:
            _note(name, arguments, folder, found)


def _calls(path: Path) -> Iterator[tuple[str, str, int]]:
    for line in path.read_text("utf-8", "surrogateescape").splitlines():
        match = _CALL.match(line)
        if match is not None and match.group(3) != "?":
            yield match.group(1), match.group(2), int(match.group(3))


def _note(name: str, arguments: str, folder: str, found: Trace) -> None:
    at = [(place, _plain(text)) for place, text in _AT.findall(arguments)]
    texts = [(folder, _plain(text)) for text in _TEXT.findall(arguments)]
    paths = [posixpath.join(place, text) for place, text in at or texts]
    if name.startswith("symlink"):
        paths = paths[-1:]
    if name in ("openat", "open") and not re.search(r"O_WRONLY|O_RDWR|O_CREAT|O_TRUNC", arguments):
        found.read.update(paths)
    else:
        found.changed.update(paths)


def _plain(text: str) -> str:
    """The bytes of a name that strace has quoted."""
    simple = {"n": "\n", "t": "\t", '"': '"', "\\": "\\", "r": "\r", "v": "\v", "f": "\f"}

    def unescape(match: re.Match[str]) -> str:
        code = match.group(1)
        return simple[code] if code in simple else chr(int(code, 8))

    return _ESCAPE.sub(unescape, text).encode("latin-1", "replace").decode("utf-8", "replace")
