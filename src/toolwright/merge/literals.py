"""Imports and lists merged by element: additions and removals of both sides."""

import ast
import re
from collections.abc import Sequence

from toolwright.merge.python_blocks import NotPython, parsed

WIDTH = 88
"""Columns that an import may take before it is written one name a line."""


def merge_imports(base: str, ours: str, theirs: str) -> str | None:
    """Return one `from … import` with the names of both sides; None if one of them is written with comments."""
    sides = [_names(side) for side in (base, ours, theirs)]
    if any(side is None for side in sides[1:]):
        return None
    before, mine, other = ((side[1] if side else []) for side in sides)
    names = both(before, mine, other)
    if names is None or not names:
        return None
    if mine == sorted(mine) and other == sorted(other):
        names.sort()
    lead = ours[: len(ours) - len(ours.lstrip("\n"))]
    assert sides[1] is not None
    line = f"{sides[1][0]}{', '.join(names)}\n"
    if "(" in ours or "(" in theirs or len(line) > WIDTH:
        line = f"{sides[1][0]}(\n{''.join(f'    {name},' + chr(10) for name in names)})\n"
    return lead + line


def merge_lists(base: str, ours: str, theirs: str) -> str | None:
    """Return an assignment of a list, tuple, set or dict written one element a line, with those of both sides."""
    sides = [_elements(side) for side in (base, ours, theirs)]
    if None in sides:
        return None
    (head, before, tail), (mine_head, mine, mine_tail), (its_head, other, its_tail) = (one for one in sides if one)
    if not head == mine_head == its_head or not tail == mine_tail == its_tail:
        return None
    elements = both(before, mine, other)
    return None if elements is None else "".join([head, *elements, tail])


def both(base: Sequence[str], ours: Sequence[str], theirs: Sequence[str]) -> list[str] | None:
    """Return the elements of ours with what theirs adds and without what it takes; None where places are unclear."""
    if any(len(set(side)) < len(side) for side in (base, ours, theirs)):
        return None
    if [one for one in base if one in theirs] != [one for one in theirs if one in base]:
        return None
    taken = set(base) - set(theirs)
    result = [one for one in ours if one not in taken]
    for number, element in enumerate(theirs):
        if element in result or element in base:
            continue
        above = next((other for other in reversed(theirs[:number]) if other in result), None)
        at = 0 if above is None else result.index(above) + 1
        while at < len(result) and result[at] not in base and result[at] not in theirs:
            at += 1
        result.insert(at, element)
    return result


def _names(text: str) -> tuple[str, list[str]] | None:
    """Return the words before the names of an import, and the names as they are written."""
    if "#" in text:
        return None
    try:
        body = parsed(text).body
    except NotPython:
        return None
    if len(body) != 1 or not isinstance(body[0], ast.ImportFrom):
        return None
    names = [f"{one.name} as {one.asname}" if one.asname else one.name for one in body[0].names]
    return f"from {'.' * body[0].level}{body[0].module or ''} import ", names


def _elements(text: str) -> tuple[str, list[str], str] | None:
    """Return the first line of a literal, its elements, one line each, and the rest; None if written otherwise."""
    match = re.fullmatch(r"(.*?[\[({]\n)((?:[^\n]*,\n)*)([ \t]*[\])}][^\n]*\n)", text, re.DOTALL)
    if match is None or '"""' in text or "'''" in text:
        return None
    try:
        body = parsed(text).body
    except NotPython:
        return None
    value = getattr(body[0], "value", None) if len(body) == 1 else None
    if not isinstance(value, ast.List | ast.Tuple | ast.Set | ast.Dict):
        return None
    lines = match[2].splitlines(keepends=True)
    parts = value.keys if isinstance(value, ast.Dict) else value.elts
    whole = [part for part in parts if part is not None]
    # One element a line, or its pieces could be torn apart.
    if len(whole) != len(lines) or len({part.lineno for part in whole}) != len(lines):
        return None
    return match[1], lines, match[3]
