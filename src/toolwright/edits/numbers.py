"""Line numbers that were copied along with lines, in the form that the read tool shows them."""

import re
from itertools import pairwise
from typing import NamedTuple

_NUMBER = re.compile(r"\s*(\d{5,})\| ?")


class Unnumbered(NamedTuple):
    """Old and new text without the numbers, and the line, from 0, that the first number names."""

    old: str
    new: str
    line: int


def without_numbers(old: str, new: str) -> Unnumbered | None:
    """Both texts without line numbers, if every line of the old one has one and those of the new one have or do not.

    The numbers of the old text have to follow each other; those of the new one, where lines were added, need not.
    """
    lines = old.removesuffix("\n").split("\n")
    matches = [_NUMBER.match(line) for line in lines]
    numbers = [int(match[1]) for match in matches if match]
    if len(numbers) < len(lines) or any(b - a != 1 for a, b in pairwise(numbers)):
        return None
    unnumbered = _stripped(new)
    return None if unnumbered is None else Unnumbered(_stripped(old) or "", unnumbered, numbers[0] - 1)


def _stripped(text: str) -> str | None:
    """The text without numbers; None if only some of its lines have one."""
    lines = text.split("\n")
    having = [bool(_NUMBER.match(line)) for line in lines if line]
    if not any(having):
        return text
    return "\n".join(_NUMBER.sub("", line, count=1) for line in lines) if all(having) else None
