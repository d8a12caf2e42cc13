"""The task tool, through the door, with other agents who report what they are told to."""

from pathlib import Path

import pytest

from tests.tools.doubles import Doubles, make_doubles
from toolwright.permission.rules import Rule
from toolwright.protocols.json_types import Json
from toolwright.services import Delegation, OtherAgent, Report
from toolwright.tools.task import task

WORK: Json = {"description": "small job", "prompt": "Do it.", "subagent_type": "general"}
STAFF = [OtherAgent(name="general", description="Does\nanything"), OtherAgent(name="bare", description="")]


@pytest.fixture
def doubles(project: Path) -> Doubles:
    return _parlour(project)


def _parlour(project: Path, *rules: Rule, replies: tuple[str, ...] = ()) -> Doubles:
    doubles = make_doubles(project, task, rules=rules, replies=replies)
    doubles.subagents.other_agents = STAFF
    return doubles


async def test_the_report_comes_back_with_the_session_to_go_on_with(doubles: Doubles) -> None:
    calls: tuple[Json, ...] = ({"id": "prt_1", "tool": "read", "state": {"status": "completed", "title": "a"}},)
    doubles.subagents.report = Report(session_id="ses_child", text="all done", summary=calls)
    result = await doubles.run("task", **WORK)
    assert result.output == "all done\n\n<task_metadata>\nsession_id: ses_child\n</task_metadata>"
    assert result.title == "small job"
    assert result.metadata["sessionId"] == "ses_child"
    assert result.metadata["summary"] == list(calls)
    assert doubles.subagents.tasks == [Delegation(description="small job", prompt="Do it.", agent="general")]


@pytest.mark.parametrize("name", ["session_id", "task_id"])
async def test_an_earlier_task_is_gone_on_with_under_either_name(doubles: Doubles, name: str) -> None:
    await doubles.run("task", **WORK, **{name: "ses_earlier", "command": "review"})
    [handed] = doubles.subagents.tasks
    assert (handed.session_id, handed.command) == ("ses_earlier", "review")


async def test_a_failed_agent_is_an_error_with_its_session_its_cause_and_what_it_wrote(doubles: Doubles) -> None:
    doubles.subagents.report = Report(session_id="ses_child", text="half of it", failure="The model refused the key.")
    result = await doubles.run("task", **WORK)
    assert result.error is not None
    assert result.output == (
        "The agent general did not finish its task in session ses_child: The model refused the key."
        " Call task again with this session_id to let it go on. What it had written by then:\n\nhalf of it"
        "\n\n<task_metadata>\nsession_id: ses_child\n</task_metadata>"
    )
    assert result.metadata["sessionId"] == "ses_child"
    assert result.title == "small job"


async def test_an_agent_that_failed_at_once_is_said_to_have_written_nothing(doubles: Doubles) -> None:
    doubles.subagents.report = Report(session_id="ses_child", text="", failure="No network.")
    assert "It had written nothing yet." in (await doubles.run("task", **WORK)).output


async def test_an_unknown_agent_is_answered_with_the_names_there_are(project: Path) -> None:
    doubles = _parlour(project, Rule("task", "*", "ask"))
    result = await doubles.run("task", **WORK | {"subagent_type": "build"})
    assert result.error is not None
    assert result.error.kind == "not_found"
    assert result.output == "There is no agent 'build' to hand a task to. There are: general, bare."
    assert doubles.permissions.questions == []
    assert doubles.subagents.tasks == []


async def test_a_denied_agent_is_refused_by_the_rule_that_denies_it(project: Path) -> None:
    doubles = _parlour(project, Rule("task", "secret", "deny"))
    result = await doubles.run("task", **WORK | {"subagent_type": "secret"})
    assert result.error is not None
    assert result.error.kind == "denied"
    assert doubles.subagents.tasks == []


@pytest.mark.parametrize(("reply", "tasks"), [("once", 1), ("reject", 0)])
async def test_the_user_is_asked_about_the_agent_by_name(project: Path, reply: str, tasks: int) -> None:
    doubles = _parlour(project, Rule("task", "*", "ask"), replies=(reply,))
    await doubles.run("task", **WORK)
    [asked] = doubles.permissions.questions
    assert (asked.permission, asked.patterns, asked.always) == ("task", ("general",), ("*",))
    assert asked.metadata == {"description": "small job", "subagent_type": "general"}
    assert len(doubles.subagents.tasks) == tasks


async def test_the_description_names_the_colleagues_one_line_each(doubles: Doubles) -> None:
    shown = await doubles.shown(task)
    assert shown.description.splitlines()[-2:] == ["- general: Does anything", "- bare"]
    assert list(shown.parameters["properties"]) == [
        "description",
        "prompt",
        "subagent_type",
        "session_id",
        "background",
        "copy",
        "stop",
    ]


@pytest.mark.parametrize("missing", list(WORK))
async def test_every_part_of_the_work_must_be_said(doubles: Doubles, missing: str) -> None:
    result = await doubles.run("task", **{name: value for name, value in WORK.items() if name != missing})
    assert result.error is not None
    assert result.error.kind == "schema"
