"""Patterns made to cost: each ends, and means what it meant before it was made cheap."""

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.files.tool_case import lay_out, make_case
from toolwright.files import globs
from toolwright.files.globs import GlobError, parse_glob
from toolwright.files.query import Query
from toolwright.files.search import find_lines
from toolwright.tools.apply_patch import apply_patch
from toolwright.tools.glob import glob

PIECES = st.sampled_from(["*", "**", "/", "a", "b", "?", "**/", "/**/", "{a,b*}", "*a", "[ab]", "[!a]"])
PATHS = st.lists(st.text("ab", min_size=1, max_size=3), min_size=1, max_size=5).map("/".join)

COSTLY = {
    "many stars": ("*a" * 40 + "b", "a" * 250),
    "many double stars": ("**/a/" * 40 + "b", "a/" * 1000 + "a"),
    "both": ("**/*a*a/" * 20 + "b", ("a" * 200 + "/") * 19 + "a"),
    "braces with stars": ("{*a,*b}" * 6 + "c", "ab" * 100),
}


@pytest.mark.parametrize("attack", COSTLY)
def test_a_costly_glob_is_answered(attack: str) -> None:
    pattern, path = COSTLY[attack]
    assert parse_glob(pattern).selects(path) is False


@pytest.mark.parametrize("pattern", ["{" * 5000, "{a,aa}" * 30, "a" * 20_000, "{" * 200 + "a" + "}" * 199])
def test_a_glob_that_is_too_much_is_refused(pattern: str) -> None:
    with pytest.raises(GlobError):
        parse_glob(pattern)


@settings(deadline=None)
@given(pieces=st.lists(PIECES, min_size=1, max_size=7), paths=st.lists(PATHS, min_size=1, max_size=5))
def test_a_glob_fits_what_it_would_fit_if_everything_was_tried(pieces: list[str], paths: list[str]) -> None:
    pattern = "".join(pieces)
    cheap = parse_glob(pattern)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(globs, "_joined", "".join)
        thorough = parse_glob(pattern)
    for path in paths:
        assert (cheap.regex.fullmatch(path) is None) == (thorough.regex.fullmatch(path) is None), (pattern, path)


@pytest.mark.parametrize(("pattern", "path"), [("[--0]", "."), ("[+--]", ","), ("a[a-c--]", "a-"), ("[-a]", "-")])
def test_dashes_in_a_set_are_read_without_a_warning(pattern: str, path: str) -> None:
    assert parse_glob(pattern).fits(path, folder=False)


async def test_the_glob_tool_answers_too(tmp_path: Path) -> None:
    case = make_case(tmp_path)
    lay_out(case.project, {"a" * 200: "", "a" * 100 + "b": ""})
    result = await case.run(glob, pattern="*a" * 30 + "b")
    assert result.metadata["count"] == 1
    refused = await case.run(glob, pattern="{" * 5000)
    assert refused.error is None
    assert "is no glob" in refused.output


@pytest.mark.parametrize("pattern", ["(a+)+$b", "(a|aa)+c", "(a*)*b", "(?:a?){30}a{30}b"])
async def test_a_costly_expression_is_answered(tmp_path: Path, pattern: str) -> None:
    lay_out(tmp_path, {"long": "a" * 5000 + "\n"})
    found = await find_lines(Query(pattern=pattern, base=tmp_path))
    assert (found.shown, found.complete) == (0, True)


async def test_a_patch_that_changes_nothing_says_so(tmp_path: Path) -> None:
    case = make_case(tmp_path)
    lay_out(case.project, {"a": "one\n"})
    before = (case.project / "a").stat()
    text = "*** Begin Patch\n*** Update File: a\n@@\n-one\n+one\n*** End Patch"
    result = await case.run(apply_patch, patchText=text)
    assert result.error is None
    assert "nothing was written" in result.output
    after = (case.project / "a").stat()
    assert (after.st_ino, after.st_ctime_ns) == (before.st_ino, before.st_ctime_ns)
    assert re.search("broke", result.output) is None
