"""One policy file, thirty calls: inside every library each is decided as it is by ourselves."""

import json
from pathlib import Path
from typing import Any

import pytest

from toolwright.inbox import Question
from toolwright.testing import make_workspace
from toolwright.workspace import Workspace

POLICY = {
    "permission": {
        "bash": {"*": "ask", "git status *": "allow", "echo *": "allow", "git push *": "deny", "rm *": "deny"},
        "edit": {"*": "allow", "gen/*": "deny", "docs/*": "ask"},
        "read": {"private/*": "deny", "drafts/*": "ask"},
        "webfetch": "deny",
        "grep": {"*password*": "ask"},
    }
}

CALLS: list[tuple[str, dict[str, Any]]] = [
    *(("read", {"filePath": path}) for path in ("a.txt", ".env", "private/k", "drafts/d", "missing.txt", "/etc/hosts")),
    *(("write", {"filePath": path, "content": "x\n"}) for path in ("b.txt", "gen/x", "docs/x", ".git/config")),
    *(
        ("edit", {"filePath": path, "oldString": "one", "newString": "two"})
        for path in ("a.txt", "gen/y", "docs/y", "toolwright.json")
    ),
    *(
        ("bash", {"command": command, "description": "Try"})
        for command in (
            "echo hi",
            "git push",
            "rm -rf gen",
            "make",
            "echo a && make",
            "echo 1 > gen/z",
            "echo 1 > docs/z",
            "cat private/k",
            "git push --force origin main",
        )
    ),
    *(("grep", {"pattern": pattern}) for pattern in ("one", "my password")),
    ("glob", {"pattern": "*.txt"}),
    ("list", {"path": "."}),
    ("todowrite", {"todos": [{"id": "1", "content": "a", "status": "pending", "priority": "low"}]}),
    ("read", {}),
    ("webfetch", {"url": "https://example.com/", "format": "text"}),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    project = tmp_path / "project"
    for name in ("gen", "docs", "private", "drafts", ".git"):
        (project / name).mkdir(parents=True)
    for name in ("a.txt", "gen/y", "docs/y", "private/k", "drafts/d", ".env"):
        (project / name).write_text("one\n")
    (project / "toolwright.json").write_text(json.dumps(POLICY))
    return project


class Asked:
    """Whoever is asked says no, and remembers that they were."""

    def __init__(self) -> None:
        self.calls: set[str] = set()

    def __call__(self, question: Question) -> str:
        self.calls.add(json.dumps(dict(question.arguments)))
        return "reject"


def told(text: object) -> str:
    return "deny" if "A rule forbids" in str(text) else "allow"


async def own(workspace: Workspace, asked: Asked) -> list[str]:
    found = []
    for tool, arguments in CALLS:
        result = await workspace.call(tool, **arguments)
        found.append("ask" if json.dumps(arguments) in asked.calls else told(result.output))
    return found


async def by_pydantic_ai(workspace: Workspace, asked: Asked) -> list[str]:
    from pydantic_ai import Agent, DeferredToolRequests
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart, ToolReturnPart
    from pydantic_ai.models.function import FunctionModel

    from toolwright.adapters.pydantic_ai import Toolset

    found = []
    for tool, arguments in CALLS[:-1]:

        def model(messages: Any, info: Any, tool: str = tool, arguments: Any = arguments) -> ModelResponse:
            assert "webfetch" not in [one.name for one in info.function_tools]
            if len(messages) == 1:
                return ModelResponse(parts=[ToolCallPart(tool, arguments)])
            return ModelResponse(parts=[TextPart("Done.")])

        agent = Agent(FunctionModel(model), toolsets=[Toolset(workspace)], output_type=[str, DeferredToolRequests])
        result = await agent.run("Go")
        if isinstance(result.output, DeferredToolRequests):
            found.append("ask")
            continue
        parts = [part for message in result.all_messages() for part in message.parts]
        found.append(told([part.content for part in parts if isinstance(part, ToolReturnPart)]))
    return [*found, "deny"]


async def by_openai_agents(workspace: Workspace, asked: Asked) -> list[str]:
    from agents import RunContextWrapper
    from agents.tool_context import ToolContext

    from toolwright.adapters.openai_agents import tools

    by_name = {one.name: one for one in await tools(workspace)}
    found = []
    for tool, arguments in CALLS:
        if tool not in by_name:
            found.append("deny")
            continue
        text = json.dumps(arguments)
        needed: Any = by_name[tool].needs_approval
        if await needed(RunContextWrapper(None), arguments, "1"):
            found.append("ask")
            continue
        invocation = ToolContext(None, tool_name=tool, tool_call_id="1", tool_arguments=text)
        found.append(told(await by_name[tool].on_invoke_tool(invocation, text)))
    return found


async def by_langchain(workspace: Workspace, asked: Asked) -> list[str]:
    from toolwright.adapters.langchain import tools

    by_name = {one.name: one for one in await tools(workspace)}
    found = []
    for tool, arguments in CALLS:
        if tool not in by_name:
            found.append("deny")
            continue
        message = await by_name[tool].ainvoke({"type": "tool_call", "id": "1", "name": tool, "args": arguments})
        found.append("ask" if json.dumps(arguments) in asked.calls else told(message.content))
    return found


async def by_inspect_ai(workspace: Workspace, asked: Asked) -> list[str]:
    from inspect_ai.model import ChatMessageAssistant, execute_tools
    from inspect_ai.tool import ToolCall, ToolDef

    from toolwright.adapters.inspect_ai import tools

    theirs = await tools(workspace)
    names = {ToolDef(one).name for one in theirs}
    found = []
    for tool, arguments in CALLS:
        if tool not in names:
            found.append("deny")
            continue
        call = ToolCall(id="1", function=tool, arguments=arguments)
        messages, _ = await execute_tools([ChatMessageAssistant(content="", tool_calls=[call])], theirs)
        found.append("ask" if json.dumps(arguments) in asked.calls else told(messages[-1]))
    return found


LIBRARIES = {
    "pydantic_ai": by_pydantic_ai,
    "agents": by_openai_agents,
    "langchain_core": by_langchain,
    "inspect_ai": by_inspect_ai,
}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("library", LIBRARIES)
async def test_a_call_is_decided_as_it_is_without_the_library(folder: Path, library: str) -> None:
    pytest.importorskip(library, reason=f"{library} is not installed")
    assert len(CALLS) == 30
    decisions = []
    for way in (own, LIBRARIES[library]):
        asked = Asked()
        async with make_workspace(folder, user=asked) as workspace:
            decisions.append(await way(workspace, asked))
    ours, theirs = decisions
    ours[-1] = "deny"
    assert list(zip(CALLS, theirs, strict=True)) == list(zip(CALLS, ours, strict=True))
    assert {"allow", "ask", "deny"} == set(ours)
