"""Edits with a model's usual mistakes: how many are done as meant, refused, or done otherwise.

python bench/edits.py [--count N] [--seed S]            ours, in the three settings of `edit.drift`, and the reference
python bench/edits.py --program COMMAND                 another program: it reads a case as one JSON line (`before`,
                                                        `oldString`, `newString`) and answers with one, `{"after": ...}`
                                                        or `{"error": ...}`
python bench/edits.py --write FILE                      the cases as JSON lines, with what was meant as `after`

The edits are made from files that come with Python, by tests/edits/cases.py, so what was meant is known. The
reference is the program that bench/reference.py finds or npm installs; without it its columns are left out.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import get_args

sys.path.insert(0, str(Path(__file__).parents[1]))

from reference import Reference, references
from tests.edits.cases import Case, cases
from tests.edits.mistakes import MISTAKES

from toolwright.edits.replacement import Drift, replace
from toolwright.errors import ToolError

COUNT = 600
OUTCOMES = ("as meant", "refused", "otherwise")
_BATCH = 50
Results = Sequence[str | None]
"""The text after each edit, None where it was refused."""


def main() -> None:
    options = _options()
    made = list(cases(options.count, options.seed))
    if options.write:
        Path(options.write).write_text("".join(f"{json.dumps(_described(case))}\n" for case in made), "utf-8")
        return
    columns: dict[str, Results] = {f"ours, {drift}": [ours(case, drift) for case in made] for drift in get_args(Drift)}
    if options.program:
        columns[options.program] = list(asked(options.program, made))
    elif not options.alone:
        columns |= {one.name: list(by_reference(one, made)) for one in references()}
    _print(made, columns)


def ours(case: Case, drift: Drift) -> str | None:
    try:
        return replace(case.before, case.old, case.new, drift=drift).text
    except ToolError:
        return None


def asked(command: str, made: Sequence[Case]) -> Iterator[str | None]:
    """What another program answers, line by line."""
    with subprocess.Popen(command, shell=True, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as program:
        if program.stdin is None or program.stdout is None:
            return
        for case in made:
            program.stdin.write(json.dumps({**_described(case), "after": None}) + "\n")
            program.stdin.flush()
            yield json.loads(program.stdout.readline()).get("after")
        program.stdin.close()


def by_reference(reference: Reference, made: Sequence[Case]) -> Iterator[str | None]:
    """What the reference makes of files on disk. It has to read one before it may edit it."""
    with tempfile.TemporaryDirectory() as name:
        project = Path(name).resolve()
        with reference.serving(project) as server:
            for start in range(0, len(made), _BATCH):
                batch = made[start : start + _BATCH]
                paths = [project / f"{start + number}.txt" for number in range(len(batch))]
                calls = []
                for path, case in zip(paths, batch, strict=True):
                    path.write_text(case.before, "utf-8", newline="")
                    edit = {"filePath": str(path), "oldString": case.old, "newString": case.new}
                    calls += [("read", {"filePath": str(path)}), ("edit", edit)]
                done = server.calls(calls)[1::2]
                for path, call in zip(paths, done, strict=True):
                    with path.open("r", encoding="utf-8", newline="") as file:
                        after = file.read()
                    yield after if call.ok else None


def outcome(case: Case, result: str | None) -> str:
    return "refused" if result is None else "as meant" if result == case.after else "otherwise"


def _print(made: Sequence[Case], columns: dict[str, Results]) -> None:
    width = max(16, *map(len, columns)) + 2
    print(f"{len(made)} edits: as meant / refused / otherwise\n")
    print(f"{'mistake':20}" + "".join(f"{name:>{width}}" for name in columns))
    rows: list[tuple[str, Callable[[Case], bool]]] = [(kind, partial(_is, kind)) for kind in MISTAKES]
    for name, wanted in [*rows, ("all", lambda _: True)]:
        cells = []
        for results in columns.values():
            counted = Counter(outcome(case, got) for case, got in zip(made, results, strict=True) if wanted(case))
            cells.append(" / ".join(f"{counted[one]}" for one in OUTCOMES))
        print(f"{name:20}" + "".join(f"{cell:>{width}}" for cell in cells))


def _is(kind: str, case: Case) -> bool:
    return case.mistake == kind


def _described(case: Case) -> dict[str, object]:
    return {
        "id": case.id,
        "mistake": case.mistake,
        "change": case.change,
        "before": case.before,
        "oldString": case.old,
        "newString": case.new,
        "after": case.after,
    }


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=COUNT)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--program", help="a command that edits, to compare with")
    parser.add_argument("--write", help="a file to write the cases to")
    parser.add_argument("--alone", action="store_true", help="without the reference")
    return parser.parse_args()


if __name__ == "__main__":
    main()
