"""Words looked up in all sessions: in prompts, answers and calls, and nowhere once a session is deleted."""

import sqlite3
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.session.trial import calls, opened, read, says
from toolwright.errors import UsageError
from toolwright.messages import TextPart
from toolwright.session.storage.search import Hit
from toolwright.testing import ScriptedModel, make_workspace
from toolwright.workspace import Workspace


async def found(workspace: Workspace, words: str) -> list[Hit]:
    return await workspace.sessions.search(words)


async def test_words_are_found_in_prompts_answers_calls_and_titles(project: Path) -> None:
    async with opened(project, calls(read()), says("The Pool drops idle sockets.")) as trial:
        await trial.prompt("Why is find_key slow?")
        for words in ("find_key", "pool SOCKETS", "sock", "a.txt", trial.session.info.title):
            [hit] = await found(trial.workspace, words)
            assert hit.info.id == trial.session.id, words
        assert not await found(trial.workspace, "pool nowhere")
        [hit] = await found(trial.workspace, "drops")
        assert ("drops", True) in hit.passage.pieces
        assert hit.passage.text == "The Pool drops idle sockets."
        with pytest.raises(UsageError, match="Give words"):
            await found(trial.workspace, " * ")


async def test_what_is_said_or_changed_later_is_found_by_the_next_search(project: Path) -> None:
    async with opened(project, says("First."), says("Second.")) as trial:
        await trial.prompt("one")
        assert await found(trial.workspace, "first")
        parts = [part for one in trial.messages for part in one.parts.values() if isinstance(part, TextPart)]
        [part] = [part for part in parts if part.text == "First."]
        trial.session.conversation.put(replace(part, text="Otherwise."))
        await trial.prompt("two")
        assert not await found(trial.workspace, "first")
        assert await found(trial.workspace, "otherwise")
        assert await found(trial.workspace, "second")


async def test_a_deleted_session_leaves_no_word_in_the_index(project: Path) -> None:
    async with opened(project, says("Unrepeatable.")) as trial:
        await trial.prompt("one")
        assert await found(trial.workspace, "unrepeatable")
        await trial.workspace.sessions.delete(trial.session.id)
        with sqlite3.connect(trial.workspace.folders.database) as database:
            assert database.execute("SELECT count(*) FROM words").fetchone() == (0,)
        assert not await found(trial.workspace, "unrepeatable")


async def test_sessions_of_other_projects_are_found_only_where_that_is_wanted(project: Path) -> None:
    other = project.parent / "other"
    other.mkdir()
    home: dict[str, Any] = {"environment": {"HOME": str(project.parent / "home")}}
    async with opened(other, says("Elsewhere said."), **home) as trial:
        await trial.prompt("one")
    async with opened(project, **home) as here:
        assert not await found(here.workspace, "elsewhere")
        [hit] = await here.workspace.sessions.search("elsewhere", everywhere=True)
        assert hit.info.directory == str(other)


async def test_sessions_that_are_kept_in_memory_are_searched_as_well(project: Path) -> None:
    async with make_workspace(project, model=ScriptedModel({"text": "The pool drops them."})) as workspace:
        await workspace.sessions.create().prompt("why?")
        [hit] = await found(workspace, "POOL drops")
        assert ("pool", True) in hit.passage.pieces
