"""The webfetch tool: what a model reads of a page, a picture, a document."""

import base64
import sys
import zlib
from collections.abc import AsyncIterator
from io import BytesIO
from pathlib import Path

import pytest

from tests.web.site import Reader, Site, make_reader, opened, serving
from toolwright.calls.truncate import MAX_BYTES
from toolwright.definition import Result

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
PAGE = """<!doctype html><html><head><title>T</title><style>p {}</style><script>alert(1)</script></head>
<body><nav><a href="/home">Home</a></nav><main><h1>Head &amp; more</h1>
<p>One <b>two</b> <a href="rel?q=1">link</a> <a href="javascript:alert(1)">click</a> <img src="p.png" alt="pic"></p>
<p hidden>hidden one</p><p style="color: red; DISPLAY:none">hidden two</p><noscript>hidden three</noscript>
<template>hidden four</template><iframe src="http://x/">hidden five</iframe>
<ul><li>a<ul><li>b</li></ul></li></ul>
<pre><code class="language-python">def f():
    return 1 &lt; 2
</code></pre>
<table><tr><th>A</th><th>B</th></tr><tr><td>1|2</td><td>3</td></tr></table></main></body></html>"""


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    async with serving() as made:
        yield made


@pytest.fixture
async def reader(project: Path, site: Site) -> AsyncIterator[Reader]:
    made = make_reader(project, opened(site))
    yield made
    await made.workspace.close()


async def test_a_page_comes_as_markdown(reader: Reader, site: Site) -> None:
    assert (
        (await reader.fetch(site.page("/docs/", PAGE))).output
        == f"""\
[Home]({site.url}/home)

# Head & more

One **two** [link]({site.url}/docs/rel?q=1) click ![pic]({site.url}/docs/p.png)

- a
  - b

```python
def f():
    return 1 < 2
```

| A | B |
| --- | --- |
| 1\\|2 | 3 |"""
    )


async def test_a_page_comes_as_text(reader: Reader, site: Site) -> None:
    assert (
        (await reader.fetch(site.page("/", PAGE), format="text")).output
        == """\
Home

Head & more

One two link click

- a
  - b

    def f():
        return 1 < 2

A B

1|2 3"""
    )


async def test_a_page_comes_as_html(reader: Reader, site: Site) -> None:
    assert (await reader.fetch(site.page("/", PAGE), format="html")).output == PAGE


@pytest.mark.parametrize(
    ("kind", "converted"),
    [
        ("text/html", True),
        ("application/xhtml+xml; charset=utf-8", True),
        ("", True),
        ("image/png", True),
        ("text/plain", False),
        ("application/json", False),
        ("text/markdown", False),
    ],
)
async def test_only_html_is_converted(reader: Reader, site: Site, kind: str, converted: bool) -> None:
    html = "<!DOCTYPE html><p>a</p>"
    result = await reader.fetch(site.page("/", html, kind))
    assert result.output == ("a" if converted else html)


async def test_links_start_where_the_page_says(reader: Reader, site: Site) -> None:
    url = site.page("/x/y", '<base href="/z/"><a href="q">q</a>')
    assert (await reader.fetch(url)).output == f"[q]({site.url}/z/q)"


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        ("<p>é€</p>".encode(), "text/html"),
        ("<p>é€</p>".encode(), "text/html; charset=UTF-8"),
        ("<p>é€</p>".encode("cp1252"), "text/html; charset=iso-8859-1"),
        ("<p>é€</p>".encode("cp1252"), 'text/html; charset="windows-1252"'),
        ('<meta charset="windows-1252"><p>é€</p>'.encode("cp1252"), "text/html"),
        (
            '<meta http-equiv="content-type" content="text/html; charset=iso-8859-15"><p>é€</p>'.encode("iso8859-15"),
            "text/html",
        ),
        ("<p>é€</p>".encode("cp1252"), "text/html"),
        ("<p>é€</p>".encode("cp1252"), "text/html; charset=no-such-thing"),
        ("\ufeff<p>é€</p>".encode("utf-16-le"), "text/html"),
        ("\ufeff<p>é€</p>".encode("utf-16-be"), "text/html; charset=latin-1"),
        ("<p>é€</p>".encode("utf-16-le"), "text/html; charset=utf-16le"),
        ("\ufeff<p>é€</p>".encode(), "text/html; charset=utf-16"),
        ('<meta charset="utf-16"><p>é€</p>'.encode(), "text/html"),
        ("<p>é€</p>".encode(), "text/html; charset=unicode_escape"),
    ],
)
async def test_letters_come_out_right(reader: Reader, site: Site, data: bytes, kind: str) -> None:
    assert (await reader.fetch(site.page("/", data, kind))).output == "é€"


@pytest.mark.parametrize(
    ("label", "codec", "text"),
    [
        ("gb2312", "gbk", "朱镕基"),
        ("x-gbk", "gbk", "中国"),
        ("Shift_JIS", "cp932", "①髙島"),
        ("x-sjis", "cp932", "日本"),
        ("windows-31j", "cp932", "日本"),
        ("x-euc-jp", "euc_jp", "日本"),
        ("euc-kr", "cp949", "똠방각하"),
        ("windows-949", "cp949", "한국"),
        ("x-x-big5", "cp950", "中文"),
        ("windows-874", "cp874", "ไทย"),
        ("iso-8859-9", "cp1254", "ş€"),
        ("iso-8859-8-i", "iso8859-8", "שלום"),
        ("x-cp1251", "cp1251", "Привет"),
        ("x-mac-cyrillic", "mac-cyrillic", "Привет"),
    ],
)
async def test_character_sets_are_those_that_browsers_know_by_the_name(
    reader: Reader, site: Site, label: str, codec: str, text: str
) -> None:
    assert (await reader.fetch(site.page("/", text.encode(codec), f"text/plain; charset={label}"))).output == text


async def test_a_character_set_in_a_comment_does_not_count(reader: Reader, site: Site) -> None:
    page = '<!-- <meta charset="koi8-r"> --><meta charset="windows-1251"><p>Привет</p>'.encode("cp1251")
    assert (await reader.fetch(site.page("/", page, "text/html"))).output == "Привет"


async def test_twenty_thousand_nested_elements_are_read(reader: Reader, site: Site) -> None:
    for tag in ("div", "blockquote", "table><tr><td", "ul><li", "b"):
        result = await reader.fetch(site.page("/", f"<{tag}>" * 20_000 + "deep"), format="text")
        assert "deep" in _whole(result), tag


async def test_a_page_without_text_is_said_to_have_none(reader: Reader, site: Site) -> None:
    result = await reader.fetch(site.page("/", "<script>app()</script>"))
    assert result.output == "(The page has no text.)"


async def test_of_a_long_page_the_main_part_comes_first(reader: Reader, site: Site) -> None:
    menu = "".join(f"<li><a href='/{number}'>Entry {number} of the menu</a></li>" for number in range(3000))
    article = "".join(f"<p>Sentence {number} of the article, with some words in it.</p>" for number in range(50))
    url = site.page("/", f"<nav><ul>{menu}</ul></nav><article><h1>Title</h1>{article}</article><footer>end</footer>")
    result = await reader.fetch(url)
    assert result.output.startswith("# Title\n\nSentence 0 of the article")
    assert result.output.index("Sentence 49") < result.output.index("Entry 0")
    assert result.metadata["truncated"]
    assert "Entry 2999" in _whole(result)
    assert len(result.output.encode()) < MAX_BYTES + 1000


async def test_the_main_part_comes_first_where_there_are_too_many_lines(reader: Reader, site: Site) -> None:
    menu = "".join(f"<li>{number}</li>" for number in range(2500))
    article = "<p>A sentence of the article, with some words in it.</p>" * 20
    result = await reader.fetch(site.page("/", f"<ul>{menu}</ul><main><h1>Title</h1>{article}</main>"))
    assert result.output.startswith("# Title\n\nA sentence")


async def test_without_turbohtml_only_html_can_be_had(
    reader: Reader, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "turbohtml", None)
    url = site.page("/", PAGE)
    refused = await reader.fetch(url)
    assert refused.error is not None
    assert "toolwright[web]" in refused.output
    assert (await reader.fetch(url, format="html")).output == PAGE


async def test_a_short_page_keeps_its_order(reader: Reader, site: Site) -> None:
    url = site.page("/", "<nav>menu</nav><article><h1>Title</h1><p>Text.</p></article>")
    assert (await reader.fetch(url)).output == "menu\n\n# Title\n\nText."


@pytest.mark.parametrize("kind", ["image/png", "text/html", "application/octet-stream"])
async def test_a_picture_is_attached_whatever_it_is_called(reader: Reader, site: Site, kind: str) -> None:
    result = await reader.fetch(site.page("/a/dot.png", PNG, kind))
    [attachment] = result.attachments
    assert (attachment.mime, attachment.filename) == ("image/png", "dot.png")
    assert attachment.url == f"data:image/png;base64,{base64.b64encode(PNG).decode()}"
    assert result.title == f"{site.url}/a/dot.png ({kind})"


async def test_a_pdf_is_attached_with_its_text_by_page(reader: Reader, site: Site) -> None:
    pytest.importorskip("pypdfium2", reason="the text of a PDF needs toolwright[media]")
    result = await reader.fetch(site.page("/paper.pdf", _pdf("First page", "Second page"), "application/pdf"))
    assert result.output == "--- page 1 of 2 ---\nFirst page\n\n--- page 2 of 2 ---\nSecond page"
    assert [attachment.mime for attachment in result.attachments] == ["application/pdf"]


async def test_a_broken_pdf_is_attached_and_said_to_be_broken(reader: Reader, site: Site) -> None:
    result = await reader.fetch(site.page("/paper.pdf", b"%PDF-1.4 nothing", "application/pdf"))
    assert result.error is None
    assert "paper.pdf" in result.output
    assert len(result.attachments) == 1


@pytest.mark.slow
async def test_a_pdf_that_would_exhaust_the_memory_does_so_in_another_process(reader: Reader, site: Site) -> None:
    pytest.importorskip("pypdfium2", reason="the text of a PDF needs toolwright[media]")
    packed = zlib.compress(b"q " * 10_000_000).hex()
    stream = f"<< /Length {len(packed)} /Filter [/ASCIIHexDecode /FlateDecode] >>\nstream\n{packed}\nendstream"
    result = await reader.fetch(site.page("/paper.pdf", _pdf(stream=stream), "application/pdf"))
    assert "more time or memory than any real document" in result.output


async def test_what_is_neither_text_nor_shown_is_refused(reader: Reader, site: Site) -> None:
    result = await reader.fetch(site.page("/a.zip", b"PK\3\4\0\0\0\0", "application/zip"))
    assert result.error is not None
    assert result.error.kind == "binary"
    assert "application/zip" in result.output


@pytest.mark.parametrize("url", ["ftp://example.com/", "example.com", "http://", "http://a b/"])
async def test_what_is_no_web_address_is_refused(reader: Reader, url: str) -> None:
    result = await reader.fetch(url)
    assert result.error is not None
    assert result.error.kind == "schema"


async def test_the_address_is_asked_for_as_it_was_given(project: Path) -> None:
    reader = make_reader(project, ("*", "ask"))
    result = await reader.fetch("https://Example.com/a")
    assert result.error is not None
    assert result.error.kind == "rejected"
    [question] = reader.user.questions
    assert (question.permission, question.patterns) == ("webfetch", ("https://Example.com/a",))
    assert question.always == ("*",)
    await reader.workspace.close()


@pytest.mark.parametrize("spelling", ["https://example.com/a", "HTTPS://EXAMPLE.COM/a", "https://example.com:443/a"])
async def test_a_rule_that_denies_an_address_holds_for_its_other_spellings(project: Path, spelling: str) -> None:
    reader = make_reader(project, ("https://example.com/*", "deny"))
    result = await reader.fetch(spelling)
    assert result.error is not None
    assert result.error.kind == "denied"
    await reader.workspace.close()


def _whole(result: Result) -> str:
    if result.metadata["truncated"]:
        return Path(result.metadata["outputPath"]).read_text("utf-8")
    return result.output


def _pdf(*pages: str, stream: str = "") -> bytes:
    """A PDF file with a line of text on each page, or with one page of this content."""
    pages = pages or ("",)
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(len(pages)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for number, text in enumerate(pages):
        line = f"BT /F1 24 Tf 72 700 Td ({text}) Tj ET"
        fonts = "/Resources << /Font << /F1 3 0 R >> >>"
        objects += [
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] {fonts} /Contents {5 + 2 * number} 0 R >>",
            stream or f"<< /Length {len(line)} >>\nstream\n{line}\nendstream",
        ]
    out, places = BytesIO(), list[int]()
    out.write(b"%PDF-1.4\n")
    for number, content in enumerate(objects, 1):
        places.append(out.tell())
        out.write(f"{number} 0 obj\n{content}\nendobj\n".encode())
    start = out.tell()
    out.write(f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode())
    out.write("".join(f"{place:010d} 00000 n \n" for place in places).encode())
    out.write(f"trailer << /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF".encode())
    return out.getvalue()
