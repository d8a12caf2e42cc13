"""The text of a PDF file, page by page."""

import threading
from importlib import import_module
from pathlib import Path
from typing import Any

from toolwright.errors import ToolError

_PDFIUM = threading.Lock()  # the library keeps state of its own and may be used by one thread at a time


def page_range(pages: str) -> tuple[int, int]:
    """`3` or `1-5` as first and last page."""
    first, dash, last = pages.partition("-")
    numbers = [first.strip(), last.strip() if dash else first.strip()]
    if not all(number.isdecimal() and int(number) > 0 for number in numbers) or int(numbers[0]) > int(numbers[1]):
        raise ToolError(f"pages is {pages!r}; give one page as in '3' or a range as in '1-5'.", "schema")
    return int(numbers[0]), int(numbers[1])


def read_pages(path: Path | str, data: bytes, first: int, last: int) -> tuple[list[str], int]:
    """The texts of these pages, and how many pages there are."""
    try:
        pdfium: Any = import_module("pypdfium2")
    except ImportError as error:
        raise ToolError(f"The text of {path} needs the package pypdfium2: install toolwright[media].") from error
    with _PDFIUM:
        try:
            document = pdfium.PdfDocument(data)
        except pdfium.PdfiumError as error:
            raise ToolError(f"{path} cannot be read as PDF: {error}.", "binary") from error
        try:
            total = len(document)
            if first > total:
                raise ToolError(f"{path} has {total} pages; there is no page {first}.", "not_found")
            return [_text(document[number]) for number in range(first - 1, min(last, total))], total
        finally:
            document.close()


def _text(page: Any) -> str:
    text = page.get_textpage()
    try:
        return str(text.get_text_bounded()).replace("\r\n", "\n").strip()
    finally:
        text.close()
        page.close()
