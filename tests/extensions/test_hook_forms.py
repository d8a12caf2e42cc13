"""Hooks that are no programs, moments beside those of calls, and the hooks that an agent brings."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.ports import free_port
from toolwright.protocols.json_types import Json
from toolwright.testing import ScriptedModel, make_workspace

ALLOWED: Json = {"permission": {"bash": "allow"}}


def hooks(event: str, entry: Json, matcher: str = "") -> Json:
    return ALLOWED | {"hooks": {event: [{"matcher": matcher, "hooks": [entry]}]}}


@asynccontextmanager
async def address(status: int, answer: str, seen: list[str]) -> AsyncIterator[str]:
    """A server that answers everything with the same."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        seen.append((head + await reader.readexactly(_length(head))).decode())
        body = answer.encode()
        writer.write(f"HTTP/1.1 {status} x\r\ncontent-length: {len(body)}\r\nconnection: close\r\n\r\n".encode())
        writer.write(body)
        await writer.drain()
        writer.close()

    port = free_port()
    server = await asyncio.start_server(serve, "127.0.0.1", port)
    async with server:
        yield f"http://127.0.0.1:{port}/hook"


def _length(got: bytes) -> int:
    lines = got.partition(b"\r\n\r\n")[0].lower().split(b"\r\n")
    return next((int(line.split(b":")[1]) for line in lines if line.startswith(b"content-length:")), 0)


async def test_an_address_is_told_and_may_refuse(project: Path) -> None:
    refuse = {"hookSpecificOutput": {"permissionDecision": "deny", "permissionDecisionReason": "not today"}}
    seen = list[str]()
    async with address(200, json.dumps(refuse), seen) as url:
        entry = {"type": "http", "url": url, "headers": {"x-key": "$KEY/$OTHER"}, "allowedEnvVars": ["KEY"]}
        config = hooks("PreToolUse", entry)
        environment = {"KEY": "k1", "OTHER": "o1"}
        async with make_workspace(project, config=config, environment=environment) as workspace:
            blocked = await workspace.call("bash", command="touch made", description="d")
    assert (blocked.output, (project / "made").exists()) == ("not today", False)
    head, _, body = seen[0].partition("\r\n\r\n")
    assert "x-key: k1/\r\n" in f"{head}\r\n"
    assert json.loads(body)["tool_input"]["command"] == "touch made"


@pytest.mark.parametrize(("status", "problems"), [(500, ["it answered with status 500"]), (200, [])])
async def test_an_address_that_says_nothing_or_fails_decides_nothing(
    project: Path, status: int, problems: list[str]
) -> None:
    async with (
        address(status, "", []) as url,
        make_workspace(project, config=hooks("PreToolUse", {"type": "http", "url": url})) as workspace,
    ):
        assert (await workspace.call("bash", command="true", description="d")).error is None
        assert [one.reason for one in workspace.left_out()] == problems


async def test_a_guard_at_an_address_that_cannot_be_reached_blocks(project: Path) -> None:
    entry = {"type": "http", "url": f"http://127.0.0.1:{free_port()}/"}
    async with make_workspace(project, config=hooks("PreToolUse", entry)) as workspace:
        blocked = await workspace.call("bash", command="touch made", description="d")
    assert "did not answer: it could not be reached" in blocked.output
    assert not (project / "made").exists()


@pytest.mark.parametrize(
    ("answer", "output"),
    [
        ('{"ok": false, "reason": "It deletes."}', "It deletes."),
        ('Well: {"ok": true}', ""),
        ("I do not know", "did not answer: the model gave no verdict"),
    ],
)
async def test_a_model_may_be_asked(project: Path, answer: str, output: str) -> None:
    model = ScriptedModel({"text": answer, "repeat": True})
    config = hooks("PreToolUse", {"type": "prompt", "prompt": "May this run? $ARGUMENTS"}, "Bash")
    async with make_workspace(project, config=config, model=model) as workspace:
        result = await workspace.call("bash", command="touch made", description="d")
    assert output in result.output
    assert (project / "made").exists() is not bool(output)
    [request] = model.requests
    assert "May this run? {" in str(request)
    assert "touch made" in str(request)


def told(project: Path) -> Sequence[Json]:
    file = project / "told"
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


TELL = {"type": "command", "command": "tr -d '\\n' >> told; echo >> told"}


async def test_a_call_that_fails_is_told_of_and_one_that_is_refused_is_not(project: Path) -> None:
    config = hooks("PostToolUseFailure", TELL) | {"permission": {"bash": {"*": "allow", "touch *": "deny"}}}
    async with make_workspace(project, config=config) as workspace:
        await workspace.call("read", filePath="missing.txt")
        await workspace.call("bash", command="touch x", description="d")
        await workspace.call("bash", command="true", description="d")
    [event] = told(project)
    assert (event["hook_event_name"], event["tool_name"]) == ("PostToolUseFailure", "Read")
    assert "missing.txt" in event["error"]


async def test_a_subagent_begins_with_what_a_hook_says(project: Path) -> None:
    entry = {"type": "command", "command": "tee told > /dev/null; echo >> told; echo Mind the gap."}
    config = hooks("SubagentStart", entry, "explore")
    task: Any = {"name": "task", "args": {"description": "d", "prompt": "p", "subagent_type": "explore"}}
    model = ScriptedModel({"tools": [task]}, {"text": "found"}, {"text": "done"})
    async with make_workspace(project, config=config, model=model) as workspace:
        await workspace.prompt("go")
    assert told(project)[0]["agent_type"] == "explore"
    assert ["Mind the gap." in str(one) for one in model.requests] == [False, True, False]


AGENT = """\
---
name: careful
description: works with care
hooks:
  PreToolUse:
    - matcher: Bash
      hooks:
        - type: command
          command: "echo not by me >&2; exit 2"
---
You are careful.
"""


@pytest.mark.parametrize("wanted", [["agents", "hooks"], ["agents"]])
async def test_the_hooks_of_an_agent_guard_that_agent_alone(project: Path, wanted: list[str]) -> None:
    (project / ".claude/agents").mkdir(parents=True)
    (project / ".claude/agents/careful.md").write_text(AGENT)
    run: Any = {"name": "bash", "args": {"command": "echo hi", "description": "d"}}
    task: Any = {"name": "task", "args": {"description": "d", "prompt": "p", "subagent_type": "careful"}}
    model = ScriptedModel({"tools": [run, task]}, {"tools": [run]}, {"text": "found"}, {"text": "done"})
    config = ALLOWED | {"foreign": {"claude": wanted}}
    async with make_workspace(project, config=config, model=model, trust=True) as workspace:
        assert ("careful" in workspace.agents.by_name) is ("hooks" in wanted)
        if "hooks" not in wanted:
            return
        await workspace.prompt("go")
        # The first request is the caller's, the next two are the agent's, the last is the caller's again.
        assert ["not by me" in str(request) for request in model.requests] == [False, False, True, False]
        assert "hi\\n" in str(model.requests[3])


async def test_a_moment_that_is_not_here_is_named(project: Path) -> None:
    config = {"hooks": {"CwdChanged": [{"hooks": [TELL]}], "Nonsense": [{"hooks": [TELL]}]}}
    async with make_workspace(project, config=config) as workspace:
        assert [one.reason for one in workspace.left_out()] == [
            "nothing here happens at 'CwdChanged'",
            "nothing here happens at 'Nonsense', and no program has such a moment",
        ]
