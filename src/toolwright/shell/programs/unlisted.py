"""A cautious guess at what a program that no table has may do with its words."""

import re
from collections.abc import Sequence

from toolwright.shell.programs.arguments import Effects, may_be_files, paths_in, tail
from toolwright.shell.state.findings import Contained
from toolwright.shell.state.state import Field

_OUTPUTS = (
    "-o",
    "-O",
    "--output",
    "--out",
    "--outfile",
    "--output-file",
    "--out-file",
    "-out",
    "--outdir",
    "--out-dir",
)
_MADE_HERE = ("/dev/fd/", "/proc/self/fd/")
"""Folders where a program finds what the line itself has made for it, as by `<(…)`."""
_EVALUATES = re.compile(r"-[eEcrx]|--?(?:eval|evaluate|exec|execute|expression|command|code|script)")
_CODE = re.compile(r"[(){};`|&$!\\\"']")


def guess(effects: Effects, arguments: Sequence[Field]) -> None:
    """A program that is not known: what looks like a path is read, `-o` names an output, any word may be a file."""
    output, effects.unlisted = False, True
    for before, argument in zip([None, *arguments], arguments, strict=False):
        text = argument.spelled
        if argument.text.startswith(_MADE_HERE) or _is_code(before, argument):
            effects.doubts.append(Contained(f"`{text[:80]}` may be a program for what is run, and is not examined."))
        if output:
            effects.touch("write", argument)
        output = argument.text in _OUTPUTS
        effects.touch("read", *paths_in(argument))
        head, equals, _ = text.partition("=")
        if equals and head in _OUTPUTS:
            effects.touch("write", tail(argument, len(head) + 1))
        effects.touch("mention", *may_be_files(argument), *_named_in(argument))


def _named_in(argument: Field) -> list[Field]:
    """A file behind a mark, as in `field=@file` and `FILE:name`; after a colon, `/` is more often another machine's."""
    text = argument.spelled
    marks = [text.rfind("@"), -1 if text[text.rfind(":") + 1 :].startswith("/") else text.rfind(":")]
    return [tail(argument, mark + 1) for mark in marks if argument.known and mark >= 0]


def _is_code(before: Field | None, argument: Field) -> bool:
    """Tell whether a word is what interpreters are given to run: `-e 'f(x)'`, `--eval=f(x)`."""
    head, equals, value = argument.spelled.partition("=")
    if equals and _EVALUATES.fullmatch(head):
        return _CODE.search(value) is not None
    return before is not None and _EVALUATES.fullmatch(before.spelled) is not None and bool(_CODE.search(argument.text))
