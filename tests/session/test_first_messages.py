"""Conversations taken out of Python and begun with again."""

import json
from pathlib import Path
from typing import Any

import pytest

from toolwright import UsageError, open_workspace
from toolwright.models.model import AssistantMessage, ToolMessage, UserMessage
from toolwright.testing import ScriptedModel


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    return {"HOME": str(tmp_path / "home")}


@pytest.mark.parametrize("as_json", [False, True])
async def test_a_session_begins_with_the_messages_of_another(
    project: Path, home: dict[str, str], as_json: bool
) -> None:
    (project / "a.txt").write_text("forty-two\n")
    model = ScriptedModel({"tools": [{"name": "read", "args": {"filePath": "a.txt"}}]}, {"text": "It is 42."})
    async with open_workspace(project, model=model, environment=home) as w, w.session() as s:
        await s.prompt("What is it?")
        messages: list[Any] = list(s.messages)
    assert [(one.role, one.text) for one in messages] == [
        ("user", "What is it?"),
        ("assistant", ""),
        ("assistant", "It is 42."),
    ]
    given = json.loads(json.dumps([one.to_json() for one in messages])) if as_json else messages
    other = ScriptedModel({"text": "As I said."}, {"text": "Again."})
    async with open_workspace(project, model=other, environment=home, keep=True) as w:
        async with w.session(messages=given) as s:
            assert (await s.prompt("Sure?")).text == "As I said."
            assert s.messages[0].info.id != messages[0].info.id
        async with w.session(id=s.id) as s:
            assert [one.text for one in s.messages] == ["What is it?", "", "It is 42.", "Sure?", "As I said."]
    sent = next(one for one in other.requests if one.settings.purpose == "main").messages[1:]
    assert [type(one) for one in sent] == [UserMessage, AssistantMessage, ToolMessage, AssistantMessage, UserMessage]
    assert "forty-two" in str(sent[2])


async def test_a_session_begins_with_words_from_anywhere(project: Path, home: dict[str, str]) -> None:
    model = ScriptedModel({"text": "Ada."})
    said = [{"role": "user", "content": "I am Ada."}, {"role": "assistant", "content": "Hello, Ada."}]
    async with open_workspace(project, model=model, environment=home) as w, w.session(messages=said) as s:
        assert (await s.prompt("Who am I?")).text == "Ada."
        assert [one.role for one in s.messages] == ["user", "assistant", "user", "assistant"]
    assert [type(one) for one in model.requests[0].messages[1:]] == [UserMessage, AssistantMessage, UserMessage]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("Hi.", "messages='Hi.' is no list of messages"),
        ([3], "messages= has 3: give messages of a session"),
        ([{"role": "tool", "content": "x"}], "give messages of a session, or"),
        ([{"info": {}, "parts": []}], "messages= has a message that is damaged"),
    ],
)
async def test_what_is_no_message_is_told(project: Path, home: dict[str, str], given: Any, told: str) -> None:
    async with open_workspace(project, environment=home) as w:
        with pytest.raises(UsageError, match=told):
            w.session(messages=given)
        with pytest.raises(UsageError, match="for a new session"):
            w.session(id="ses_x", messages=[{"role": "user", "content": "x"}])


async def test_the_kind_of_a_failed_turn_is_a_word(project: Path, home: dict[str, str]) -> None:
    for kind in ("auth", "bad_request", "content_filter"):
        model = ScriptedModel({"error": {"kind": kind, "message": "No."}})
        async with open_workspace(project, model=model, environment=home) as w:
            error = (await w.prompt("Go.")).error
        assert error is not None
        assert error.kind == kind


async def test_to_look_at_a_new_session_stores_nothing(project: Path, home: dict[str, str]) -> None:
    async with open_workspace(project, environment=home, keep=True) as w, w.session() as s:
        assert (s.messages, s.waiting) == ([], [])
        assert await w.sessions.listed() == []
