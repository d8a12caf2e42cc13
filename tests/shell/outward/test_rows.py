"""Each row of the data decides something: `rows.txt` has, in their order, a call that is another without it."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from toolwright.calls.acts import ActClass
from toolwright.shell.outward import classify, table
from toolwright.shell.outward.rows import Fit
from toolwright.shell.outward.table import ProgramRow, ProgramSection

LINES = [line.split() for line in Path(__file__).with_name("rows.txt").read_text("utf-8").splitlines()]


def each_row() -> Iterator[tuple[tuple[str, ...], ProgramSection, ProgramRow]]:
    """The rows of every section, with the names that it is for."""
    names = dict[tuple[tuple[str, str], ...], list[str]]()
    for name, lines in table._sections().items():
        names.setdefault(lines, []).append(name)
    for lines, shared in names.items():
        program = table._program(lines)
        for row in program.rows:
            yield tuple(shared), program, row


def kind_of(words: list[str], program: ProgramSection, monkeypatch: pytest.MonkeyPatch) -> str:
    known = table.program_named
    with monkeypatch.context() as patched:
        patched.setattr(classify, "program_named", lambda name: program if name == words[0] else known(name))
        fed = words[-1] == "<"
        act = classify.act_of(words[:-1] if fed else words, stdin="" if fed else None, remote=elsewhere)
    return act.kind if act is not None else "unknown"


def elsewhere(_: str, far: bool) -> Fit:
    kind: ActClass = "changes" if far else "here"
    return Fit(kind=kind)


def test_no_row_could_go_unseen(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = list[str]()
    for (names, program, row), (label, *words) in zip(each_row(), LINES, strict=True):
        without = replace(program, rows=tuple(one for one in program.rows if one is not row))
        seen = (kind_of(words, program, monkeypatch), kind_of(words, without, monkeypatch))
        if words[0] not in names or seen[0] != label or seen[1] == label:
            wrong.append(f"{names[0]}: {row}: {label} {' '.join(words)}: {seen}")
    assert wrong == []
