"""The webfetch tool: a page of the web as Markdown, text or HTML, a picture, a document."""

import asyncio
import base64
from dataclasses import dataclass
from typing import Annotated, Literal

from toolwright.errors import ToolError
from toolwright.files.media import fit, kind_of
from toolwright.files.pdf import read_pages
from toolwright.request import HostPattern, PathPattern
from toolwright.tool import Attachment, Result, ToolContext, tool
from toolwright.truncate import Truncator
from toolwright.web.addresses import is_public
from toolwright.web.charsets import decode, is_text
from toolwright.web.convert import convert
from toolwright.web.fetch import Fetcher, closed
from toolwright.web.pages import Page
from toolwright.web.urls import Url, parse_url

TIMEOUT = 30
MAX_TIMEOUT = 120
EXCERPT = 500
"""Characters that are shown of an answer that is no page."""
PDF_PAGES = 200
"""Pages of a PDF file whose text is shown."""

Format = Literal["markdown", "text", "html"]
ACCEPT: dict[Format, str] = {
    "markdown": "text/markdown;q=1.0, text/x-markdown;q=0.9, text/plain;q=0.8, text/html;q=0.7, */*;q=0.1",
    "text": "text/plain;q=1.0, text/markdown;q=0.9, text/html;q=0.8, */*;q=0.1",
    "html": "text/html;q=1.0, application/xhtml+xml;q=0.9, text/plain;q=0.8, text/markdown;q=0.7, */*;q=0.1",
}


@tool(text="webfetch.md", asks=True)
async def webfetch(
    ctx: ToolContext,
    url: str,
    format: Format = "markdown",  # noqa: A002 - the name models know
    timeout: Annotated[float | None, f"Seconds: {TIMEOUT}, at most {MAX_TIMEOUT}"] = None,  # noqa: ASYNC109
) -> Result:
    """Fetch what is at an address."""
    start = parse_url(url)
    if timeout is not None and timeout <= 0:
        raise ToolError(f"timeout is {timeout:g}; give a number of seconds above 0.", "schema")
    shown = str(start) if "@" in url else url.strip()
    permission = _Permission(ctx, given={start: shown})
    page = await ctx.use(Fetcher).fetch(
        ctx.session_id,
        start,
        accept=ACCEPT[format],
        seconds=min(timeout or TIMEOUT, MAX_TIMEOUT),
        admit=permission.admit,
    )
    limits = ctx.use(Truncator).limits_for("webfetch", ctx.agent)
    result = await asyncio.to_thread(_shown, page, format, limits.max_bytes)
    return Result(
        result.output,
        title=f"{shown} ({page.content_type or 'no content type'})",
        metadata={"url": str(page.url), "status": page.status, "contentType": page.content_type},
        attachments=result.attachments,
    )


@dataclass(frozen=True, slots=True)
class _Permission:
    """Asks for each address, in the words it was given in, and knows whether a rule opens a private one."""

    ctx: ToolContext
    given: dict[Url, str]

    async def admit(self, url: Url) -> bool:
        text = self.given.get(url, str(url))
        opened = self.ctx.decide("webfetch", HostPattern(text, (url.authority, url.host))) == "allow"
        if url.address is not None and not is_public(url.address) and not opened:
            raise closed(url, url.address)
        await self.ctx.ask("webfetch", PathPattern(text, also=(str(url),)), url=text)
        return opened


def _shown(page: Page, form: Format, fits: int) -> Result:
    if not 200 <= page.status < 300:
        raise _refusal(page)
    kind = kind_of(page.data)
    if kind.startswith("image/"):
        picture = fit(page.data)
        note = f" ({picture.shrunk})" if picture.shrunk else ""
        return Result(
            f"Picture fetched: {page.url}{note}", attachments=(_attachment(page, picture.mime, picture.data),)
        )
    if kind == "application/pdf":
        return Result(_pdf_text(page), attachments=(_attachment(page, kind, page.data),))
    if not is_text(page.data, page.content_type):
        raise ToolError(
            f"{page.url} is no text, picture or PDF but {page.content_type or 'something else'} of "
            f"{len(page.data):,} bytes. Download it with a command if it is needed.",
            "binary",
        )
    text = decode(page.data, page.content_type)
    if form == "html" or not _is_html(page, text):
        return Result(text)
    return Result(convert(text, form, str(page.url), fits) or "(The page has no text.)")


def _is_html(page: Page, text: str) -> bool:
    """By what the server says; where it says nothing of use, by how the page begins."""
    kind = page.content_type.partition(";")[0].strip().lower()
    if kind in ("text/html", "application/xhtml+xml"):
        return True
    vague = kind in ("", "application/octet-stream", "application/pdf") or kind.startswith("image/")
    return vague and text[:1000].lstrip().lower().startswith(("<!doctype html", "<html"))


def _refusal(page: Page) -> ToolError:
    said = ""
    if page.data and is_text(page.data, page.content_type):
        text = decode(page.data, page.content_type)
        said = convert(text, "text", str(page.url), len(text)) if _is_html(page, text) else text.strip()
    answer = f"{page.status} {page.reason}".strip()
    excerpt = f" It says: {said[:EXCERPT]}" if said else ""
    return ToolError(f"{page.url} answered {answer}.{excerpt}", "network")


def _pdf_text(page: Page) -> str:
    """The text page by page; only the file itself where it cannot be had."""
    try:
        texts, total = read_pages(str(page.url), page.data, 1, PDF_PAGES)
    except ToolError as error:
        return f"PDF fetched: {page.url}. {error}"
    parts = [f"--- page {number} of {total} ---\n{text}" for number, text in enumerate(texts, 1)]
    left_out = [f"({total - len(texts)} more pages are not shown.)"] if total > len(texts) else []
    return "\n\n".join([*parts, *left_out])


def _attachment(page: Page, mime: str, data: bytes) -> Attachment:
    name = page.url.target.partition("?")[0].rpartition("/")[2]
    url = f"data:{mime};base64,{base64.b64encode(data).decode()}"
    return Attachment(mime=mime, url=url, filename=name or None)
