"""Run as a program of its own: the text of the PDF file on its standard input, page by page, as JSON.

A file may be made to take any time and memory, or to end the program that reads it.
"""

import json
import resource
import sys
from importlib import import_module
from typing import Any

MEMORY = 1024**3
SECONDS = 20
LONGEST = 20_000_000
"""Characters of text that are given."""


def main(first: int, last: int) -> dict[str, Any]:
    for kind, most in ((resource.RLIMIT_AS, MEMORY), (resource.RLIMIT_CPU, SECONDS), (resource.RLIMIT_CORE, 0)):
        there = resource.getrlimit(kind)[1]
        limit = most if there == resource.RLIM_INFINITY else min(most, there)
        resource.setrlimit(kind, (limit, limit))
    pypdfium2: Any = import_module("pypdfium2")
    try:
        document = pypdfium2.PdfDocument(sys.stdin.buffer.read())
    except pypdfium2.PdfiumError as error:
        return {"problem": str(error)}
    texts, length = list[str](), 0
    for number in range(first - 1, min(last, len(document))):
        texts.append(_page_text(document[number]))
        length += len(texts[-1])
        if length > LONGEST:
            return {"problem": f"the text of these pages has more than {LONGEST:,} characters"}
    return {"total": len(document), "texts": texts}


def _page_text(page: Any) -> str:
    text = page.get_textpage()
    try:
        return str(text.get_text_bounded()).replace("\r\n", "\n").strip()
    finally:
        text.close()
        page.close()


if __name__ == "__main__":
    sys.stdout.write(json.dumps(main(int(sys.argv[1]), int(sys.argv[2]))))
