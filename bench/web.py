"""What a page of the web costs once it is there: 800 KB of HTML to Markdown and text, and a whole call over loopback.

python bench/web.py
"""

import asyncio
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from toolwright.definition import Call
from toolwright.permission.rules import Rule
from toolwright.testing import make_session
from toolwright.web.convert import Form, convert

ROUNDS = 15
LIMIT = 50.0
"""Milliseconds that the conversion may take."""
SECTION = """
<section id="s{n}"><h2>Section {n}</h2>
<p>Some <b>text</b> with <a href="/docs/{n}.html">a link</a>, <code>code</code> and more text to read, as it is.</p>
<ul><li>one<ul><li>deeper</li></ul></li><li>two</li></ul>
<pre><code class="language-python">def f{n}(x):
    return x &lt; {n}
</code></pre>
<table><tr><th>A</th><th>B</th></tr><tr><td>{n}</td><td>x|y</td></tr></table></section>"""


def page(size: int) -> str:
    """A page of about so many characters, as documentation is written."""
    menu = "".join(f'<li><a href="/n/{number}">Entry {number}</a></li>' for number in range(200))
    sections, number = list[str](), 0
    while sum(map(len, sections[-1:])) * number < size:
        sections.append(SECTION.replace("{n}", str(number)))
        number += 1
    return f"<!doctype html><title>Page</title><nav><ul>{menu}</ul></nav><main>{''.join(sections)}</main>"


def timed(work: Callable[[], object]) -> float:
    """The best time of some rounds, in milliseconds of a processor: what it costs where nobody else is at work."""
    work()
    spent = []
    for _ in range(ROUNDS):
        started = time.process_time()
        work()
        spent.append(time.process_time() - started)
    return min(spent) * 1000


async def main() -> None:
    html = page(800_000)
    print(f"{len(html):,} characters of HTML")
    forms: tuple[Form, ...] = ("markdown", "text")
    for form in forms:
        for what, fits in (("in order", True), ("main part first", False)):

            def work(form: Form = form, fits: bool = fits) -> str:
                return convert(html, form, "https://docs.example/a/", lambda _: fits)

            spent = timed(work)
            verdict = "ok" if spent < LIMIT else "TOO SLOW"
            print(f"  {form + ', ' + what:28} {spent:7.1f} ms   limit {LIMIT:.0f} ms   {verdict}")
    print(f"  {'a whole call over loopback':28} {await whole_call(html):7.1f} ms")


async def whole_call(html: str) -> float:
    data = html.encode()
    head = f"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: {len(data)}\r\n\r\n".encode()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(head + data)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "project"
        folder.mkdir()
        session = make_session(folder, rules=[Rule("webfetch", f"{url}*", "allow")])
        spent = []
        for _ in range(ROUNDS):
            started = time.perf_counter()
            result = await session.run_call(Call(id="c", tool="webfetch", arguments={"url": url}))
            spent.append(time.perf_counter() - started)
            assert result.error is None, result.output
    server.close()
    return statistics.median(spent) * 1000


if __name__ == "__main__":
    asyncio.run(main())
