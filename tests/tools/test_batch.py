"""The batch tool, with real tools behind the door."""

import asyncio
import base64
import json
from pathlib import Path

import pytest

from tests.files.tool_case import lay_out, rows
from tests.tools.doubles import Doubles, make_doubles
from tests.waiting import patience
from toolwright.definition import Attachment, Call, Result, ToolContext, tool
from toolwright.errors import ToolError
from toolwright.permission.gate import AskedRequest, DryGate
from toolwright.permission.rules import Rule
from toolwright.protocols.json_types import Json
from toolwright.tools.batch import BatchLimits, batch
from toolwright.tools.skill import skill
from toolwright.tools.todoread import todoread
from toolwright.tools.todowrite import todowrite

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
NOW_DENIED: Json = {"batch-0029": [["read", True], ["read", False]]}
"""A `.env` file was asked for when the rows were recorded; the rules now deny it."""


@tool
async def hello(ctx: ToolContext) -> str:
    """Greet."""
    return "hello"


@tool
async def bash(ctx: ToolContext, command: str, description: str) -> str:
    """Stand for the shell, of which only permission and success matter here."""
    return command


@tool
async def picture(ctx: ToolContext, name: str) -> Result:
    """Show a picture."""
    return Result(name, attachments=(Attachment(mime="image/png", url=f"data:{name}"),))


@tool
async def fail(ctx: ToolContext) -> str:
    """Fail."""
    raise ToolError("It is stale. Read it again.", "stale")


@pytest.mark.parametrize("row", list(rows("batch")), ids=lambda row: f"{row['id']} {row['note']}")
async def test_recorded_rows(project: Path, row: Json) -> None:
    lay_out(project, row["files"])
    (project / ".git").mkdir()
    (project / "opencode.json").write_text(json.dumps(row["config"]), "utf-8")
    (project / "p.png").write_bytes(PIXEL)
    before = _files(project)
    doubles = _recorded(project)
    arguments = json.loads(json.dumps({"tool_calls": row["tool_calls"]}).replace("{project}", str(project)))
    result = await doubles.run("batch", **{name: value for name, value in arguments.items() if value is not None})

    assert {name: text for name, text in _files(project).items() if before.get(name) != text} == row["files_changed"]
    assert doubles.permissions.questions == []
    if row["outcome"] == "error":
        assert result.error is not None
        assert result.error.kind == row["error_kind"]
        return
    details = NOW_DENIED.get(row["id"], row["details"])
    assert [[one["tool"], one["success"]] for one in result.metadata["details"]] == details
    assert result.metadata["totalCalls"] == row["total"] == len(details)
    assert result.metadata["successful"] == sum(success for _, success in details)
    assert result.metadata["failed"] == sum(not success for _, success in details)
    assert [attachment.mime for attachment in result.attachments] == row["attachments"]
    if row["id"] not in NOW_DENIED:
        kinds = [one.get("error_kind") for one in row["inner"]]
        assert [one.get("kind") for one in result.metadata["details"]] == list(map(_our_kind, kinds))


def _recorded(project: Path) -> Doubles:
    """A session as the rows had it; they were made with room for 25 calls."""
    tools = (batch, todowrite, todoread, skill, hello, bash)
    return make_doubles(project, *tools, limits=BatchLimits(max_calls=25))


def _our_kind(recorded: str | None) -> str | None:
    return {"not_allowed": "unknown_tool", "over_limit": "too_large"}.get(recorded or "", recorded)


def _files(folder: Path) -> dict[str, str]:
    paths = (path for path in folder.iterdir() if path.suffix in (".txt", ".py"))
    return {path.name: path.read_text("utf-8") for path in paths}


async def test_every_result_stands_under_its_tool_and_state(project: Path) -> None:
    doubles = make_doubles(project, batch, hello, picture, fail)
    calls = _calls("hello", "fail", "helo", "batch", "Hello", "picture")
    result = await doubles.run("batch", tool_calls=calls)
    assert result.output == (
        "2 of 6 calls succeeded. Failed: 2 (fail), 3 (helo), 4 (batch), 6 (picture).\n\n"
        "## 1. hello succeeded\nhello\n\n"
        "## 2. fail failed\nIt is stale. Read it again.\n\n"
        "## 3. helo failed\nThe call of 'helo' could not be made. There is no tool 'helo'. Did you mean 'hello'?\n\n"
        "## 4. batch failed\nbatch cannot be called in a batch. A batch cannot hold another; put its calls into this"
        " one.\n\n"
        "## 5. Hello succeeded\nhello\n\n"
        "## 6. picture failed\nThe arguments for picture do not fit its schema:\n- name: is missing; expected a"
        " string\nCall picture again with these fixed."
    )
    assert result.title == "2 of 6 calls succeeded"
    assert result.metadata["tools"] == ["hello", "fail", "helo", "batch", "Hello", "picture"]
    kinds = [one.get("kind") for one in result.metadata["details"]]
    assert kinds == [None, "stale", "unknown_tool", "unknown_tool", None, "schema"]


async def test_attachments_come_in_the_order_of_the_calls(project: Path) -> None:
    doubles = make_doubles(project, batch, picture)
    calls = [{"tool": "picture", "parameters": {"name": name}} for name in "ab"]
    result = await doubles.run("batch", tool_calls=calls)
    assert [attachment.url for attachment in result.attachments] == ["data:a", "data:b"]


async def test_calls_beyond_the_limit_fail_and_the_others_run(project: Path) -> None:
    doubles = make_doubles(project, batch, hello)
    result = await doubles.run("batch", tool_calls=_calls(*["hello"] * 12))
    assert result.metadata["successful"] == 10
    assert "## 11. hello failed\nA batch holds at most 10 calls; put this into another." in result.output


async def test_the_description_names_the_limit_in_force(project: Path) -> None:
    doubles = make_doubles(project, batch, limits=BatchLimits(max_calls=3))
    assert "up to 3 calls" in (await doubles.shown(batch)).description


async def test_the_name_of_a_tool_is_found_in_any_case_of_letters(project: Path) -> None:
    result = await make_doubles(project, batch, hello).run("batch", tool_calls=_calls("Hello", "HELLO"))
    assert result.metadata["successful"] == 2


async def test_tools_that_must_be_called_by_themselves_are_refused(project: Path) -> None:
    doubles = make_doubles(
        project,
        batch,
        hello,
        limits=BatchLimits(alone=lambda name: "Call it directly." if name in ("hello", "invalid", "Batch") else ""),
    )
    nested = {"tool": "Batch", "parameters": {"tool_calls": _calls("todoread")}}
    result = await doubles.run("batch", tool_calls=[*_calls("hello", "invalid"), nested])
    assert [one.get("kind") for one in result.metadata["details"]] == ["unknown_tool"] * 3
    assert "hello cannot be called in a batch. Call it directly." in result.output


async def test_the_calls_run_side_by_side(project: Path) -> None:
    both_there = asyncio.Barrier(2)

    @tool
    async def meet(ctx: ToolContext) -> str:
        """Wait for the other."""
        async with patience():
            await both_there.wait()
        return "met"

    result = await make_doubles(project, batch, meet).run("batch", tool_calls=_calls("meet", "meet"))
    assert result.metadata["successful"] == 2


async def test_stopping_a_batch_stops_every_call_in_it(project: Path) -> None:
    started, ended = asyncio.Semaphore(0), []

    @tool
    async def linger(ctx: ToolContext) -> str:
        """Wait for ever."""
        started.release()
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(ctx.call_id)
        return ""

    doubles = make_doubles(project, batch, linger)
    running = asyncio.create_task(doubles.run("batch", tool_calls=_calls("linger", "linger")))
    for _ in range(2):
        await started.acquire()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert len(ended) == 2


async def test_each_call_answers_for_its_own_permission(project: Path) -> None:
    rules = [Rule("hello", "*", "ask"), Rule("fail", "*", "deny")]
    doubles = make_doubles(project, batch, hello, fail, rules=rules, replies=["reject"])
    result = await doubles.run("batch", tool_calls=_calls("hello", "fail"))
    assert result.error is None
    assert [one["kind"] for one in result.metadata["details"]] == ["rejected", "denied"]
    assert [question.permission for question in doubles.permissions.questions] == ["hello"]


async def test_a_denied_batch_runs_nothing(project: Path) -> None:
    doubles = make_doubles(project, batch, todowrite, rules=[Rule("batch", "*", "deny")])
    result = await doubles.run("batch", tool_calls=[{"tool": "todowrite", "parameters": {"todos": []}}])
    assert result.error is not None
    assert result.error.kind == "denied"
    assert doubles.todos.lists == {}


async def test_a_dry_run_shows_what_every_call_would_ask_for(project: Path) -> None:
    doubles = make_doubles(project, batch, hello, fail)
    log: list[AskedRequest] = []
    call = Call(id="c", tool="batch", arguments={"tool_calls": _calls("hello", "fail")})
    gate = DryGate(doubles.session.gate.inbox, doubles.session.gate.approvals)
    await doubles.session.run_call(call, log=log, gate=gate)
    assert [entry.judgement.request.permission for entry in log] == ["hello", "fail"]


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"tool_calls": []}, "- tool_calls: expected at least 1 entries, got 0"),
        ({"tool_calls": [{"tool": "read"}]}, "- tool_calls[0].parameters: is missing; expected an object"),
    ],
)
async def test_a_batch_that_is_none_is_answered_with_the_form_expected(
    project: Path, arguments: Json, problem: str
) -> None:
    result = await make_doubles(project, batch).run("batch", **arguments)
    assert result.output == (
        f"The batch could not be run:\n{problem}\n"
        'Expected: {"tool_calls": [{"tool": "read", "parameters": {"filePath": "a.txt"}}, ...]}'
    )


def _calls(*names: str) -> list[Json]:
    return [{"tool": name, "parameters": {}} for name in names]
