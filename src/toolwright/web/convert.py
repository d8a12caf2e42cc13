"""HTML as Markdown or plain text: without scripts, styles and hidden parts, links made whole."""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal
from urllib.parse import urljoin

from toolwright.errors import ToolError

if TYPE_CHECKING:
    from turbohtml import Document, Markdown, Node

Form = Literal["markdown", "text"]
Fits = Callable[[str], bool]
"""Tells whether a text can be shown whole."""

LONGEST = 20_000_000
"""Characters that a page may grow to."""
_LINKS = 8_000_000
"""Characters that links may grow by when they are made whole; beyond, they stay as they are."""
_DROPPED = (
    "head, script, style, noscript, template, iframe, object, embed, svg, canvas, audio, video, select, textarea,"
    " dialog:not([open]), img[src^='data:' i], img:not([src]), :is([hidden], [style*='display:none' i],"
    " [style*='display: none' i], [style*='visibility:hidden' i], [style*='visibility: hidden' i]):not(html, body)"
)
_PLAIN = ("h1", "h2", "h3", "h4", "h5", "h6", "code", "kbd", "samp", "tt", "blockquote", "hr")
"""Elements of which plain text shows nothing but their words."""
_BLANKS = re.compile(r"\n{3,}")


def convert(html: str, form: Form, base: str, fits: Fits = lambda _: True) -> str:
    """The page as text. If that does not fit, its main part comes first and everything else after it."""
    try:
        import turbohtml
    except ImportError as error:
        raise ToolError(
            f"To turn HTML into {form} the package turbohtml is needed: install toolwright[web], or use format html."
        ) from error
    document = turbohtml.parse(html, positions=False)
    base = _base(document, base)
    document.remove(_DROPPED)
    for link in document.select("a[href^='javascript:' i], a[href^='data:' i]"):
        del link.attrs["href"]
    for link in document.select("a[href^='#']"):
        if not any(map(str.isalnum, link.text)) and link.select_one("img") is None:
            link.decompose()  # the sign beside a heading that links to it
    if len(document.select("[href], [src]")) * len(base) <= _LINKS:
        document.resolve_links(base)
    options = _options(form)
    text = _rendered(document, options)
    if len(text) > LONGEST:
        raise ToolError(f"The page grows to {len(text):,} characters as {form}. Use format html.", "too_large")
    return text if fits(text) else _main_first(document, options) or text


def _main_first(document: "Document", options: "Markdown | None") -> str:
    main = document.main_content()
    if main is None:
        return ""
    parts = [_rendered(main, options)]
    main.decompose()
    parts.append(_rendered(document, options))
    return "\n\n---\n\n".join(part for part in parts if part)


def _rendered(node: "Node", options: "Markdown | None") -> str:
    text = node.to_markdown(options)
    if options is None:
        return text
    text = "\n".join([line.rstrip(" ") for line in text.split("\n")])
    return _BLANKS.sub("\n\n", text) if "\n\n\n" in text else text


def _base(document: "Document", base: str) -> str:
    """Return the base of relative links: the page's own address, unless the page says otherwise."""
    element = document.select_one("base[href]")
    href = element.attrs["href"] if element is not None else None
    try:
        return urljoin(base, href.strip()) if isinstance(href, str) else base
    except ValueError:
        return base


def _options(form: Form) -> "Markdown | None":
    if form == "markdown":
        return None
    from turbohtml import Markdown

    return Markdown(
        links=Markdown.Links(ignore=True),
        images=Markdown.Images(mode="ignore"),
        inline=Markdown.Inline(ignore_emphasis=True),
        escaping=Markdown.Escaping(mode="none", asterisks=False, underscores=False),
        tables=Markdown.Tables(mode="strip"),
        code=Markdown.Code(block_style="indented"),
        strip=_PLAIN,
    )
