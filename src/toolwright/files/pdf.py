"""The text of a PDF file, page by page."""

import json
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from toolwright.errors import ToolError

LONGEST = 30.0
"""Seconds that the reading of a file may take on a busy machine; its own processor time has a limit too."""


def page_range(pages: str) -> tuple[int, int]:
    """`3` or `1-5` as first and last page."""
    first, dash, last = pages.partition("-")
    numbers = [first.strip(), last.strip() if dash else first.strip()]
    plain = all(number.isdecimal() and len(number) < 10 and int(number) > 0 for number in numbers)
    if not plain or int(numbers[0]) > int(numbers[1]):
        raise ToolError(f"pages is {pages[:40]!r}; give one page as in '3' or a range as in '1-5'.", "schema")
    return int(numbers[0]), int(numbers[1])


def read_pages(path: Path | str, data: bytes, first: int, last: int) -> tuple[list[str], int]:
    """The texts of these pages, and how many pages there are.

    Read in a process of its own, with limits of its own: a file may be made to exhaust or end whatever reads it.
    """
    if find_spec("pypdfium2") is None:
        raise ToolError(f"The text of {path} needs the package pypdfium2: install toolwright[media].")
    from toolwright.process.running.child import run_child_sync  # few reads are of such a file

    reader = Path(__file__).with_name("pdf_reader.py")
    argv = [sys.executable, "-P", str(reader), str(first), str(last)]
    try:
        answer: Any = json.loads(run_child_sync(argv, data=data, seconds=LONGEST).out)
    except (OSError, TimeoutError, ValueError) as error:
        problem = "reading it takes more time or memory than any real document does"
        raise ToolError(f"{path} cannot be read as PDF: {problem}.", "binary") from error
    if problem := answer.get("problem"):
        raise ToolError(f"{path} cannot be read as PDF: {problem}.", "binary")
    if first > answer["total"]:
        raise ToolError(f"{path} has {answer['total']} pages; there is no page {first}.", "not_found")
    return answer["texts"], answer["total"]
