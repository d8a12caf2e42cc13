"""The webfetch tool: a page of the web as Markdown, text or HTML, a picture, a document."""

import asyncio
import base64
from typing import TYPE_CHECKING, Annotated, Literal

from toolwright.calls.acts import Act
from toolwright.calls.look import Look
from toolwright.calls.request import HostPattern, PathPattern, Request
from toolwright.calls.truncate import Truncator, cut
from toolwright.definition import Attachment, Result, ToolContext, tool
from toolwright.errors import ToolError

if TYPE_CHECKING:
    from toolwright.web.pages import WebPage
    from toolwright.web.shown import Shown
    from toolwright.web.urls import Url

TIMEOUT = 30
MAX_TIMEOUT = 120

Format = Literal["markdown", "text", "html"]
ACCEPT: dict[Format, str] = {
    "markdown": "text/markdown;q=1.0, text/x-markdown;q=0.9, text/plain;q=0.8, text/html;q=0.7, */*;q=0.1",
    "text": "text/plain;q=1.0, text/markdown;q=0.9, text/html;q=0.8, */*;q=0.1",
    "html": "text/html;q=1.0, application/xhtml+xml;q=0.9, text/plain;q=0.8, text/markdown;q=0.7, */*;q=0.1",
}


@tool(
    text="webfetch.md",
    repeatable=False,
    known_as=("WebFetch",),
    in_a_word=("url", {"format": "text"}),
    unseen_changes=False,
    asks=True,
    untrusted=True,
    look=Look(verb="Fetch", kind="fetch", subject="url", act="fetch {a page}"),
)
async def webfetch(
    ctx: ToolContext,
    url: str,
    format: Format = "markdown",  # noqa: A002 - the name models know
    timeout: Annotated[float | None, f"Seconds: {TIMEOUT}, at most {MAX_TIMEOUT}"] = None,  # noqa: ASYNC109
) -> Result:
    """Fetch what is at an address."""
    # What it takes to fetch a page is loaded for the first one, not for a list of the tools.
    from toolwright.files.query import SearchRun
    from toolwright.web.fetch import Fetcher
    from toolwright.web.shown import show
    from toolwright.web.urls import parse_url

    start = parse_url(url)
    if timeout is not None and timeout <= 0:
        raise ToolError(f"timeout is {timeout:g}; give a number of seconds above 0.", "schema")
    address = str(start) if "@" in url else url.strip()
    page = await ctx.use(Fetcher).fetch(
        ctx.session_id,
        start,
        accept=ACCEPT[format],
        seconds=min(timeout or TIMEOUT, MAX_TIMEOUT),
        admit=lambda hop: _admit(ctx, hop, address if hop == start else str(hop)),
    )
    limits = ctx.use(Truncator).limits_for("webfetch", ctx.agent)
    run = SearchRun()
    try:
        content = await asyncio.to_thread(show, page, format, lambda text: cut(text, limits) is None, run)
    finally:
        run.end()
    return Result(
        content.text,
        title=f"{address} ({page.content_type or 'no content type'})",
        metadata={"url": str(page.url), "status": page.status, "contentType": page.content_type},
        attachments=(_attachment(page, content),) if content.data else (),
    )


async def _admit(ctx: ToolContext, url: "Url", address: str) -> bool:
    """Ask for an address in the words it was given in; whether a rule opens it, should it be a private one."""
    from toolwright.web.addresses import is_public
    from toolwright.web.fetch import closed

    pattern = HostPattern(address, also=(str(url),), hosts=(url.authority, url.host))
    opened = ctx.decide("webfetch", pattern) == "allow"
    if url.address is not None and not is_public(url.address) and not opened:
        raise closed(url, url.address)
    asked = PathPattern(address, also=(str(url),))
    act = Act(kind="reads", program="webfetch", on=url.host, to=(url.host,))
    await ctx.ask_all(Request(permission="webfetch", patterns=(asked,), acts={asked: act}, metadata={"url": address}))
    return opened


def _attachment(page: "WebPage", content: "Shown") -> Attachment:
    name = page.url.target.partition("?")[0].rpartition("/")[2]
    url = f"data:{content.mime};base64,{base64.b64encode(content.data).decode()}"
    return Attachment(mime=content.mime, url=url, filename=name or None)
