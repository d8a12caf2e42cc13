"""The colours of code on the full screen."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolwright.terminal.screen import CYAN, DIM, GREEN, YELLOW
from toolwright.tui.highlight import LONGEST, MAGENTA, highlighted

PIECES = [
    "'",
    '"',
    '"""',
    "`",
    "\\",
    "/*",
    "*/",
    "//",
    "#",
    "--",
    "<!--",
    "-->",
    "<a",
    "@x",
    "0x1",
    "f(",
    "k:",
    "\n",
    " ",
]


@pytest.mark.parametrize(
    ("language", "line", "pieces"),
    [
        ("python", "def f(a=1):  # why", {"def": MAGENTA, "f": CYAN, "1": YELLOW, "# why": DIM}),
        ("Python title=x.py", "return 'a' + \"b\"", {"return": MAGENTA, "'a'": GREEN, '"b"': GREEN}),
        ("sh", "echo don't # it", {"# it": DIM}),
        ("yaml", "  port: 80", {"  port": CYAN, "80": YELLOW}),
        ("rust", "fn f<'a>(x: &'a str) {} // c", {"fn": MAGENTA, "// c": DIM}),
        ("ts", "const a = `x`", {"const": MAGENTA, "`x`": GREEN}),
        ("sql", "SELECT a -- b", {"SELECT": MAGENTA, "-- b": DIM}),
        ("html", '<a href="x">', {"<a": MAGENTA, '"x"': GREEN}),
    ],
)
def test_what_stands_out_has_a_colour(language: str, line: str, pieces: dict[str, str]) -> None:
    found = highlighted(line, language)
    assert found is not None
    assert pieces.items() <= {text: colour for text, colour in found[0] if colour}.items()


def test_what_spans_lines_is_coloured_on_each() -> None:
    assert highlighted('x = """a\nb"""', "py") == [[("x = ", ""), ('"""a', GREEN)], [('b"""', GREEN)]]


@pytest.mark.parametrize("language", ["", "brainfog", "  "])
def test_a_language_that_is_not_known_has_none(language: str) -> None:
    assert highlighted("x = 1", language) is None


def test_code_that_is_too_long_has_none() -> None:
    assert highlighted("x" * (LONGEST + 1), "python") is None


@given(
    text=st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=60).map("".join),
    language=st.sampled_from(["python", "js", "rust", "sql", "html", "toml"]),
)
@settings(deadline=None)
def test_no_text_is_changed_by_it(text: str, language: str) -> None:
    plain = text.encode("utf-8", "replace").decode()
    if plain.isprintable() or plain.replace("\n", "").isprintable():
        found = highlighted(plain, language)
        assert found is not None
        assert "\n".join("".join(piece for piece, _ in line) for line in found) == plain
