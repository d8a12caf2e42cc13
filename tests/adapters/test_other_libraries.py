"""The adapters for OpenAI Agents, LangChain and Inspect: approvals, answers, and their tools as ours."""

import json
from pathlib import Path
from typing import Any

import pytest

from toolwright.testing import ScriptedUser, make_workspace

BASH = {"command": "touch made", "description": "Make"}
ASKING = {"permission": {"bash": "ask"}}


@pytest.mark.filterwarnings("ignore")
async def test_in_openai_agents_an_approval_for_all_calls_is_stored(project: Path) -> None:
    pytest.importorskip("agents", reason="openai-agents is not installed")
    from agents import Agent, ToolApprovalItem
    from agents.tool_context import ToolContext
    from openai.types.responses import ResponseFunctionToolCall

    from toolwright.adapters.openai_agents import tools

    async with make_workspace(project, config=ASKING) as workspace:
        bash = next(one for one in await tools(workspace) if one.name == "bash")
        text = json.dumps(BASH)
        raw = ResponseFunctionToolCall(type="function_call", call_id="1", name="bash", arguments=text)
        context: Any = ToolContext(None, tool_name="bash", tool_call_id="1", tool_arguments=text)
        needed: Any = bash.needs_approval
        assert await needed(context, BASH, "1")
        assert "refused" in await bash.on_invoke_tool(context, text)
        assert not (project / "made").exists()
        context.approve_tool(ToolApprovalItem(Agent(name="helper"), raw), always_approve=True)
        await bash.on_invoke_tool(context, text)
        assert (project / "made").exists()
        assert [one.pattern for _, one in workspace.gate.approvals.listed()] == ["touch *"]
        assert not await needed(context, BASH, "2")


@pytest.mark.filterwarnings("ignore")
async def test_function_tools_of_openai_agents_are_tools_of_ours(project: Path) -> None:
    agents = pytest.importorskip("agents", reason="openai-agents is not installed")
    from toolwright.adapters.openai_agents import from_tools

    def double(number: int) -> int:
        """Twice a number."""
        return number * 2

    async with make_workspace(project, tools=from_tools([agents.function_tool(double)])) as workspace:
        assert (await workspace.call("double", number=21)).output == "42"


@pytest.mark.filterwarnings("ignore")
async def test_in_langchain_the_workspace_is_asked(project: Path) -> None:
    pytest.importorskip("langchain_core", reason="langchain-core is not installed")
    from toolwright.adapters.langchain import tools

    user = ScriptedUser.saying("Use write.", "once")
    async with make_workspace(project, config=ASKING, user=user) as workspace:
        bash = next(one for one in await tools(workspace) if one.name == "bash")
        call = {"type": "tool_call", "id": "1", "name": "bash", "args": BASH}
        refused = await bash.ainvoke(call)
        assert "says: Use write." in refused.content
        assert refused.artifact["error"] == "rejected"
        await bash.ainvoke(call)
        assert (project / "made").exists()


@pytest.mark.filterwarnings("ignore")
async def test_tools_of_langchain_are_tools_of_ours(project: Path) -> None:
    core = pytest.importorskip("langchain_core.tools", reason="langchain-core is not installed")
    from toolwright.adapters.langchain import from_tools

    def double(number: int) -> int:
        """Twice a number."""
        return number * 2

    async with make_workspace(project, tools=from_tools([core.tool(double)])) as workspace:
        assert (await workspace.call("double", number=21)).output == "42"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
async def test_tools_of_inspect_are_tools_of_ours(project: Path) -> None:
    inspect_tool = pytest.importorskip("inspect_ai.tool", reason="inspect_ai is not installed")
    from toolwright.adapters.inspect_ai import from_tools

    def double() -> Any:
        async def execute(number: int) -> int:
            """Twice a number.

            Args:
                number: Any number.
            """
            if number < 0:
                raise inspect_tool.ToolError("Too small.")
            return number * 2

        return execute

    async with make_workspace(project, tools=from_tools([inspect_tool.tool(double)()])) as workspace:
        assert (await workspace.call("double", number=21)).output == "42"
        assert (await workspace.call("double", number=-1)).output == "Too small."


def test_nobody_pays_for_an_adapter_that_is_not_asked_for() -> None:
    import subprocess
    import sys

    libraries = ("pydantic_ai", "agents", "langchain_core", "inspect_ai", "opentelemetry")
    program = f"import sys, toolwright, toolwright.testing; print([one for one in {libraries} if one in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
