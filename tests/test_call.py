"""The one door: what every call goes through, whatever becomes of it."""

import asyncio
import errno
import json
import logging
import os
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import pytest

from tests.waiting import bounded_work, until
from toolwright.call import call_from_text
from toolwright.definition import Call, Result, Tool, ToolContext, tool
from toolwright.errors import ToolError
from toolwright.events import Event, PartUpdated
from toolwright.hooks import Proceed, pair
from toolwright.permission.gate import AskedRequest
from toolwright.permission.rules import Rule
from toolwright.protocols.json_types import Json
from toolwright.registry import ready
from toolwright.session.session import Session
from toolwright.testing import ScriptedUser, make_session, make_workspace


@tool
async def echo(ctx: ToolContext, text: Annotated[str, "What to say"], times: Annotated[int, "How often"] = 1) -> str:
    """Say something."""
    return text * times


@tool
async def broken(ctx: ToolContext) -> str:
    """Has a bug."""
    raise KeyError("lost")


@tool
async def unlucky(ctx: ToolContext) -> str:
    """Fails as tools do."""
    raise ToolError("There is no luck today. Try tomorrow.", "missing")


TOOLS = (echo, broken, unlucky)


def listen(session: Session) -> list[Any]:
    """The parts of the session's calls, each time one changes."""
    parts: list[Any] = []

    def note(event: Event) -> None:
        if isinstance(event, PartUpdated):
            parts.append(event.part)

    session.home.bus.subscribe(note)
    return parts


def statuses(parts: list[Any]) -> list[str]:
    return [part.state.status for part in parts]


def size(path: str) -> int:
    return Path(path).stat().st_size


async def run(session: Session, tool_id: str, arguments: Any = None) -> Result:
    return await session.run_call(Call(id="call_1", tool=tool_id, arguments={} if arguments is None else arguments))


async def test_a_call_is_pending_then_running_then_completed(project: Path) -> None:
    session = make_session(project, tools=TOOLS)
    parts = listen(session)
    result = await run(session, "echo", {"text": "hi", "times": 2})
    assert result.output == "hihi"
    assert statuses(parts) == ["pending", "running", "completed"]
    assert parts[1].state.input == {"text": "hi", "times": 2}
    assert parts[2].state.output == "hihi"
    assert parts[2].state.time.start <= parts[2].state.time.end


async def test_a_failure_is_a_result_and_a_state_with_its_kind(project: Path) -> None:
    session = make_session(project, tools=TOOLS)
    parts = listen(session)
    result = await run(session, "unlucky")
    assert result.error is not None
    assert (result.output, result.error.kind) == ("There is no luck today. Try tomorrow.", "missing")
    assert statuses(parts) == ["pending", "running", "error"]
    assert (parts[2].state.error, parts[2].state.kind) == (result.output, "missing")


async def test_a_bug_in_a_tool_is_a_result_too_and_goes_to_the_log(
    project: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR):
        result = await run(make_session(project, tools=TOOLS), "broken")
    assert result.output == "broken broke: KeyError: 'lost'"
    assert result.error is not None
    assert result.error.kind == "crash"
    assert "Traceback" in caplog.text


async def test_a_machine_that_has_run_out_is_no_bug_of_the_tool(project: Path) -> None:
    @tool
    async def full(ctx: ToolContext) -> str:
        """Writes too much."""
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/somewhere")

    result = await run(make_session(project, tools=[full]), "full")
    assert result.output == ("full cannot be carried out: No space left on device. The user has to see to that first.")


async def test_a_tool_that_cannot_be_loaded_fails_alone(project: Path) -> None:
    session = make_session(project, tools=TOOLS)
    registry = session.home.caller.registry
    registry.add([replace(ready(echo), id="lame", load=_refuse_to_load)])
    result = await run(session, "lame")
    assert result.output == "lame broke: ImportError: no such library"
    assert (await run(session, "echo", {"text": "still here"})).output == "still here"


async def test_a_result_that_json_cannot_say_is_the_tools_fault(project: Path) -> None:
    @tool
    async def number(ctx: ToolContext) -> Any:
        """Answers with what is no number."""
        return 7j

    result = await run(make_session(project, tools=[number]), "number")
    assert result.output == ("number returned complex, which is no text, Result or JSON: complex has no form in JSON.")


async def test_a_plain_function_is_a_tool_as_well(project: Path) -> None:
    @tool
    def shout(ctx: ToolContext, text: str) -> str:
        """Louder."""
        return text.upper()

    assert (await run(make_session(project, tools=[shout]), "shout", {"text": "ho"})).output == "HO"


async def test_a_cancelled_call_is_recorded_as_aborted_and_stays_cancelled(project: Path) -> None:
    @tool
    async def wait(ctx: ToolContext) -> str:
        """For ever."""
        await asyncio.Event().wait()
        return ""

    session = make_session(project, tools=[wait])
    parts = listen(session)
    turn = session.idle_terms()
    task = asyncio.create_task(session.run_call(Call(id="call_1", tool="wait", arguments={}), turn))
    await until(lambda: len(parts) == 2)
    turn.abort.set("you pressed escape")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert statuses(parts) == ["pending", "running", "error"]
    assert (parts[2].state.kind, parts[2].state.error) == ("aborted", "The call was stopped: you pressed escape.")


async def test_hooks_run_around_the_call_the_first_outermost(project: Path) -> None:
    heard: list[str] = []

    def named(name: str) -> Callable[[Proceed, Call, ToolContext], Awaitable[Result]]:
        async def hook(proceed: Proceed, call: Call, ctx: ToolContext) -> Result:
            heard.append(f"{name} before")
            result = await proceed(call)
            heard.append(f"{name} after")
            return result

        return hook

    session = make_session(project, tools=TOOLS, hooks=[named("one"), named("two")])
    await run(session, "echo", {"text": "x"})
    assert heard == ["one before", "two before", "two after", "one after"]


async def test_what_a_hook_makes_of_the_arguments_is_validated_permitted_and_run(project: Path) -> None:
    async def before(call: Call, ctx: ToolContext) -> Json:
        return {"text": call.arguments["text"], "times": "many"}

    result = await run(make_session(project, tools=TOOLS, hooks=[pair(before)]), "echo", {"text": "x"})
    assert result.error is not None
    assert result.error.kind == "schema"


async def test_a_hook_can_block_a_call_and_the_model_reads_why(project: Path) -> None:
    async def before(call: Call, ctx: ToolContext) -> None:
        raise ToolError("Not on a Sunday. Wait until tomorrow.", "denied")

    session = make_session(project, tools=TOOLS, hooks=[pair(before)])
    parts = listen(session)
    result = await run(session, "echo", {"text": "x"})
    assert result.output == "Not on a Sunday. Wait until tomorrow."
    assert parts[-1].state.status == "error"


async def test_a_hook_after_sees_failures_and_bugs_and_may_change_them(project: Path) -> None:
    seen: list[str] = []

    async def after(call: Call, result: Result, ctx: ToolContext) -> Result | None:
        seen.append(result.output)
        return Result("never mind") if result.error is not None and call.tool == "broken" else None

    session = make_session(project, tools=TOOLS, hooks=[pair(after=after)])
    assert (await run(session, "broken")).output == "never mind"
    assert (await run(session, "unlucky")).error is not None
    assert seen == ["broken broke: KeyError: 'lost'", "There is no luck today. Try tomorrow."]


async def test_a_broken_hook_breaks_the_call_not_the_session(project: Path) -> None:
    async def before(call: Call, ctx: ToolContext) -> None:
        raise ZeroDivisionError

    result = await run(make_session(project, tools=TOOLS, hooks=[pair(before)]), "echo", {"text": "x"})
    assert result.output.startswith("echo broke: ZeroDivisionError")


async def test_a_call_made_by_a_tool_passes_the_same_door(project: Path) -> None:
    @tool(asks=True)
    async def twice(ctx: ToolContext, text: str) -> str:
        """Calls echo twice."""
        answers = [await ctx.call("echo", {"text": text}), await ctx.call("nope", {})]
        return " | ".join(answer.output for answer in answers)

    names: list[str] = []

    async def before(call: Call, ctx: ToolContext) -> None:
        names.append(call.tool)

    session = make_session(project, tools=[*TOOLS, twice], hooks=[pair(before)])
    result = await run(session, "twice", {"text": "x"})
    assert names == ["twice", "echo", "invalid"]
    assert result.output.startswith("x | The call of 'nope' could not be made. There is no tool 'nope'.")


async def test_a_tool_that_does_not_ask_is_asked_for_by_its_name(project: Path) -> None:
    user = ScriptedUser.saying("once", "reject")
    session = make_session(project, tools=TOOLS, rules=[Rule("echo", "*", "ask")], user=user)
    assert (await run(session, "echo", {"text": "x"})).output == "x"
    refused = await run(session, "echo", {"text": "x"})
    assert refused.error is not None
    assert refused.error.kind == "rejected"
    assert [(one.permission, one.patterns) for one in user.questions] == [("echo", ("*",))] * 2


async def test_progress_replaces_title_and_metadata_and_keeps_the_start(project: Path) -> None:
    @tool(asks=True)
    async def slow(ctx: ToolContext) -> str:
        """Reports on itself."""
        ctx.metadata("half way", {"percent": 50})
        ctx.metadata(metadata={"percent": 90})
        return "done"

    session = make_session(project, tools=[slow])
    parts = listen(session)
    await run(session, "slow")
    assert [(part.state.title, part.state.metadata) for part in parts[2:4]] == [
        ("half way", {"percent": 50}),
        ("half way", {"percent": 90}),
    ]
    assert len({part.state.time.start for part in parts[1:]}) == 1


async def test_progress_that_comes_too_late_changes_nothing(project: Path) -> None:
    contexts: list[ToolContext] = []

    @tool(asks=True)
    async def leaky(ctx: ToolContext) -> str:
        """Lets its context out."""
        contexts.append(ctx)
        return "done"

    session = make_session(project, tools=[leaky])
    parts = listen(session)
    await run(session, "leaky")
    contexts[0].metadata("too late")
    assert parts[-1].state.status == "completed"


@pytest.mark.parametrize("name", ["Echo", "ECHO", "eChO"])
async def test_a_name_in_the_wrong_case_is_put_right(project: Path, name: str) -> None:
    session = make_session(project, tools=TOOLS)
    parts = listen(session)
    assert (await run(session, name, {"text": "x"})).output == "x"
    assert [part.tool for part in parts] == [name, "echo", "echo"]


async def test_an_unknown_tool_is_answered_with_the_nearest_names(project: Path) -> None:
    session = make_session(project, tools=TOOLS)
    parts = listen(session)
    result = await run(session, "echoo", {"text": "x"})
    assert result.output == "The call of 'echoo' could not be made. There is no tool 'echoo'. Did you mean 'echo'?"
    assert result.error is not None
    assert result.error.kind == "unknown_tool"
    assert statuses(parts) == ["pending", "running", "completed"]


@pytest.mark.parametrize("text", ["{text: hi}", '{"text": "h', "[" * 100_000, '{"text": 1' + "0" * 5000 + "}"])
async def test_arguments_that_are_not_json_are_answered_not_raised(project: Path, text: str) -> None:
    result = await make_session(project, tools=TOOLS).run_call(call_from_text("call_1", "echo", text))
    assert result.output.startswith("The call of 'echo' could not be made. Its arguments are not JSON:")
    assert result.error is not None
    assert result.error.kind == "schema"
    assert len(result.output) < 500


@pytest.mark.parametrize("text", ['"hi"', "null", "7", "[]"])
async def test_json_that_is_no_object_does_not_fit_the_schema(project: Path, text: str) -> None:
    result = await make_session(project, tools=TOOLS).run_call(call_from_text("call_1", "echo", text))
    assert result.error is not None
    assert result.error.kind == "schema"
    assert "expected an object" in result.output


async def test_no_arguments_at_all_are_an_empty_object(project: Path) -> None:
    assert call_from_text("call_1", "broken", " \n ").arguments == {}


async def test_all_problems_are_told_at_once_and_nothing_runs(project: Path) -> None:
    result = await run(make_session(project, tools=TOOLS), "echo", {"Text": 3, "times": "often"})
    assert result.output == (
        "The arguments for echo do not fit its schema:\n"
        "- text: is missing; expected a string (you sent 'Text')\n"
        '- times: expected a whole number, got "often"\n'
        "Call echo again with these fixed."
    )


async def test_a_ten_megabyte_argument_of_the_wrong_type_is_one_short_error(project: Path) -> None:
    session = make_session(project, tools=TOOLS)
    with bounded_work():
        result = await session.run_call(call_from_text("call_1", "echo", json.dumps({"text": ["x" * 10_000_000]})))
    assert result.error is not None
    assert result.error.kind == "schema"
    assert len(result.output) < 300


async def test_a_ten_megabyte_argument_that_fits_is_run_and_its_output_cut(project: Path) -> None:
    session = make_session(project, tools=TOOLS)
    result = await run(session, "echo", {"text": "line\n" * 2_000_000})
    assert result.truncated
    assert len(result.output) < 60_000
    assert size(result.metadata["outputPath"]) == 10_000_000


async def test_a_ten_megabyte_name_is_answered_in_a_few_words(project: Path) -> None:
    with bounded_work():
        result = await run(make_session(project, tools=TOOLS), "x" * 10_000_000)
    assert result.output.startswith("The call of 'xxx")
    assert len(result.output) < 1000


@pytest.mark.slow
async def test_a_million_problems_are_counted_and_the_first_are_told(project: Path) -> None:
    @tool
    async def total(ctx: ToolContext, numbers: list[int]) -> str:
        """Adds up."""
        return str(sum(numbers))

    result = await run(make_session(project, tools=[total]), "total", {"numbers": ["x"] * 100_000})
    assert "- numbers[0]: expected a whole number" in result.output
    assert "99,980 more" in result.output
    assert len(result.output) < 5000


async def test_an_endless_error_is_cut_like_an_output(project: Path) -> None:
    @tool(asks=True)
    async def chatty(ctx: ToolContext) -> str:
        """Fails at length."""
        raise ToolError("No.\n" * 100_000, "missing")

    result = await run(make_session(project, tools=[chatty]), "chatty")
    assert result.error is not None
    assert result.error.kind == "missing"
    assert len(result.output) < 60_000
    assert size(result.metadata["outputPath"]) == 400_000


def _refuse_to_load() -> Tool:
    raise ImportError("no such library")


async def test_a_tool_that_was_not_offered_is_refused_by_the_rule_that_hides_it(project: Path) -> None:
    workspace = make_workspace(project, config={"permission": {"skill": "deny"}})
    session = workspace.session()
    log: list[AskedRequest] = []
    result = await session.run_call(Call(id="c", tool="skill", arguments={"name": "none"}), log=log)
    await workspace.close()
    assert result.error is not None
    assert result.error.kind == "denied"
    assert [(entry.judgement.request.permission, entry.judgement.action) for entry in log] == [("skill", "deny")]


@pytest.mark.parametrize("hiding", [{"permission": {"bash": "deny"}}, {"tools": {"bash": False}}])
async def test_a_tool_that_the_settings_hide_does_not_run_because_a_session_allows_everything(
    project: Path, hiding: Json
) -> None:
    workspace = make_workspace(project, config=hiding)
    session = workspace.session(rules={"*": "allow"})
    assert "bash" not in session.offered()
    result = await session.run_call(Call(id="c", tool="bash", arguments={"command": "touch ran"}))
    await workspace.close()
    assert result.error is not None
    assert result.error.kind == "denied"
    assert "the settings forbid it outright" in result.output
    assert not (project / "ran").exists()
