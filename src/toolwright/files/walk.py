"""Going through folders without ripgrep: the files in them, and the lines that match."""

import codecs
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import islice
from pathlib import Path

from toolwright.files.dialect import PatternError, translate
from toolwright.files.disk import LOADABLE
from toolwright.files.globs import Glob, parse_glob
from toolwright.files.ignore import Ignore
from toolwright.files.query import COUNTED, LINES, Matches, Query, Run, StartError

_REPEATS = re.compile(r"[*+?{]")
_CHILD = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from toolwright.files.walk import main; main()"


class FolderWalker:
    """Searches with what Python has, for machines without ripgrep. Slower, with the same answers."""

    def files(self, folder: Path, run: Run, *, ignored: bool) -> Iterator[str]:
        yield from _walk(folder, run, ignored=ignored, chosen=[], prefix="")

    def matches(self, query: Query, run: Run) -> Iterator[Matches]:
        source = re.escape(query.pattern) if query.literal else query.pattern
        regex = translate(source)
        if query.literal or not _REPEATS.search(query.pattern):
            return _search(query, regex, run)
        return _search_apart(query, run)


def main() -> None:
    """Search in a process of its own: what to search comes in, what is found goes out, a line of JSON each."""
    given = json.load(sys.stdin)
    query = Query(**given | {"base": Path(given["base"]), "include": tuple(given["include"])})
    run = Run()
    for path, total, lines in _search(query, translate(query.pattern), run):
        sys.stdout.write(json.dumps([path, total, lines.decode("latin-1")]) + "\n")
    sys.stdout.write(json.dumps(run.skipped) + "\n")


def _search_apart(query: Query, run: Run) -> Iterator[Matches]:
    """Python can take for ever over a pattern that repeats, and holds up all else meanwhile; a process can be ended."""
    try:
        process = subprocess.Popen(
            [sys.executable, "-I", "-c", _CHILD, json.dumps(sys.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        raise StartError(error.errno, error.strerror) from error
    with process, run.killing(process.kill):
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(asdict(query) | {"base": str(query.base)}).encode())
        process.stdin.close()
        answer: object = None
        for line in process.stdout:
            answer = json.loads(line)
            if isinstance(answer, list):
                path, total, lines = answer
                yield Matches(path, total, lines.encode("latin-1"))
        if not isinstance(answer, bool) and not run.ended:
            raise PatternError("it cannot be searched for without ripgrep")
        run.skipped = run.skipped or answer is True


def _search(query: Query, regex: re.Pattern[str], run: Run) -> Iterator[Matches]:
    single = not (query.base / query.start).is_dir()
    for path in [query.start] if single else _candidates(query, run):
        if run.ended:
            return
        try:
            text = _text_of(query.base / path, binary_too=single)
        except OSError:
            run.skipped = True
            continue
        if text and (found := _matching(text, regex, crlf=query.crlf)):
            yield Matches(path, len(found), b"\n".join(found[:LINES]))


def _candidates(query: Query, run: Run) -> Iterator[str]:
    prefix = "" if query.start == "." else f"{query.start}/"
    chosen = [parse_glob(text) for text in query.include]
    for path in _walk(query.base / query.start, run, ignored=query.ignored, chosen=chosen, prefix=prefix):
        yield prefix + path


def _walk(root: Path, run: Run, *, ignored: bool, chosen: Sequence[Glob], prefix: str) -> Iterator[str]:
    """Every file that is not hidden by a rule. `prefix` leads from where the chosen patterns start to the root."""
    top = str(root).rstrip("/")
    folders = [("", Ignore() if ignored else Ignore.above(root))]
    while folders and not run.ended:
        inside, ignore = folders.pop()
        try:
            entries = list(os.scandir(f"{top}/{inside}"))
        except OSError:
            run.skipped = True
            continue
        if not ignored:
            ignore = ignore.enter(f"{top}/{inside}".rstrip("/"), (entry.name for entry in entries))
        for entry in entries:
            folder, path = entry.is_dir(follow_symlinks=False), inside + entry.name
            if entry.name == ".git" or not (folder or entry.is_file(follow_symlinks=False)):
                continue
            if _hidden(f"{top}/{path}", prefix + path, ignore, chosen, folder=folder):
                continue
            if folder:
                folders.append((f"{path}/", ignore))
            else:
                yield path


def _hidden(full: str, path: str, ignore: Ignore, chosen: Sequence[Glob], *, folder: bool) -> bool:
    """What was asked for by name wins over the ignore files, and the last word on it over the earlier ones."""
    decisive = next((glob for glob in reversed(chosen) if glob.fits(path, folder=folder)), None)
    if decisive is not None:
        return decisive.negated
    if not folder and not all(glob.negated for glob in chosen):
        return True
    return ignore.hides(full, folder=folder)


def _text_of(path: Path, *, binary_too: bool) -> str:
    """The text as ripgrep sees it: by its byte order mark, or else as UTF-8; empty for what is no text."""
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(handle, "rb", buffering=0) as file:
        data = file.read(LOADABLE) or b""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16", "replace")
    if b"\0" in data and not binary_too:
        return ""
    return data.removeprefix(codecs.BOM_UTF8).decode("utf-8", "surrogateescape")


def _matching(text: str, regex: re.Pattern[str], *, crlf: bool) -> list[bytes]:
    """The lines as `number:offset:text`. Only `\\n` ends one; with `crlf` no return before it is looked at."""
    lines = text.removesuffix("\n").split("\n")
    looked_at = [line.removesuffix("\r") for line in lines] if crlf else lines
    numbers = islice((number for number, line in enumerate(looked_at) if regex.search(line)), COUNTED)
    found, offset, counted = list[bytes](), 0, 0
    for number in numbers:
        offset += sum(len(_encoded(line)) + 1 for line in lines[counted:number])
        counted = number
        found.append(b"%d:%d:%b" % (number + 1, offset, _encoded(lines[number])))
    return found


def _encoded(line: str) -> bytes:
    return line.encode("utf-8", "surrogateescape")
