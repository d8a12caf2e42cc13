"""Two versions of one text put together: by lines, then by what the lines are."""

import ast

from toolwright.merge.blocks import Conflict, Key, NamedBlock, merge_blocks
from toolwright.merge.lines import merge_lines
from toolwright.merge.literals import merge_imports, merge_lists
from toolwright.merge.python_blocks import NotPython, class_blocks, module_blocks, parsed
from toolwright.merge.twice import defined, defined_twice


def merge_texts(path: str, base: str, ours: str, theirs: str) -> str:
    """Return the text with what both sides made of it; raise Conflict where that would be a guess."""
    if ours == theirs or theirs == base:
        return ours
    if ours == base:
        return theirs
    merged = merge_lines(base, ours, theirs)
    if not path.endswith((".py", ".pyi")):
        if merged is None:
            raise Conflict("both sides change the same lines")
        return merged
    return _merge_python(base, ours, theirs, merged)


def _merge_python(base: str, ours: str, theirs: str, merged: str | None) -> str:
    try:
        trees = [parsed(side) for side in (base, ours, theirs)]
    except NotPython as error:
        if merged is None:
            raise Conflict("both sides change the same lines") from error
        return merged
    if merged is None or not _agrees(merged, *trees):
        merged = _joined(merge_blocks(_within, *(module_blocks(side) for side in (base, ours, theirs))))
    try:
        tree = parsed(merged)
    except NotPython as error:
        raise Conflict("put together, the two sides are no Python any more") from error
    if problem := _problem(tree, *trees):
        raise Conflict(problem)
    return merged


def _agrees(merged: str, *sides: ast.Module) -> bool:
    """Tell whether lines put together define what both sides do."""
    try:
        return not _problem(parsed(merged), *sides)
    except NotPython:
        return False


def _problem(tree: ast.Module, base: ast.Module, ours: ast.Module, theirs: ast.Module) -> str:
    """Say what is defined twice, or again although one side has removed it."""
    if twice := defined_twice(tree) - defined_twice(ours) - defined_twice(theirs):
        return f"both sides add {min(twice)}"
    before = defined(base)
    back = ((before - defined(ours)) | (before - defined(theirs))) & defined(tree)
    return f"one side changes {min(back)}, the other removes it" if back else ""


def _within(key: Key, base: str, ours: str, theirs: str) -> str | None:
    """Put the two versions of one block together."""
    if key[0] == "from":
        return merge_imports(base, ours, theirs)
    merged = merge_lines(base, ours, theirs) if base else None
    if merged is not None:
        return merged
    if not base:
        return None
    merged = merge_lists(base, ours, theirs)
    if merged is not None:
        return merged
    try:
        members = [class_blocks(side) for side in (base, ours, theirs)]
    except NotPython:
        return None
    return _joined(merge_blocks(_within, *members))


def _joined(blocks: list[NamedBlock]) -> str:
    """Return the blocks as one text; what was the end of a file without a newline gets one."""
    texts = [block.text for block in blocks]
    whole = [text if text.endswith("\n") else text + "\n" for text in texts[:-1]]
    return "".join([*whole, *texts[-1:]])
