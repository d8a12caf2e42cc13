"""MCP servers that are programs: their tools, their bad habits, and their end."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.mcp.conftest import Served, scripted
from tests.waiting import until
from toolwright.calls.parts import Running, ToolPart
from toolwright.events import Event, PartUpdated
from toolwright.inbox import Answerer, Question, Reply, TakesDefaults, always_say
from toolwright.mcp.client.servers import prompt_text
from toolwright.registry import Registry
from toolwright.testing import ScriptedModel, make_workspace
from toolwright.workspace import Workspace

STRICT = {"timeout": 400}


async def test_a_tool_is_called_by_the_names_of_server_and_tool(served: Served) -> None:
    async with served() as workspace:
        result = await workspace.call("s_echo", text="Hello.")
    assert (result.output, result.error) == ("Hello.", None)


async def test_nothing_is_started_before_a_tool_is_called(served: Served) -> None:
    async with served() as workspace:
        await workspace.call("list")
        assert [one.status for one in workspace.mcp.states()] == ["idle"]
        await workspace.call("s_echo", text="x")
        assert [one.status for one in workspace.mcp.states()] == ["connected"]


async def test_what_a_server_had_is_known_the_next_time_without_starting_it(served: Served) -> None:
    async with served() as workspace:
        await workspace.mcp.settled()
    async with served() as workspace:
        assert "s_echo" in workspace.registry
        assert workspace.mcp["s"].status == "idle"


async def test_no_process_is_left_after_the_workspace_is_closed(served: Served) -> None:
    async with served() as workspace:
        await workspace.mcp.settled()
        pid = _pid(workspace)
        assert _is_alive(pid)
    assert not _is_alive(pid)


KILLED = """
import asyncio, json, os, signal, sys
from pathlib import Path
from toolwright.workspace import Workspace

async def main():
    config = {"mcp": {"s": json.loads(sys.argv[2])}}
    async with Workspace(Path(sys.argv[1]), config=config, trust=True) as workspace:
        await workspace.mcp.settled()
        [scope] = workspace.scopes._open
        print(scope.pid, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(main())
"""


async def test_no_process_is_left_after_we_are_killed(project: Path, tmp_path: Path) -> None:
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path / "home")}
    words = [sys.executable, "-c", KILLED, str(project), json.dumps(scripted())]
    done = await asyncio.to_thread(subprocess.run, words, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    await until(lambda: not _is_alive(int(done.stdout)))


async def test_arguments_are_checked_before_the_server_sees_them(served: Served) -> None:
    async with served() as workspace:
        result = await workspace.call("s_echo", text=[1])
    assert result.error is not None
    assert result.error.kind == "schema"


async def test_a_rule_for_the_id_decides(served: Served) -> None:
    async with served(config={"permission": {"s_echo": "deny"}}) as workspace:
        result = await workspace.call("s_echo", text="x")
    assert result.error is not None
    assert result.error.kind == "denied"


async def test_an_answer_that_says_it_is_an_error_is_one(served: Served) -> None:
    async with served() as workspace:
        result = await workspace.call("s_fail")
    assert result.error is not None
    assert result.output == "It did not work."


async def test_images_are_attached_and_what_cannot_be_shown_is_noted(served: Served) -> None:
    async with served() as workspace:
        result = await workspace.call("s_rich")
    assert [one.mime for one in result.attachments] == ["image/png"]
    assert "An image:" in result.output
    assert "Audio of type audio/wav" in result.output
    assert "x://blob of type x/y" in result.output
    assert result.output.count('{"answer": 42}') == 1
    assert result.metadata["structured"] == {"answer": 42}


async def test_secrets_of_our_environment_are_not_handed_on(served: Served) -> None:
    ours = {"PATH": os.environ["PATH"], "SOME_API_KEY": "secret", "PLAIN": "seen"}
    settings = {"environment": {"THEIR_TOKEN": "given"}}
    async with served(environment=ours, settings=settings) as workspace:
        seen = json.loads((await workspace.call("s_env")).output)
    assert "SOME_API_KEY" not in seen
    assert (seen["PLAIN"], seen["THEIR_TOKEN"]) == ("seen", "given")


async def test_one_malformed_tool_is_left_out_and_the_others_stay(served: Served) -> None:
    async with served("lies") as workspace:
        await workspace.mcp.settled()
        [state] = workspace.mcp.states()
        assert "s_echo" in state.tools
        assert not {"s_bad", "s_worse"} & set(state.tools)
        assert state.left_out is not None
        assert any(one.startswith("bad: ") for one in state.left_out)


async def test_a_tool_that_only_runs_as_a_task_is_left_out(served: Served) -> None:
    async with served("tasks") as workspace:
        await workspace.mcp.settled()
        [left] = workspace.mcp["s"].left_out
    assert (left.name, "only as a task" in left.reason) == ("slow", True)


def test_a_prompt_is_the_texts_of_its_messages_and_resources() -> None:
    resource = {"type": "resource", "resource": {"uri": "x://1", "text": "two"}}
    messages = [
        {"role": "user", "content": {"type": "text", "text": "one"}},
        {"role": "user", "content": [resource, {"type": "image", "data": "aa"}]},
    ]
    assert prompt_text({"messages": messages}) == "one\ntwo"


async def test_an_argument_may_be_of_one_type_or_another(served: Served) -> None:
    async with served() as workspace:
        for value in ("x", None):
            result = await workspace.call("s_either", text=value, any=[1])
            assert json.loads(result.output) == {"text": value, "any": [1]}


async def test_a_server_that_dies_at_once_is_failed_with_its_last_line(served: Served) -> None:
    async with served("dead") as workspace:
        await workspace.mcp.settled()
        [state] = workspace.mcp.states()
        assert state.status == "failed"
        assert state.error == "it ended with code 7: the licence has run out"
        result = await workspace.call("s_echo", text="x")
        assert "the licence has run out" in result.output
        assert result.error is not None
        assert result.error.kind == "missing"


async def test_a_server_that_does_not_answer_is_given_up_and_ended(served: Served) -> None:
    async with served("hangs", settings=STRICT) as workspace:
        await workspace.mcp.settled()
        [state] = workspace.mcp.states()
        assert state.status == "failed"
        late = "it did not answer within 0.4 seconds"
        assert state.error in (late, f"{late}; it last wrote: still thinking")  # a slow machine hears nothing by then
        result = await workspace.call("s_echo", text="x")
        assert result.error is not None
        assert result.error.kind == "timeout"


async def test_a_call_that_takes_too_long_is_a_timeout_and_the_next_one_works(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with served() as workspace:
        await workspace.mcp.settled()
        with monkeypatch.context() as hurried:
            hurried.setattr("toolwright.mcp.client.server.McpServer.call_seconds", 0.2)
            late = await workspace.call("s_wait")
        assert late.error is not None
        assert late.error.kind == "timeout"
        assert (await workspace.call("s_echo", text="x")).output == "x"


async def test_a_server_that_dies_in_a_call_is_started_again_for_the_next(served: Served) -> None:
    async with served() as workspace:
        dead = await workspace.call("s_die")
        assert dead.error is not None
        assert "out of cheese" in dead.output
        assert (await workspace.call("s_echo", text="back")).output == "back"


async def test_a_server_that_dies_is_noticed_although_its_child_keeps_the_pipes(served: Served) -> None:
    async with served() as workspace:
        dead = await workspace.call("s_die_with_a_child")
        assert dead.output == "The MCP server s ended during the call. It is started again for the next call."
        assert (await workspace.call("s_echo", text="back")).output == "back"


async def test_a_server_that_floods_both_outputs_is_still_understood(served: Served) -> None:
    async with served("floods") as workspace:
        assert (await workspace.call("s_echo", text="x")).output == "x"


async def test_a_message_without_an_end_ends_the_server(served: Served) -> None:
    async with served("endless") as workspace:
        await workspace.mcp.settled()
        assert workspace.mcp["s"].status == "failed"


async def test_what_is_no_message_is_passed_over(served: Served) -> None:
    async with served("chatty") as workspace:
        assert (await workspace.call("s_echo", text="x")).output == "x"


async def test_a_new_tool_can_be_used_once_the_server_has_told(served: Served) -> None:
    async with served() as workspace:
        await workspace.call("s_grow")
        await _until_known(workspace.registry, "s_late")
        assert (await workspace.call("s_late")).output == "grown"


async def test_progress_is_shown_on_the_call(served: Served) -> None:
    titles: list[str | None] = []

    def hear(event: Event) -> None:
        if isinstance(event, PartUpdated) and isinstance(event.part, ToolPart):
            state = event.part.state
            if isinstance(state, Running):
                titles.append(state.title)

    async with served() as workspace:
        workspace.bus.subscribe(hear)
        call = asyncio.create_task(workspace.call("s_wait"))
        await until(lambda: "half way" in titles)
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)


async def test_a_question_in_mid_call_goes_to_the_person(served: Served) -> None:
    asked: list[Question] = []

    def answer(question: Question) -> Reply:
        asked.append(question)
        return Reply(kind="once", answers=(("blue",),))

    for habits in ((), ("stateless",)):
        async with served(*habits, user=answer) as workspace:
            result = await workspace.call("s_ask")
        assert json.loads(result.output) == {"action": "accept", "content": {"colour": "blue"}}
    assert "Which colour?" in asked[0].choices[0].question
    assert [one.label for one in asked[0].choices[0].options] == ["red", "blue"]


async def test_a_question_is_declined_where_nobody_is_there(project: Path) -> None:
    environment = {"HOME": str(project.parent / "home")}
    async with Workspace(project, config={"mcp": {"s": scripted()}}, trust=True, environment=environment) as workspace:
        result = await workspace.call("s_ask")
    assert json.loads(result.output) == {"action": "decline"}


DEFAULTS = {"who": "Ada", "age": 30, "score": 95.5, "state": "on", "sure": True, "kinds": ["a", "c"]}


@pytest.mark.parametrize("otherwise", [None, always_say(Reply(kind="reject"))])
async def test_a_form_is_filled_in_by_its_defaults_where_that_is_wanted(
    served: Served, otherwise: Answerer | None
) -> None:
    async with served("defaults", user=TakesDefaults(otherwise)) as workspace:
        assert not workspace.inbox.attended
        result = await workspace.call("s_ask")
    assert json.loads(result.output) == {"action": "accept", "content": DEFAULTS}


@pytest.mark.parametrize("habits", [(), ("half defaults",), ("wrong defaults",), ("empty defaults",)])
async def test_a_form_that_needs_an_answer_is_left_to_who_else_answers(served: Served, habits: tuple[str, ...]) -> None:
    async with served(*habits, user=TakesDefaults(None)) as workspace:
        assert json.loads((await workspace.call("s_ask")).output) == {"action": "decline"}
    asked: list[Question] = []

    def answer(question: Question) -> str:
        asked.append(question)
        return "reject"

    async with served(*habits, user=TakesDefaults(answer)) as workspace:
        assert workspace.inbox.attended
        await workspace.call("s_ask")
    assert len(asked) == 1


@pytest.mark.parametrize(("habit", "action"), [("20 fields", "accept"), ("21 fields", "decline")])
async def test_a_form_of_more_than_twenty_fields_is_put_to_nobody(served: Served, habit: str, action: str) -> None:
    async with served(habit, user=TakesDefaults(None)) as workspace:
        assert json.loads((await workspace.call("s_ask")).output)["action"] == action


async def test_what_a_person_leaves_out_of_a_form_is_the_servers_default(served: Served) -> None:
    asked: list[Question] = []

    def answer(question: Question) -> Reply:
        asked.append(question)
        return Reply(kind="once", answers=(("Grace",), (), (), ("off",)))

    async with served("defaults", user=answer) as workspace:
        result = await workspace.call("s_ask")
    assert json.loads(result.output)["content"] == DEFAULTS | {"who": "Grace", "state": "off"}
    assert asked[0].choices[0].question == "s asks: Is this right?\nWho (default: Ada)"


async def test_a_server_without_a_handshake_works_the_same(served: Served) -> None:
    async with served("stateless") as workspace:
        assert (await workspace.call("s_echo", text="x")).output == "x"


async def test_a_server_that_speaks_no_version_that_is_known_is_failed_in_a_sentence(served: Served) -> None:
    async with served("stateless", "of another age") as workspace:
        await workspace.mcp.settled()
        [state] = workspace.mcp.states()
    assert state.status == "failed"
    assert "it refused to begin" in (state.error or "")


async def test_a_cancelled_call_leaves_the_server_usable(served: Served) -> None:
    async with served() as workspace:
        await workspace.mcp.settled()
        call = asyncio.create_task(workspace.call("s_wait"))
        await asyncio.sleep(0)
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)
        assert (await workspace.call("s_echo", text="x")).output == "x"


@pytest.mark.parametrize("settings", [{"enabled_tools": ["echo"]}, {"disabled_tools": ["fail"]}])
async def test_only_the_tools_that_the_settings_want_are_offered(served: Served, settings: Any) -> None:
    async with served(settings=settings) as workspace:
        assert (await workspace.call("s_echo", text="x")).output == "x"
        assert (await workspace.call("s_fail")).error is not None
        assert "s_echo" in workspace.registry
        assert "s_fail" not in workspace.registry


async def test_a_disabled_server_is_never_started(served: Served) -> None:
    async with served(settings={"enabled": False}) as workspace:
        await workspace.mcp.settled()
        assert workspace.mcp["s"].status == "disabled"
        result = await workspace.call("s_echo", text="x")
        assert "switched off" in result.output


async def test_the_servers_of_a_project_that_is_not_trusted_do_not_exist(project: Path) -> None:
    (project / "toolwright.json").write_text(json.dumps({"mcp": {"s": scripted()}}))
    async with make_workspace(project, trust=False) as workspace:
        assert workspace.settings.mcp == {}
        assert (await workspace.call("s_echo", text="x")).metadata.get("kind") != "completed"


async def test_the_model_is_offered_the_tools_of_servers_that_start_with_its_first_prompt(served: Served) -> None:
    model = ScriptedModel({"tools": [{"name": "s_echo", "args": {"text": "Hi."}}]}, {"text": "Done."})
    async with served(model=model) as workspace:
        result = await workspace.prompt("Go.")
    assert result.calls[0].result.output == "Hi."


async def test_tools_of_servers_are_not_for_batches(served: Served) -> None:
    async with served() as workspace:
        await workspace.mcp.settled()
        batch: list[Any] = [{"tool": "s_echo", "parameters": {"text": "x"}}]
        result = await workspace.call("batch", tool_calls=batch)
    assert "called directly" in result.output


async def test_prompts_are_listed_and_filled_in(served: Served) -> None:
    async with served() as workspace:
        await workspace.mcp.settled()
        [prompt] = workspace.mcp.prompts()
        assert (prompt.name, prompt.arguments) == ("s:greet", ("who", "how"))
        assert await prompt.fill(["Ada"]) == "Greet Ada."


async def test_resources_are_listed_and_read_under_the_rules_for_reading(served: Served) -> None:
    rules = {"permission": {"read": {"mcp:s:x://hidden": "deny"}}}
    async with served(config=rules) as workspace:
        await workspace.mcp.settled()
        assert "x://notes" in (await workspace.call("list_mcp_resources")).output
        read = await workspace.call("read_mcp_resource", server="s", uri="x://notes")
        denied = await workspace.call("read_mcp_resource", server="s", uri="x://hidden")
    assert read.output == "Remember the milk."
    assert denied.error is not None
    assert denied.error.kind == "denied"


async def test_a_resource_that_a_prompt_mentions_goes_along(served: Served) -> None:
    model = ScriptedModel({"text": "Done."})
    async with served(model=model) as workspace:
        await workspace.prompt("Look at @s:x://notes please.")
        sent = str(model.requests[0].messages)
    assert "Remember the milk." in sent


async def test_the_model_is_told_what_a_server_says_of_itself(served: Served) -> None:
    model = ScriptedModel({"text": "Done."})
    async with served(model=model) as workspace:
        await workspace.prompt("Go.")
    assert "Of the MCP server s:\\nBe brief." in str(model.requests[0].messages[0])


async def test_a_server_that_ends_by_itself_is_started_again(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toolwright.mcp.client.server.PAUSES", (0.0,))
    async with served() as workspace:
        await workspace.mcp.settled()
        first = _pid(workspace)
        os.kill(first, signal.SIGKILL)
        await until(lambda: _others(workspace, first))
        await workspace.mcp.settled()
        assert [one.status for one in workspace.mcp.states()] == ["connected"]


async def test_a_dead_server_does_not_stand_in_for_one_with_a_longer_name(project: Path) -> None:
    servers = {"mcp": {"s": scripted("dead"), "s_more": scripted()}}
    async with make_workspace(project, config=servers) as workspace:
        assert (await workspace.call("s_more_echo", text="x")).output == "x"
        assert "the licence has run out" in (await workspace.call("s_echo", text="x")).output


async def test_a_server_whose_name_begins_with_a_digit_can_be_called(project: Path) -> None:
    async with make_workspace(project, config={"mcp": {"7 up": scripted()}}) as workspace:
        assert (await workspace.call("mcp_7_up_echo", text="x")).output == "x"


async def test_too_many_tools_stand_behind_a_search_and_what_it_finds_is_offered_next(served: Served) -> None:
    model = ScriptedModel(
        {"tools": [{"name": "mcp_search", "args": {"query": "count 17"}}]},
        {"tools": [{"name": "s_echo", "args": {"text": "x"}}]},
        {"text": "Done."},
    )
    async with served("many", model=model) as workspace:
        result = await workspace.prompt("Go.")
        offered = [{tool.name for tool in request.tools} for request in model.requests]
    assert "s_count_17" in result.calls[0].result.output
    assert "mcp_search" in offered[0]
    assert "s_count_17" not in offered[0]
    assert {"mcp_search", "s_count_17"} <= offered[1]
    assert "s_count_99" not in offered[1]


async def test_few_tools_need_no_search(served: Served) -> None:
    model = ScriptedModel({"text": "Done."})
    async with served(model=model) as workspace:
        await workspace.prompt("Go.")
        offered = {tool.name for tool in model.requests[0].tools}
    assert "s_echo" in offered
    assert "mcp_search" not in offered


def _pid(workspace: Workspace) -> int:
    [scope] = workspace.scopes._open
    return scope.pid


def _others(workspace: Workspace, first: int) -> list[int]:
    return [scope.pid for scope in workspace.scopes._open if scope.pid not in (0, first)]


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def _until_known(registry: Registry, tool_id: str) -> None:
    await until(lambda: tool_id in registry)
