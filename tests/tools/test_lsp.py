"""The lsp tool, with a scripted server."""

from pathlib import Path
from typing import Any

import pytest

from tests.lsp.stage import stage
from toolwright.permission.rules import Rule
from toolwright.testing import ScriptedUser, make_workspace


@pytest.fixture
def sources(project: Path) -> Path:
    (project / "a.scr").write_text("def name\n😀 name\n")
    (project / "b.scr").write_text("use name\n")
    return project


async def test_a_definition_is_a_place_with_its_line(sources: Path) -> None:
    async with stage(sources) as workspace:
        result = await workspace.call("lsp", operation="goToDefinition", filePath="b.scr", line=1, character=6)
    assert result.output == "a.scr:1:5  def name"


async def test_places_count_characters_and_not_units_of_a_server(sources: Path) -> None:
    async with stage(sources) as workspace:
        result = await workspace.call("lsp", operation="findReferences", filePath="a.scr", line=2, character=3)
    assert result.output.splitlines() == ["a.scr:1:5  def name", "a.scr:2:3  😀 name", "b.scr:1:5  use name"]


@pytest.mark.parametrize(
    ("query", "line", "place"),
    [
        ("name", 1, "1:5"),
        ("name", 3, "3:8"),
        ("Shop.name", 2, "1:5"),
        ("ns::name", 4, "3:8"),
        ("nowhere", 2, "2:1"),
        ("nam", 2, "2:1"),
        ("(", 2, "2:1"),
    ],
)
async def test_a_name_is_found_where_it_stands_nearest(sources: Path, query: str, line: int, place: str) -> None:
    (sources / "c.scr").write_text("use name\nnamed\nnamed, name\n")
    async with stage(sources, "finds nothing") as workspace:
        result = await workspace.call("lsp", operation="hover", filePath="c.scr", line=line, query=query)
    assert result.output.startswith(f"No results for hover at c.scr:{place}.")


@pytest.mark.parametrize("more", [{}, {"operation": "rename", "newName": "other", "line": 2}])
async def test_a_name_that_stands_nowhere_is_not_another_that_stands_first(sources: Path, more: Any) -> None:
    (sources / "c.scr").write_text("name\nname\n")
    async with stage(sources) as workspace:
        asked = {"operation": "findReferences", "filePath": "c.scr", "query": "nowhere", **more}
        result = await workspace.call("lsp", **asked)
    assert result.output == "There is no 'nowhere' in c.scr."
    assert (sources / "c.scr").read_text() == "name\nname\n"


async def test_hover_tells_what_the_server_says(sources: Path) -> None:
    async with stage(sources) as workspace:
        result = await workspace.call("lsp", operation="hover", filePath="b.scr", line=1, character=6)
    assert result.output == "the word name"


async def test_symbols_come_with_the_lines_they_take(sources: Path) -> None:
    async with stage(sources) as workspace:
        result = await workspace.call("lsp", operation="documentSymbol", filePath="a.scr")
    assert result.output == "a.scr:1:5 function name (lines 1-2)"


async def test_the_symbols_of_a_file_are_narrowed_by_name(sources: Path) -> None:
    (sources / "c.scr").write_text("def one\ndef two\n")
    async with stage(sources) as workspace:
        result = await workspace.call("lsp", operation="documentSymbol", filePath="c.scr", query="TW")
    assert result.output == "c.scr:2:5 function two (line 2)"


@pytest.mark.parametrize(
    ("line", "character", "said"),
    [
        (1, 1, "The word there is 'use'."),
        (1, 9, "The word there is 'name'."),
        (2, 1, "There is no name at that place; line 2 is empty."),
        (3, 2, "There is no name at that place; line 3 reads: ++ x"),
        (4, 1, "The file has 3 lines."),
    ],
)
async def test_nothing_found_is_said_with_what_stands_there(
    sources: Path, line: int, character: int, said: str
) -> None:
    (sources / "c.scr").write_text("use name\n\n ++ x\n")
    async with stage(sources, "finds nothing") as workspace:
        result = await workspace.call(
            "lsp", operation="goToDefinition", filePath="c.scr", line=line, character=character
        )
    assert result.output == f"No results for goToDefinition at c.scr:{line}:{character}. {said}"


async def test_a_search_for_symbols_wants_a_word(sources: Path) -> None:
    async with stage(sources, "finds nothing") as workspace:
        without = await workspace.call("lsp", operation="workspaceSymbol", filePath="b.scr")
        searched = await workspace.call("lsp", operation="workspaceSymbol", filePath="b.scr", query="zz")
    assert without.output == "No results for workspaceSymbol. Give query, a name or a part of one."
    assert searched.output == "No results for workspaceSymbol zz."


async def test_an_error_of_the_server_is_told(sources: Path) -> None:
    async with stage(sources, "fails") as workspace:
        result = await workspace.call("lsp", operation="hover", filePath="b.scr", line=1, character=1)
    assert result.error is not None
    assert "I do not feel well" in result.output


async def test_a_server_that_dies_over_a_question_is_said_with_what_to_do(sources: Path) -> None:
    async with stage(sources, "dies") as workspace:
        question = {"operation": "hover", "filePath": "b.scr", "line": 1, "character": 1}
        first = await workspace.call("lsp", **question)
        assert first.output == ("scripted ended before it answered. Call again in a few seconds, or use grep and read.")
        await workspace.languages.pool.settled()
        second = await workspace.call("lsp", **question)
        assert "it ended by itself, saying: error: it is broken. It is started again in" in second.output


async def test_what_the_server_cannot_do_is_said(sources: Path) -> None:
    async with stage(sources) as workspace:
        result = await workspace.call("lsp", operation="incomingCalls", filePath="b.scr", line=1, character=1)
    assert "scripted cannot answer incomingCalls" in result.output


async def test_a_file_without_a_server_is_said_with_what_to_do(sources: Path) -> None:
    (sources / "a.zzz").write_text("x")
    async with stage(sources) as workspace:
        result = await workspace.call("lsp", operation="hover", filePath="a.zzz", line=1, character=1)
    assert result.error is not None
    assert result.error.kind == "missing"
    assert "no language server here for .zzz" in result.output


async def test_a_file_whose_server_waits_for_trust_is_said_with_what_to_do(sources: Path, outside: Path) -> None:
    (sources / "a.rs").write_text("fn f() {}\n")
    program = outside / "bin" / "rust-analyzer"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    environment = {"PATH": str(program.parent)}
    config = {"permission": "allow", "lsp": True}
    async with make_workspace(sources, config=config, environment=environment, trust=False) as workspace:
        result = await workspace.call("lsp", operation="hover", filePath="a.rs")
    assert result.error is not None
    assert "rust, may run code of the project, which is not trusted" in result.output
    assert "tw trust" in result.output


async def test_a_name_is_changed_everywhere_in_one_call_that_can_be_undone(sources: Path) -> None:
    async with stage(sources) as workspace, workspace.session() as session:
        result = await session.call("lsp", operation="rename", filePath="b.scr", line=1, character=6, newName="other")
        assert "Renamed in 2 files" in result.output
        assert (sources / "a.scr").read_text() == "def other\n😀 other\n"
        assert (sources / "b.scr").read_text() == "use other\n"
        entries = workspace.files.journal.entries(session.id)
        assert len({entry.call_id for entry in entries}) == 1


async def test_a_repository_within_the_project_is_left_alone_by_a_rename_and_named(sources: Path) -> None:
    (sources / ".git").mkdir()
    (sources / "clone" / ".git").mkdir(parents=True)
    (sources / "clone" / "c.scr").write_text("use name\n")
    where = {"operation": "rename", "line": 1, "character": 6, "newName": "other"}
    async with stage(sources) as workspace:
        await workspace.call("lsp", operation="hover", filePath="clone/c.scr", line=1, character=6)
        result = await workspace.call("lsp", filePath="b.scr", **where)
        assert "Renamed in 2 files" in result.output
        assert "another repository within this one: clone/c.scr." in result.output
        assert (sources / "clone" / "c.scr").read_text() == "use name\n"
        inner = await workspace.call("lsp", filePath="clone/c.scr", **where)
    assert "Renamed in 1 file" in inner.output


async def test_a_rename_that_may_not_change_one_of_the_files_changes_none(sources: Path) -> None:
    async with stage(sources) as workspace:
        session = workspace.session(rules=[Rule("edit", "a.scr", "deny")])
        result = await session.call("lsp", operation="rename", filePath="b.scr", line=1, character=6, newName="other")
    assert result.error is not None
    assert result.error.kind == "denied"
    assert (sources / "b.scr").read_text() == "use name\n"


async def test_every_file_of_a_rename_is_asked_for(sources: Path) -> None:
    user = ScriptedUser.saying("reject")
    async with stage(sources, config={"permission": {"edit": "ask"}}, user=user) as workspace:
        result = await workspace.call("lsp", operation="rename", filePath="b.scr", line=1, character=6, newName="x")
    assert result.error is not None
    (question,) = user.questions
    assert sorted([*question.patterns, *(one for need in question.also for one in need.patterns)]) == ["a.scr", "b.scr"]
    assert (sources / "a.scr").read_text() == "def name\n😀 name\n"


@pytest.mark.parametrize("name", ["", "two words", "a.b", "f()", "1st", "a\nb", "x = 1"])
async def test_a_rename_without_a_name_is_refused(sources: Path, name: str) -> None:
    async with stage(sources) as workspace:
        result = await workspace.call("lsp", operation="rename", filePath="b.scr", line=1, character=6, newName=name)
    assert result.error is not None
    assert result.error.kind == "schema"
    assert "newName" in result.output


@pytest.mark.parametrize("name", ["größe", "_x", "$el", "is_open?", "x'", "--main-color", "#secret"])
async def test_a_name_may_be_one_of_any_language(sources: Path, name: str) -> None:
    async with stage(sources) as workspace:
        await workspace.call("lsp", operation="rename", filePath="b.scr", line=1, character=6, newName=name)
    assert (sources / "b.scr").read_text() == f"use {name}\n"


async def test_what_the_server_says_cannot_be_renamed_is_left(sources: Path) -> None:
    async with stage(sources, "prepares") as workspace:
        use = await workspace.call("lsp", operation="rename", filePath="b.scr", line=1, character=1, newName="x")
        assert use.output == "No results for rename at b.scr:1:1. The word there is 'use'."
        name = await workspace.call("lsp", operation="rename", filePath="b.scr", line=1, character=6, newName="x")
        assert "Renamed in 2 files" in name.output


async def test_code_actions_are_listed_and_applied_by_their_title(sources: Path) -> None:
    (sources / "c.scr").write_text("BAD\n")
    async with stage(sources) as workspace:
        where = {"filePath": "c.scr", "line": 1, "character": 1}
        listed = await workspace.call("lsp", operation="codeAction", **where)
        assert "- Fix 2 errors" in listed.output
        missing = await workspace.call("lsp", operation="codeAction", query="nothing like it", **where)
        assert missing.error is not None
        applied = await workspace.call("lsp", operation="codeAction", query="Fix 2 errors", **where)
    assert "Applied 'Fix 2 errors' in 1 file" in applied.output
    assert (sources / "c.scr").read_text() == "GOOD AD\n"


async def test_a_code_action_may_be_a_command_of_the_server(sources: Path) -> None:
    async with stage(sources) as workspace:
        where = {"filePath": "b.scr", "line": 1, "character": 1}
        applied = await workspace.call("lsp", operation="codeAction", query="by command", **where)
    assert applied.error is None, applied.output
    assert (sources / "b.scr").read_text() == "RAN se name\n"


async def test_an_answer_that_makes_no_sense_is_said_to(sources: Path) -> None:
    (sources / "c.scr").write_text("NONSENSE\n")
    async with stage(sources) as workspace:
        result = await workspace.call("lsp", operation="documentSymbol", filePath="c.scr")
    assert result.error is not None
    assert "makes no sense" in result.output


async def test_lines_of_files_that_may_not_be_read_are_not_shown(sources: Path) -> None:
    async with stage(sources) as workspace:
        session = workspace.session(rules=[Rule("read", "a.scr", "deny")])
        result = await session.call("lsp", operation="goToDefinition", filePath="b.scr", line=1, character=6)
    assert result.output == "a.scr:1:5"


async def test_the_tool_is_offered_where_there_are_servers(sources: Path) -> None:
    async with stage(sources) as workspace, stage(sources, config={"lsp": False}) as without:
        assert "lsp" in [tool.id for tool in await workspace.registry.tools("p", "m", workspace.session().ruled_agent)]
        assert "lsp" not in [tool.id for tool in await without.registry.tools("p", "m", without.session().ruled_agent)]
