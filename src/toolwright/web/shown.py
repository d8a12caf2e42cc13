"""A fetched page as a model reads it: text in the wanted format, a picture, a document; told apart by their bytes."""

from typing import Literal

from toolwright.errors import ToolError
from toolwright.files.media import fit, kind_of
from toolwright.files.pdf import read_pages
from toolwright.files.query import SearchRun
from toolwright.record import record
from toolwright.web.apart import LARGE, converted
from toolwright.web.charsets import decode, is_text
from toolwright.web.convert import Fits
from toolwright.web.pages import WebPage

Format = Literal["markdown", "text", "html"]

EXCERPT = 500
"""Characters that are shown of an answer that is no page."""
PDF_PAGES = 200
"""Pages of a PDF file whose text is shown."""


@record(frozen=True, slots=True, kw_only=True)
class Shown:
    """The part of a page that is shown."""

    text: str
    mime: str = ""
    data: bytes = b""
    """A picture or document that goes with it."""


def show(page: WebPage, form: Format, fits: Fits, run: SearchRun | None = None) -> Shown:
    """The page, if the server gave it; otherwise a ToolError with what it said instead."""
    if not 200 <= page.status < 300:
        raise _refusal(page)
    kind = kind_of(page.data)
    if kind.startswith("image/"):
        picture = fit(page.data)
        note = f" ({picture.shrunk})" if picture.shrunk else ""
        return Shown(text=f"Picture fetched: {page.url}{note}", mime=picture.mime, data=picture.data)
    if kind == "application/pdf":
        return Shown(text=_pdf_text(page), mime=kind, data=page.data)
    if not is_text(page.data, page.content_type):
        raise ToolError(
            f"{page.url} is no text, picture or PDF but {page.content_type or 'something else'} of "
            f"{len(page.data):,} bytes. Download it with a command if it is needed.",
            "binary",
        )
    text = decode(page.data, page.content_type)
    if form == "html" or not _is_html(page, text):
        return Shown(text=text)
    return Shown(text=converted(text, form, str(page.url), fits, run) or "(The page has no text.)")


def _is_html(page: WebPage, text: str) -> bool:
    """By what the server says; where it says nothing of use, by how the page begins."""
    kind = page.content_type.partition(";")[0].strip().lower()
    if kind in ("text/html", "application/xhtml+xml"):
        return True
    vague = kind in ("", "application/octet-stream", "application/pdf") or kind.startswith("image/")
    return vague and text[:1000].lstrip().lower().startswith(("<!doctype html", "<html"))


def _refusal(page: WebPage) -> ToolError:
    words = ""
    if page.data and is_text(page.data, page.content_type):
        text = decode(page.data, page.content_type)
        words = converted(text[:LARGE], "text", str(page.url)) if _is_html(page, text) else text.strip()
    answer = f"{page.status} {page.reason}".strip()
    excerpt = f" It says: {words[:EXCERPT]}" if words else ""
    return ToolError(f"{page.url} answered {answer}.{excerpt}", "network")


def _pdf_text(page: WebPage) -> str:
    """The text page by page; only the file itself where it cannot be had."""
    try:
        texts, total = read_pages(str(page.url), page.data, 1, PDF_PAGES)
    except ToolError as error:
        return f"PDF fetched: {page.url}. {error}"
    parts = [f"--- page {number} of {total} ---\n{text}" for number, text in enumerate(texts, 1)]
    left_out = [f"({total - len(texts)} more pages are not shown.)"] if total > len(texts) else []
    return "\n\n".join([*parts, *left_out])
