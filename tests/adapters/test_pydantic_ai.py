"""The toolset for pydantic-ai: approvals, advice, files, failures, and their toolsets as our tools."""

import base64
from pathlib import Path
from typing import Any

import pytest

from toolwright.testing import make_workspace

pytest.importorskip("pydantic_ai", reason="pydantic-ai is not installed")

from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults, FunctionToolset, ModelRetry, ToolDenied
from pydantic_ai.messages import BinaryContent, ModelResponse, TextPart, ToolCallPart, ToolReturn, ToolReturnPart
from pydantic_ai.models.function import FunctionModel

from toolwright.adapters.pydantic_ai import Toolset, from_toolset

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
BASH: dict[str, Any] = {"command": "touch made", "description": "Make"}


def agent_calling(target: Any, tool: str, arguments: dict[str, Any]) -> Any:
    def model(messages: Any, info: Any) -> ModelResponse:
        if len(messages) == 1:
            return ModelResponse(parts=[ToolCallPart(tool, arguments, "c1")])
        return ModelResponse(parts=[TextPart("Done.")])

    return Agent(FunctionModel(model), toolsets=[Toolset(target)], output_type=[str, DeferredToolRequests])


def returned(result: Any) -> Any:
    parts = [part for message in result.all_messages() for part in message.parts]
    return next(part for part in parts if isinstance(part, ToolReturnPart))


async def test_a_question_is_deferred_and_nothing_is_done_before_the_answer(project: Path) -> None:
    async with make_workspace(project, config={"permission": {"bash": "ask"}}) as workspace:
        agent = agent_calling(workspace, "bash", BASH)
        first = await agent.run("Go")
        assert isinstance(first.output, DeferredToolRequests)
        assert first.output.metadata["c1"]["patterns"] == ["touch made"]
        assert not (project / "made").exists()
        history = first.all_messages()
        await agent.run(message_history=history, deferred_tool_results=DeferredToolResults(approvals={"c1": True}))
        assert (project / "made").exists()
        assert workspace.gate.approvals.listed() == []
        assert isinstance((await agent.run("Again")).output, DeferredToolRequests)


async def test_always_is_stored_and_holds_from_then_on(project: Path) -> None:
    async with make_workspace(project, config={"permission": {"bash": "ask"}}) as workspace:
        agent = agent_calling(workspace, "bash", BASH)
        first = await agent.run("Go")
        results = DeferredToolResults(approvals={"c1": True}, metadata={"c1": {"reply": "always"}})
        await agent.run(message_history=first.all_messages(), deferred_tool_results=results)
        assert [(scope, one.pattern) for scope, one in workspace.gate.approvals.listed()] == [("project", "touch *")]
        assert (await agent.run("Again")).output == "Done."


async def test_of_a_batch_nothing_is_done_before_the_answer_and_nothing_twice(project: Path) -> None:
    commands = ("echo x >> log", "touch made")
    calls = [{"tool": "bash", "parameters": {"command": one, "description": "Do"}} for one in commands]
    config = {"permission": {"bash": {"*": "allow", "touch *": "ask"}}, "experimental": {"batch_tool": True}}
    async with make_workspace(project, config=config) as workspace:
        agent = agent_calling(workspace, "batch", {"tool_calls": calls})
        first = await agent.run("Go")
        assert first.output.metadata["c1"]["patterns"] == ["touch made"]
        assert not (project / "log").exists()
        history = first.all_messages()
        await agent.run(message_history=history, deferred_tool_results=DeferredToolResults(approvals={"c1": True}))
        assert (project / "made").exists()
        assert (project / "log").read_text() == "x\n"


async def test_a_call_that_asks_after_what_is_allowed_is_deferred_too(project: Path, tmp_path: Path) -> None:
    """A file outside: first the place is asked for, then the change."""
    outside = tmp_path / "outside.txt"
    config = {"permission": {"external_directory": "allow", "edit": "ask"}}
    async with make_workspace(project, config=config) as workspace:
        first = await agent_calling(workspace, "write", {"filePath": str(outside), "content": "x\n"}).run("Go")
        assert first.output.metadata["c1"]["permission"] == "edit"
        assert not outside.exists()


async def test_advice_reaches_the_model_and_nothing_is_done(project: Path) -> None:
    async with make_workspace(project, config={"permission": {"bash": "ask"}}) as workspace:
        agent = agent_calling(workspace, "bash", BASH)
        first = await agent.run("Go")
        results = DeferredToolResults(approvals={"c1": ToolDenied("Use write.")})
        second = await agent.run(message_history=first.all_messages(), deferred_tool_results=results)
        assert returned(second).content == "Use write."
        assert not (project / "made").exists()


async def test_a_denial_has_the_words_it_has_anywhere(project: Path) -> None:
    (project / ".env").write_text("KEY=1\n")
    async with make_workspace(project) as workspace:
        ours = await workspace.call("read", filePath=".env")
        theirs = await agent_calling(workspace, "read", {"filePath": ".env"}).run("Go")
        assert returned(theirs).content == ours.output
        assert returned(theirs).metadata["error"] == "denied"


async def test_an_image_is_binary_content(project: Path) -> None:
    (project / "a.png").write_bytes(PIXEL)
    async with make_workspace(project) as workspace, workspace.session() as session:
        result = await agent_calling(session, "read", {"filePath": "a.png"}).run("Go")
        contents = [
            piece
            for message in result.all_messages()
            for part in message.parts
            for piece in (part.content if isinstance(getattr(part, "content", None), list) else [])
        ]
        assert [one.media_type for one in contents if isinstance(one, BinaryContent)] == ["image/png"]


async def test_a_toolset_of_theirs_joins_in_one_line_and_stands_under_our_rules(project: Path) -> None:
    def double(number: int) -> int:
        """Twice a number."""
        return number * 2

    tools = await from_toolset(FunctionToolset(tools=[double]))
    async with make_workspace(project, tools=tools) as workspace:
        assert (await workspace.call("double", number=21)).output == "42"
        wrong = await workspace.call("double", number="many")
        assert wrong.error is not None
    async with make_workspace(project, tools=tools, config={"permission": {"double": {"*": "ask"}}}) as workspace:
        refused = await workspace.call("double", number=21)
        assert refused.error is not None
        assert refused.error.kind == "rejected"


async def test_files_and_failures_of_their_tools_are_those_of_ours(project: Path) -> None:
    def look() -> ToolReturn:
        """A picture."""
        picture = BinaryContent(PIXEL, media_type="image/png")
        return ToolReturn("Here it is.", content=["Seen from above.", picture], metadata={"zoom": 2})

    def names() -> list[str]:
        """Names."""
        return ["a", "b"]

    def never(number: int) -> int:
        """Fails."""
        raise ModelRetry(f"{number} is too large.")

    tools = await from_toolset(FunctionToolset(tools=[look, names, never]))
    async with make_workspace(project, tools=tools) as workspace:
        seen = await workspace.call("look")
        assert seen.output == "Here it is.\nSeen from above."
        assert [base64.b64decode(one.url.partition(",")[2]) for one in seen.attachments] == [PIXEL]
        assert seen.metadata["zoom"] == 2
        assert (await workspace.call("names")).output == '["a", "b"]'
        assert (await workspace.call("never", number=3)).output == "3 is too large."
