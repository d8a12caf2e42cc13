"""The file and search tools: beside bare rg, sed and Python, and beside the reference in the same run.

python bench/files.py [--files 1000 20000] [--megabytes 200] [--no-reference]
"""

import argparse
import asyncio
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import files_edit
import files_read
import files_search
from reference import Reference, references

from toolwright.definition import Call
from toolwright.protocols.json_types import Json
from toolwright.session.session import Session
from toolwright.testing import make_session

CallList = list[tuple[str, Json]]


def main(options: argparse.Namespace) -> None:
    print("Edits")
    asyncio.run(files_edit.main())
    print("\nReads")
    asyncio.run(files_read.main(options.megabytes))
    print("\nSearch")
    asyncio.run(files_search.main(options.files))
    if not options.no_reference:
        print("\nBeside the reference: milliseconds of the same call; `-` where it failed or did not end")
        beside_reference(references(), options)


def beside_reference(others: list[Reference], options: argparse.Namespace) -> None:
    print(f"{'':44} {'toolwright':>12} " + " ".join(f"{one.name:>18}" for one in others))
    for name, prepare in _cases(options).items():
        with tempfile.TemporaryDirectory() as folder:
            project = Path(folder) / "project"
            (project / ".git").mkdir(parents=True)
            ours = asyncio.run(_ours(make_session(project), project, prepare))
            theirs = [_theirs(one, project, prepare) for one in others]
            print(f"{name:44} {ours:9.1f} ms " + " ".join(f"{_shown(one):>18}" for one in theirs), flush=True)


async def _ours(session: Session, project: Path, prepare: Callable[[Path], CallList]) -> float:
    """The last call is the one that counts, the second time: those before it read the file and warm the process."""
    taken = 0.0
    for _ in range(2):
        for tool, arguments in prepare(project):
            started = time.perf_counter()
            await session.run_call(Call(id="c", tool=tool, arguments=arguments))
            taken = (time.perf_counter() - started) * 1000
    return taken


def _theirs(one: Reference, project: Path, prepare: Callable[[Path], CallList]) -> float | None:
    calls = prepare(project)
    with one.serving(project) as server:
        times = server.calls(calls, timeout=120)
    return times[-1].ms if len(times) == len(calls) else None


def _shown(ms: float | None) -> str:
    return "-" if ms is None else f"{ms:.0f} ms"


def _cases(options: argparse.Namespace) -> dict[str, Callable[[Path], CallList]]:
    def edit(text: str, old: str, new: str) -> Callable[[Path], CallList]:
        def prepare(project: Path) -> CallList:
            path = project / "file.py"
            path.write_text(text)
            change = {"filePath": str(path), "oldString": old, "newString": new}
            return [("read", {"filePath": str(path), "limit": 5}), ("edit", change)]

        return prepare

    def search(tool: str, arguments: Json) -> Callable[[Path], CallList]:
        def prepare(project: Path) -> CallList:
            if not (project / "tree").exists():
                files_search.make_tree(project / "tree", options.files[-1])
            return [(tool, arguments)]

        return prepare

    def read(offset: int, limit: int) -> Callable[[Path], CallList]:
        def prepare(project: Path) -> CallList:
            path = project / "lines.txt"
            if not path.exists():
                files_read.make_lines(path, options.megabytes * 1_000_000)
            return [("read", {"filePath": str(path), "offset": offset, "limit": limit})]

        return prepare

    count = 100_000 // files_edit.LINES_PER_FUNCTION
    text = "".join(map(files_edit.function, range(count)))
    target = files_edit.function(count * 3 // 4)
    loose = "\n".join(line.strip() for line in target.splitlines()[:-1])
    return {
        "exact edit, 100,000 lines": edit(text, target, target.replace("return a", "return b")),
        "whitespace edit, 100,000 lines": edit(text, loose, loose.replace("return a", "return b")),
        "edit not found, 100,000 lines": edit(text, "no such line\nnor this\nat all", "x"),
        f"first 50 lines of {options.megabytes} MB": read(1, 50),
        f"rare grep, {options.files[-1]:,} files": search("grep", {"pattern": "NEEDLE_"}),
        f"common grep, {options.files[-1]:,} files": search("grep", {"pattern": "return total"}),
        f"glob, {options.files[-1]:,} files": search("glob", {"pattern": "**/*.py"}),
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--files", type=int, nargs="+", default=[1000, 20_000])
    parser.add_argument("--megabytes", type=int, default=200)
    parser.add_argument("--no-reference", action="store_true", help="only the limits of this machine")
    main(parser.parse_args())
