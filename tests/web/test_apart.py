"""Large pages are converted apart, and those that are made to take for ever are given up."""

import subprocess
import sys

import pytest

from toolwright.errors import ToolError
from toolwright.files.query import SearchRun
from toolwright.web import apart
from toolwright.web.apart import LARGE, converted
from toolwright.web.convert import Form, convert
from toolwright.web.pages import WebPage
from toolwright.web.shown import show
from toolwright.web.urls import parse_url

pytest.importorskip("turbohtml", reason="turbohtml is not installed")

PARAGRAPH = "<section><h2>Größe \N{PILE OF POO}</h2><p>Some <b>text</b> and <a href='x'>a link</a>.</p></section>"


@pytest.mark.parametrize("form", ["markdown", "text"])
@pytest.mark.parametrize("fits", [True, False])
def test_a_large_page_comes_out_as_a_small_one_would(form: Form, fits: bool) -> None:
    html = f"<nav>menu</nav><main>{PARAGRAPH * (LARGE // len(PARAGRAPH) + 1)}</main>"
    assert len(html) > LARGE
    expected = convert(html, form, "https://x.example/a/", lambda _: fits)
    assert converted(html, form, "https://x.example/a/", lambda _: fits) == expected


def test_half_a_character_is_no_trouble() -> None:
    html = f"<p>\ud800 {'x ' * LARGE}</p>"
    assert converted(html, "text", "https://x.example/") == convert(html, "text", "https://x.example/")


@pytest.mark.slow
def test_a_page_that_takes_for_ever_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apart, "SECONDS", 1)
    with pytest.raises(ToolError, match="more time or memory than any real page does"):
        converted("<pre>x\n" * 600_000, "markdown", "https://x.example/")


def test_nobody_waits_for_a_page_that_is_no_longer_wanted() -> None:
    run = SearchRun()
    run.end()
    with pytest.raises(ToolError):
        converted("<p>word" * LARGE, "text", "https://x.example/", run=run)


def test_limits_that_are_lower_already_stay() -> None:
    script = (
        "import resource; resource.setrlimit(resource.RLIMIT_CPU, (8, 8))\n"
        "from toolwright.web.apart import LARGE, converted\n"
        "print(bool(converted('<p>word' * (LARGE // 5), 'text', 'https://x.example/')))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"


def test_a_refusal_is_told_whatever_page_comes_with_it() -> None:
    url = parse_url("https://x.example/")
    data = b"<!doctype html><p>Not here.</p>" + b"<pre>x\n" * 600_000
    page = WebPage(url=url, hops=(url,), status=404, reason="Not Found", content_type="text/html", data=data)
    with pytest.raises(ToolError, match=r"answered 404 Not Found\. It says: Not here"):
        show(page, "markdown", lambda _: True)


def test_a_page_that_grows_too_long_says_so() -> None:
    html = "<blockquote>x" * 250_000
    with pytest.raises(ToolError) as whole:
        convert(html, "markdown", "https://x.example/")
    with pytest.raises(ToolError) as far:
        converted(html, "markdown", "https://x.example/")
    assert (str(far.value), far.value.kind) == (str(whole.value), whole.value.kind)
