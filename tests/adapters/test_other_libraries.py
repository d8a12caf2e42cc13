"""The adapters for OpenAI Agents, LangChain and Inspect: approvals, answers, and their tools as ours."""

import json
from pathlib import Path
from typing import Any

import pytest

from toolwright.testing import ScriptedUser, make_workspace

BASH = {"command": "touch made", "description": "Make"}
PICTURE = (
    "data:image/png;base64,"
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
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
async def test_in_openai_agents_a_call_is_approved_if_any_of_its_questions_must_be(
    project: Path, tmp_path: Path
) -> None:
    """A file outside, and a batch of which one call is forbidden and one asked about."""
    pytest.importorskip("agents", reason="openai-agents is not installed")
    from agents import RunContextWrapper

    from toolwright.adapters.openai_agents import tools

    permission = {"external_directory": "allow", "edit": "ask", "bash": {"*": "ask", "rm *": "deny", "echo *": "allow"}}
    config = {"permission": permission, "experimental": {"batch_tool": True}}
    write = {"filePath": str(tmp_path / "outside.txt"), "content": "x\n"}

    def batch(*commands: str) -> dict[str, Any]:
        bash = [{"command": one, "description": "Do"} for one in commands]
        return {"tool_calls": [{"tool": "bash", "parameters": one} for one in bash]}

    async with make_workspace(project, config=config) as workspace:
        needed: dict[str, Any] = {one.name: one.needs_approval for one in await tools(workspace)}
        context = RunContextWrapper(None)
        assert await needed["write"](context, write, "1")
        assert await needed["batch"](context, batch("rm -r x", "touch made"), "1")
        assert not await needed["batch"](context, batch("rm -r x", "echo a"), "1")
        assert not (project / "made").exists()


@pytest.mark.filterwarnings("ignore")
async def test_function_tools_of_openai_agents_are_tools_of_ours(project: Path) -> None:
    agents = pytest.importorskip("agents", reason="openai-agents is not installed")
    from toolwright.adapters.openai_agents import from_tools

    def double(number: int) -> int:
        """Twice a number."""
        return number * 2

    def look() -> Any:
        """A picture."""
        return agents.ToolOutputImage(image_url=PICTURE)

    theirs = [agents.function_tool(double), agents.function_tool(look)]
    async with make_workspace(project, tools=from_tools(theirs)) as workspace:
        assert (await workspace.call("double", number=21)).output == "42"
        assert [one.url for one in (await workspace.call("look")).attachments] == [PICTURE]


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
async def test_the_agent_of_langchain_works_with_our_tools(project: Path) -> None:
    agents = pytest.importorskip("langchain.agents", reason="langchain is not installed")
    from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
    from langchain_core.messages import AIMessage, ToolMessage

    from toolwright.adapters.langchain import tools

    kind: Any = type("Model", (GenericFakeChatModel,), {"bind_tools": lambda self, tools, **_: self})
    call = {"type": "tool_call", "id": "1", "name": "bash", "args": BASH}
    async with make_workspace(project, config={"permission": {"bash": "allow"}}) as workspace:
        model = kind(messages=iter([AIMessage("", tool_calls=[call]), AIMessage("Done.")]))
        agent = agents.create_agent(model, [*await tools(workspace)])
        messages = (await agent.ainvoke({"messages": [{"role": "user", "content": "Go"}]}))["messages"]
        answer = next(one for one in messages if isinstance(one, ToolMessage))
        assert (project / "made").exists()
        assert (answer.artifact["title"], messages[-1].content) == ("Make", "Done.")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("said", "made", "answer"),
    [
        ("once", True, ""),
        ({"kind": "reject", "message": "Use write."}, False, "says: Use write."),
        ({"kind": "once", "arguments": BASH | {"command": "touch other"}}, False, ""),
    ],
)
async def test_a_question_interrupts_the_graph_of_langchain(project: Path, said: Any, made: bool, answer: str) -> None:
    agents = pytest.importorskip("langchain.agents", reason="langchain is not installed")
    from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
    from langchain_core.messages import AIMessage, ToolMessage
    from langgraph.checkpoint.memory import InMemorySaver
    from langgraph.types import Command

    from toolwright.adapters.langchain import tools

    kind: Any = type("Model", (GenericFakeChatModel,), {"bind_tools": lambda self, tools, **_: self})
    call = {"type": "tool_call", "id": "1", "name": "bash", "args": BASH}
    thread: Any = {"configurable": {"thread_id": "1"}}
    async with make_workspace(project, config=ASKING) as workspace:
        model = kind(messages=iter([AIMessage("", tool_calls=[call]), AIMessage("Done.")]))
        ours = [*await tools(workspace, interrupts=True)]
        agent = agents.create_agent(model, ours, checkpointer=InMemorySaver())
        waiting = await agent.ainvoke({"messages": [{"role": "user", "content": "Go"}]}, thread)
        [interrupt] = waiting["__interrupt__"]
        assert (interrupt.value["tool"], interrupt.value["patterns"]) == ("bash", ["touch made"])
        assert not (project / "made").exists()
        messages = (await agent.ainvoke(Command(resume=said), thread))["messages"]
        result = next(one for one in messages if isinstance(one, ToolMessage))
        assert answer in result.content
        assert messages[-1].content == "Done."
        assert (project / "made").exists() == made
        assert (project / "other").exists() == (isinstance(said, dict) and "arguments" in said)


@pytest.mark.filterwarnings("ignore")
async def test_tools_of_langchain_are_tools_of_ours(project: Path) -> None:
    core = pytest.importorskip("langchain_core.tools", reason="langchain-core is not installed")
    from toolwright.adapters.langchain import from_tools

    def double(number: int) -> int:
        """Twice a number."""
        return number * 2

    def look() -> list[Any]:
        """A picture."""
        picture = {"type": "image", "base64": PICTURE.partition(",")[2], "mime_type": "image/png"}
        return [{"type": "text", "text": "Here it is."}, picture]

    def never(number: int) -> int:
        """Fails."""
        raise core.ToolException(f"{number} is too large.")

    async with make_workspace(
        project, tools=from_tools([core.tool(one) for one in (double, look, never)])
    ) as workspace:
        assert (await workspace.call("double", number=21)).output == "42"
        seen = await workspace.call("look")
        assert (seen.output, [one.url for one in seen.attachments]) == ("Here it is.", [PICTURE])
        assert (await workspace.call("never", number=3)).output == "3 is too large."


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
async def test_tools_of_inspect_are_tools_of_ours(project: Path) -> None:
    inspect_tool = pytest.importorskip("inspect_ai.tool", reason="inspect_ai is not installed")
    from inspect_ai import model

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

    def look() -> Any:
        async def execute() -> Any:
            """A picture."""
            return [model.ContentText(text="Here it is."), model.ContentImage(image=PICTURE)]

        return execute

    theirs = [inspect_tool.tool(double)(), inspect_tool.tool(look)()]
    async with make_workspace(project, tools=from_tools(theirs)) as workspace:
        seen = await workspace.call("look")
        assert (seen.output, [one.url for one in seen.attachments]) == ("Here it is.", [PICTURE])
        assert (await workspace.call("double", number=21)).output == "42"
        assert (await workspace.call("double", number=-1)).output == "Too small."


def test_nobody_pays_for_an_adapter_that_is_not_asked_for() -> None:
    import subprocess
    import sys

    libraries = ("pydantic_ai", "agents", "langchain_core", "inspect_ai", "opentelemetry")
    program = f"import sys, toolwright, toolwright.testing; print([one for one in {libraries} if one in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.filterwarnings("ignore")
async def test_in_openai_agents_the_workspace_is_asked_where_nothing_is_deferred(project: Path) -> None:
    pytest.importorskip("agents", reason="openai-agents is not installed")
    from agents.tool_context import ToolContext

    from toolwright.adapters.openai_agents import tools

    user = ScriptedUser.saying("Use write.", "once")
    async with make_workspace(project, config=ASKING, user=user) as workspace:
        bash = next(one for one in await tools(workspace, defer=False) if one.name == "bash")
        text = json.dumps(BASH)
        context: Any = ToolContext(None, tool_name="bash", tool_call_id="1", tool_arguments=text)
        assert bash.needs_approval is False
        assert "says: Use write." in await bash.on_invoke_tool(context, text)
        await bash.on_invoke_tool(context, text)
    assert (project / "made").exists()


@pytest.mark.filterwarnings("ignore")
async def test_in_pydantic_ai_the_workspace_is_asked_where_nothing_is_deferred(project: Path) -> None:
    ai = pytest.importorskip("pydantic_ai", reason="pydantic-ai is not installed")
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import FunctionModel

    from toolwright.adapters.pydantic_ai import Toolset

    def model(messages: list[Any], _: Any) -> ModelResponse:
        called = len(messages) > 1
        return ModelResponse(parts=[TextPart("Done.") if called else ToolCallPart("bash", BASH, "1")])

    async with make_workspace(project, config=ASKING, user=ScriptedUser.saying("once")) as workspace:
        agent = ai.Agent(FunctionModel(model), toolsets=[Toolset(workspace, defer=False)])
        assert (await agent.run("Go")).output == "Done."
    assert (project / "made").exists()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("decision", "made"), [("approve", True), ("reject", False)])
async def test_in_inspect_what_is_asked_is_escalated_to_the_next_approver(
    project: Path, decision: Any, made: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INSPECT_DISPLAY", "none")
    pytest.importorskip("inspect_ai", reason="inspect-ai is not installed")
    from inspect_ai import Task, eval_async
    from inspect_ai.approval import Approval, ApprovalPolicy, approver
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ModelOutput, ModelUsage, get_model
    from inspect_ai.solver import generate, use_tools

    from toolwright.adapters.inspect_ai import approval_by, tools

    asked: list[str] = []

    def person() -> Any:
        async def approve(message: str, call: Any, view: Any, history: Any) -> Approval:
            asked.append(call.arguments["command"])
            return Approval(decision=decision)

        return approve

    named: Any = approver(name="person")(person)

    def called(command: str) -> Any:
        return ModelOutput.for_tool_call("mockllm", "bash", {"command": command, "description": "Do"})

    outputs = [
        called("echo hi"),
        called("git push"),
        called("touch made"),
        ModelOutput.from_content("mockllm", "Done."),
    ]
    for one in outputs:
        one.usage = ModelUsage()
    rules = {"bash": {"*": "ask", "echo *": "allow", "git push": "deny"}}
    async with (
        make_workspace(project, config={"permission": rules}, user=ScriptedUser()) as workspace,
        workspace.session() as session,
    ):
        task = Task(dataset=[Sample(input="Go")], solver=[use_tools(*await tools(session)), generate()])
        policies = [ApprovalPolicy(approval_by(session), "*"), ApprovalPolicy(named(), "*")]
        model = get_model("mockllm/model", custom_outputs=outputs)
        [log] = await eval_async(task, model=model, approval=policies, log_dir=str(project / "logs"))
    assert log.status == "success", log.error
    assert asked == ["touch made"]
    assert (project / "made").exists() == made
