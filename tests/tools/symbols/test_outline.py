"""The lsp tool on one symbol of a file: its lines read, and replaced."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.lsp.stage import stage
from toolwright.definition import Result
from toolwright.permission.rules import Rule
from toolwright.session.session import Session
from toolwright.testing import ScriptedUser, make_workspace

SOURCE = '''import os

LIMIT = 3


@decorated(
    1,
)
def outer(x):
    def inner():
        return 1

    return inner


class Shop:
    size: int = 1

    @property
    def price(self):
        return 1

    @price.setter
    def price(self, value):
        pass

    def close(self):
        """Close it."""
        return os


if LIMIT:

    def close():
        return 2
'''


@pytest.fixture
async def session(project: Path) -> AsyncIterator[Session]:
    """A session of a project in Python in which no server is found."""
    (project / "a.py").write_text(SOURCE)
    none = {name: {"disabled": True} for name in ("ty", "basedpyright", "pyright")}
    config = {"permission": "allow", "lsp": none, "edit": {"gate": True}}
    async with make_workspace(project, config=config, environment={"PATH": ""}) as made:
        yield made.session()


async def read(session: Session, query: str = "", line: int = 1) -> Result:
    return await session.call("lsp", operation="readSymbol", filePath="a.py", query=query, line=line)


async def replace(session: Session, query: str, new: str, line: int = 1) -> Result:
    arguments = {"filePath": "a.py", "query": query, "newString": new, "line": line}
    return await session.call("lsp", operation="replaceSymbol", **arguments)


async def test_a_python_file_is_listed_without_a_server(session: Session) -> None:
    result = await session.call("lsp", operation="documentSymbol", filePath="a.py")
    assert result.output.splitlines() == [
        "a.py:3:1 constant LIMIT (line 3)",
        "a.py:9:5 function outer (lines 6-13)",
        "a.py:10:9   function inner (lines 10-11)",
        "a.py:16:7 class Shop (lines 16-29)",
        "a.py:17:5   field size (line 17)",
        "a.py:20:9   method price (lines 19-21)",
        "a.py:24:9   method price (lines 23-25)",
        "a.py:27:9   method close (lines 27-29)",
        "a.py:34:9 function close (lines 34-35)",
    ]


async def test_the_lines_of_one_symbol_are_shown_as_read_shows_them(session: Session) -> None:
    result = await read(session, "Shop.close")
    assert result.output == (
        '<file>\n00027|     def close(self):\n00028|         """Close it."""\n00029|         return os\n\n'
        "(method Shop.close: lines 27-29 of 35)\n</file>"
    )


@pytest.mark.parametrize(
    ("query", "line", "lines"),
    [
        ("outer", 1, "lines 6-13"),
        ("inner", 1, "lines 10-11"),
        ("Shop::close", 1, "lines 27-29"),
        ("close", 1, "lines 34-35"),
        ("price", 24, "lines 23-25"),
        ("", 11, "lines 10-11"),
        ("", 13, "lines 6-13"),
        ("", 17, "lines 16-29"),
        ("", 3, "line 3"),
    ],
)
async def test_a_symbol_is_found_by_its_name_or_by_a_line_of_it(
    session: Session, query: str, line: int, lines: str
) -> None:
    assert f": {lines} of" in (await read(session, query, line)).output


@pytest.mark.parametrize(
    ("query", "line", "kind", "said"),
    [
        ("price", 1, "ambiguous", "'price' is several: Shop.price (lines 19-21), Shop.price (lines 23-25)."),
        ("Shop.clse", 1, "not_found", "Did you mean Shop.close"),
        ("zzzzz", 1, "not_found", "documentSymbol lists what there is."),
        ("", 1, "not_found", "Nothing that the file defines holds line 1."),
    ],
)
async def test_what_is_not_one_symbol_is_said_with_what_to_do(
    session: Session, query: str, line: int, kind: str, said: str
) -> None:
    result = await read(session, query, line)
    assert result.error is not None
    assert result.error.kind == kind
    assert said in result.output


async def test_a_symbol_is_replaced_in_one_call_that_can_be_undone(session: Session, project: Path) -> None:
    await read(session, "Shop.close")
    result = await replace(session, "Shop.close", "    def close(self):\n        return 5\n")
    assert result.error is None, result.output
    assert "Replaced Shop.close in 1 file" in result.output
    was = '    def close(self):\n        """Close it."""\n        return os\n'
    assert (project / "a.py").read_text() == SOURCE.replace(was, "    def close(self):\n        return 5\n")
    await session.call("undo")
    assert (project / "a.py").read_text() == SOURCE


async def test_a_new_text_without_indentation_gets_that_of_the_symbol(session: Session, project: Path) -> None:
    await read(session, "Shop.close")
    result = await replace(session, "Shop.close", "def close(self):\n    if 1:\n\n        return 5")
    assert "newString was indented to fit" in result.output
    assert "    def close(self):\n        if 1:\n\n            return 5\n\n\nif LIMIT" in (project / "a.py").read_text()


async def test_the_decorators_of_a_symbol_are_part_of_it(session: Session, project: Path) -> None:
    await read(session, "outer")
    await replace(session, "outer", "def outer():\n    pass\n")
    assert (
        (project / "a.py").read_text().startswith("import os\n\nLIMIT = 3\n\n\ndef outer():\n    pass\n\n\nclass Shop")
    )


async def test_an_empty_text_deletes_the_lines(session: Session, project: Path) -> None:
    await read(session, "LIMIT")
    await replace(session, "LIMIT", "")
    assert (project / "a.py").read_text() == SOURCE.replace("LIMIT = 3\n", "")


async def test_line_ends_mark_and_mode_stay(session: Session, project: Path) -> None:
    (project / "a.py").write_bytes(b"\xef\xbb\xbfdef f():\r\n    return 1\r\n\r\nx = 1")
    (project / "a.py").chmod(0o755)
    await read(session, "f")
    await replace(session, "f", "def f():\n    y = 2\n    return y\n")
    await replace(session, "x", "x = 2\n")
    assert (project / "a.py").read_bytes() == (b"\xef\xbb\xbfdef f():\r\n    y = 2\r\n    return y\r\n\r\nx = 2")
    assert (project / "a.py").stat().st_mode & 0o777 == 0o755


async def test_a_file_must_have_been_read_before_a_symbol_of_it_is_replaced(session: Session, project: Path) -> None:
    unread = await replace(session, "outer", "x = 1")
    assert unread.error is not None
    assert unread.error.kind == "unread"
    await read(session, "outer")
    (project / "a.py").write_text(SOURCE + "# more\n")
    stale = await replace(session, "outer", "x = 1")
    assert stale.error is not None
    assert stale.error.kind == "stale"


async def test_what_cannot_be_replaced_as_whole_lines_is_left(session: Session, project: Path) -> None:
    (project / "a.py").write_text("class A: x = 1\ny = 2; z = 3\n")
    await read(session, "y")
    for name, other in (("x", "A"), ("y", "z")):
        result = await replace(session, name, "new = 1")
        assert result.error is not None
        assert f"shares a line with {other}" in result.output
    assert (project / "a.py").read_text() == "class A: x = 1\ny = 2; z = 3\n"


async def test_the_new_text_must_be_given_and_new(session: Session) -> None:
    await read(session, "LIMIT")
    missing = await session.call("lsp", operation="replaceSymbol", filePath="a.py", query="LIMIT")
    assert missing.error is not None
    assert missing.error.kind == "schema"
    same = await replace(session, "LIMIT", "LIMIT = 3\n")
    assert same.error is not None
    assert same.error.kind == "same"


async def test_a_file_that_cannot_be_parsed_is_said(session: Session, project: Path) -> None:
    (project / "a.py").write_text("def f(:\n")
    assert "cannot be parsed" in (await read(session, "f")).output


async def test_other_files_need_a_server(session: Session, project: Path) -> None:
    (project / "a.rs").write_text("fn f() {}\n")
    result = await session.call("lsp", operation="readSymbol", filePath="a.rs", query="f")
    assert result.error is not None
    assert "no language server here for .rs" in result.output


async def test_with_a_server_its_symbols_count_and_the_new_errors_are_told(project: Path) -> None:
    (project / "a.scr").write_text("top\ndef one\nfirst\n  def part\n  more\ndef two\n")
    async with stage(project, config={"edit": {"gate": True}}) as workspace, workspace.session() as session:
        shown = await session.call("lsp", operation="readSymbol", filePath="a.scr", query="one.part")
        assert shown.output.startswith("<file>\n00004|   def part\n00005|   more\n")
        arguments = {"filePath": "a.scr", "query": "one.part", "newString": "def part\nBAD\n"}
        result = await session.call("lsp", operation="replaceSymbol", **arguments)
        assert result.output.startswith("The change is made, but it brought 1 new error")
        assert "ERROR [5:1] bad: BAD" in result.output
        assert (project / "a.scr").read_text() == "top\ndef one\nfirst\n  def part\n  BAD\ndef two\n"


async def test_replacing_asks_for_the_edit_with_what_would_change(project: Path) -> None:
    (project / "a.scr").write_text("def one\nold\n")
    user = ScriptedUser.saying("reject")
    async with stage(project, config={"permission": {"edit": "ask"}}, user=user) as workspace:
        session = workspace.session()
        await session.call("read", filePath="a.scr")
        arguments = {"filePath": "a.scr", "query": "one", "newString": "def one\nnew\n"}
        result = await session.call("lsp", operation="replaceSymbol", **arguments)
    assert result.error is not None
    [question] = user.questions
    assert "+new" in str(question)
    assert (project / "a.scr").read_text() == "def one\nold\n"


async def test_who_may_not_read_or_change_the_file_cannot_by_symbol(project: Path) -> None:
    (project / "a.scr").write_text("def one\n")
    async with stage(project) as workspace:
        blind = workspace.session(rules=[Rule("read", "a.scr", "deny")])
        reader = workspace.session(rules=[Rule("edit", "*", "deny")])
        seen = await blind.call("lsp", operation="readSymbol", filePath="a.scr", query="one")
        await reader.call("read", filePath="a.scr")
        changed = await reader.call("lsp", operation="replaceSymbol", filePath="a.scr", query="one", newString="x")
    for result in (seen, changed):
        assert result.error is not None
        assert result.error.kind == "denied"
    assert (project / "a.scr").read_text() == "def one\n"
