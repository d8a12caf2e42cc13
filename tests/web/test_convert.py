"""HTML as documentation sites and code hosts write it, turned into what a model reads."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolwright.errors import ToolError
from toolwright.web.convert import LONGEST, convert

BASE = "https://docs.example/lib/a.html"
MANUAL = """<html><body><div role="main"><section id="x">
<h1>asyncio.timeout<a class="headerlink" href="#x" title="Link to this heading">\u00b6</a></h1>
<dl><dt id="f"><em><span>async </span></em><span>timeout</span><span>(</span><em>delay</em><span>)</span>
<a class="headerlink" href="#f">\u00b6</a></dt>
<dd><p>Return an <a href="../glossary.html#term"><span>asynchronous context manager</span></a>;
see <a href="#f">above</a>. If <em>delay</em> is <code><span class="pre">None</span></code>, no limit.</p>
<div class="highlight"><pre><span></span><span>async</span> <span>with</span> <span>timeout</span>(10):
    <span class="k">await</span> <span class="n">long</span>()
</pre></div></dd></dl></section></div></body></html>"""
PROJECT = """<article><div><h2>Install</h2><a class="anchor" href="#install"><svg><path d="m1"></path></svg></a></div>
<p><a href="/x/actions"><img src="/badge.svg" alt="CI"></a> <del>old</del> a_b*c &lt;tag&gt;</p>
<ul><li><input type="checkbox" checked> done</li><li><input type="checkbox"> todo</li></ul>
<table><thead><tr><th>Key</th><th>Value</th></tr></thead>
<tbody><tr><td>a</td><td>b | <code>c</code></td></tr></tbody></table>
<details><summary>More</summary><p>inside</p></details><p>line<br>break</p>
<ol start="3"><li>three</li><li>four</li></ol><blockquote><p>quoted</p></blockquote>
<p>Press <kbd>Ctrl</kbd></p></article>"""


def test_a_manual_as_markdown() -> None:
    assert (
        convert(MANUAL, "markdown", BASE)
        == """\
# asyncio.timeout

*async* timeout(*delay*)

Return an [asynchronous context manager](https://docs.example/glossary.html#term); see \
[above](https://docs.example/lib/a.html#f). If *delay* is `None`, no limit.

```
async with timeout(10):
    await long()
```"""
    )


def test_a_manual_as_text() -> None:
    assert (
        convert(MANUAL, "text", BASE)
        == """\
asyncio.timeout

async timeout(delay)

Return an asynchronous context manager; see above. If delay is None, no limit.

    async with timeout(10):
        await long()"""
    )


def test_the_page_of_a_project_as_markdown() -> None:
    assert (
        convert(PROJECT, "markdown", BASE)
        == """\
## Install

[![CI](https://docs.example/badge.svg)](https://docs.example/x/actions) ~~old~~ a\\_b\\*c \\<tag>

- [x] done
- [ ] todo

| Key | Value |
| --- | --- |
| a | b \\| `c` |

More

inside

line\x20\x20
break

3. three
4. four

> quoted

Press `Ctrl`"""
    )


def test_the_page_of_a_project_as_text() -> None:
    assert (
        convert(PROJECT, "text", BASE)
        == """\
Install

old a_b*c <tag>

- done
- todo

Key Value

a b | c

More

inside

line
break

3. three
4. four

quoted

Press Ctrl"""
    )


def test_a_page_that_is_hidden_as_a_whole_until_its_script_has_run_is_shown() -> None:
    assert convert('<body style="visibility:hidden"><p>here</p></body>', "markdown", BASE) == "here"


def test_links_that_would_swell_a_page_stay_as_they_are() -> None:
    html = f"<base href='/{'y' * 100_000}/'>" + "<a href=x>z</a>" * 1000
    assert len(convert(html, "markdown", BASE)) < 20_000


def test_a_page_that_grows_beyond_measure_is_refused() -> None:
    with pytest.raises(ToolError, match="Use format html") as raised:
        convert("<blockquote>x" * (LONGEST // 80), "markdown", BASE)
    assert raised.value.kind == "too_large"


TAGS = (
    "div p b a ul li table tr td pre code blockquote h1 script svg math template select form br img dl base body head"
)
MORE = ("", " hidden", " href=#", " colspan=3", " style=display:none")
PIECES = st.one_of(
    st.builds("<{}{}{}>".format, st.sampled_from(["", "/"]), st.sampled_from(TAGS.split()), st.sampled_from(MORE)),
    st.sampled_from(["&amp;", "&#0;", "\0", "|", "`", "*", "\n", "<!--", "-->", "<![CDATA[", "]]>", "<!doctype html>"]),
    st.text(max_size=5),
)


@settings(deadline=None)
@given(st.lists(PIECES, max_size=60), st.booleans())
def test_any_soup_of_tags_becomes_text(pieces: list[str], fits: bool) -> None:
    for form in ("markdown", "text"):
        assert isinstance(convert("".join(pieces), form, BASE, lambda _: fits), str)
