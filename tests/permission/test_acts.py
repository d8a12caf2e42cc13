"""What reaches beyond this machine, or cannot be taken back, is asked about with the command's one question."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from tests.acp.harness import editor
from tests.attacks.shell.ground import BOX, HAS_GIT, Ground, default_policy, make_ground
from tests.extensions.loading import needs_node
from tests.mcp.conftest import scripted
from tests.mcp.test_serve import Client, begun, called, connection
from tests.session.trial import call, calls, says
from toolwright.calls.acts import Act
from toolwright.calls.request import Request
from toolwright.definition import Call, Result, tool
from toolwright.permission.approvals import Approval
from toolwright.permission.defaults import rules
from toolwright.permission.judge import judged
from toolwright.permission.rules import Layer, Policy
from toolwright.session.session import Session
from toolwright.terminal.call_text import shown_call
from toolwright.testing import ScriptedUser, make_session, make_workspace

FORCED = "git push --force origin main"
SENTENCE = "`git push --force` cannot be taken back; acts on the remote origin"


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Ground:
    return make_ground(tmp_path_factory.mktemp("acts"))


@pytest.mark.parametrize(
    ("command", "lines", "action"),
    [
        ("git status", (), "allow"),
        ("git fetch", (), "allow"),
        ("git push", (), "ask"),
        ("terraform destroy -auto-approve", (), "ask"),
        # A rule goes first where it spells out the words of the act.
        ("git push origin main", ("bash git *: allow",), "ask"),
        ("git push origin main", ("bash git push *: allow",), "allow"),
        ("git push origin main", ("bash git push origin main: allow",), "allow"),
        ("git push origin main", ("bash git push*: allow",), "allow"),
        ("git push origin main", ("bash git pu*: allow",), "ask"),
        ("git push origin main", ("bash *: allow",), "ask"),
        (FORCED, ("bash git push *: allow",), "ask"),
        (FORCED, ("bash git push --force *: allow",), "allow"),
        ("ssh prod rm -rf x", ("bash ssh prod *: allow",), "ask"),
        ("ssh prod rm -rf x", ("bash ssh prod rm *: allow",), "allow"),
        ("ssh prod systemctl restart web", ("bash ssh prod *: allow",), "allow"),
        ("psql -c 'drop table a'", ("bash psql *: allow",), "ask"),
        ("psql -c 'insert into a values (1)'", ("bash psql *: allow",), "allow"),
        ("sh -c 'git push'", ("bash git push *: allow",), "allow"),
        ("git push && terraform destroy", ("bash git push *: allow",), "ask"),
        # Rules about acts themselves.
        ("git push", ("act *: allow",), "allow"),
        ("git push", ("act changes: allow",), "allow"),
        (FORCED, ("act changes: allow",), "ask"),
        ("git fetch", ("act reads: ask",), "ask"),
        ("git fetch", ("act *: ask",), "ask"),
        ("git status", ("act *: ask",), "allow"),
        ("git push", ("act changes: deny",), "deny"),
        ("git push", ("act changes: deny", "bash git push *: allow"), "deny"),
        ("git push", ("act changes: allow", "bash git push *: deny"), "deny"),
        ("git push", ("act changes: allow", "bash git push *: ask"), "ask"),
        # Rules about everything: what only reads is no more than the command itself.
        ("git push", ("*: allow",), "allow"),
        ("git fetch", ("*: ask", "bash *: allow"), "allow"),
        ("git push", ("*: ask", "bash *: allow"), "ask"),
        ("git fetch", ("*: deny", "bash *: allow"), "allow"),
        ("git push", ("*: deny", "bash *: allow"), "deny"),
    ],
)
def test_rules_about_acts_and_about_commands_are_weighed_together(
    command: str, lines: tuple[str, ...], action: str, ground: Ground
) -> None:
    assert ground.verdict(command, default_policy(ground.home, *lines), confinement=BOX) == action


@pytest.mark.parametrize(
    ("approved", "command", "action"),
    [
        ("git push origin *", "git push origin main", "allow"),
        ("git push *", "git push origin main", "allow"),
        ("git *", "git push origin main", "ask"),
        ("*", "git push origin main", "ask"),
        ("git push *", FORCED, "ask"),
        (FORCED, FORCED, "ask"),
        ("git push origin *", "git push origin +main", "ask"),
        ("git push origin *", "git push origin :main", "ask"),
    ],
)
def test_a_lasting_answer_goes_by_the_words_of_the_act_and_covers_nothing_final(
    approved: str, command: str, action: str, ground: Ground
) -> None:
    approvals = [Approval("bash", approved)]
    assert ground.verdict(command, default_policy(ground.home), approvals=approvals) == action


def test_a_subagent_may_not_do_what_its_caller_would_be_asked_about() -> None:
    request = Request(permission="bash", patterns=("git push",), acts={"git push": PUSH})
    caller = Policy("build", (Layer("defaults", rules("*: allow", "act changes: ask")),))
    named = Policy("general", (Layer("user", rules("*: allow", "bash git push: allow")),))
    assert judged(named, request, ()).action == "allow"
    assert judged(named.under(caller), request, ()).action == "ask"


PUSH = Act(kind="changes", program="git", words=("git", "push"))


async def run(session: Session, command: str) -> Result:
    return await session.run_call(Call(id="c1", tool="bash", arguments={"command": command, "description": "x"}))


@pytest.mark.skipif(not HAS_GIT, reason="there is no git here")
async def test_pushing_is_asked_once_for_each_remote_and_forcing_every_time(project: Path) -> None:
    user = ScriptedUser.saying("once", "always", "once", "reject")
    session = make_session(project, user=user)
    await run(session, "git init -q --bare up.git; git init -q -b main; git remote add origin ./up.git")
    await run(session, "touch a; git add a; git -c user.email=a@b.c -c user.name=a commit -qm a")
    assert (await run(session, "git push -q origin main")).error is None
    assert (await run(session, "git push -q origin main")).error is None
    assert (await run(session, "git push -q --force origin main")).error is None
    assert (await run(session, "git push -q --force origin main")).error is not None
    asked = [(one.patterns, one.always) for one in user.questions if "push" in one.patterns[0]]
    assert asked[0] == (("git push -q origin main",), ("git push -q origin *",))
    assert [always for _, always in asked[-2:]] == [(), ()]


async def test_there_is_one_question_where_the_command_and_its_act_are_asked_about(project: Path) -> None:
    user = ScriptedUser.saying("reject")
    await run(make_session(project, user=user, config={"permission": {"bash": "ask"}}), f"ls && {FORCED}")
    [question] = user.questions
    assert question.patterns == ("ls", FORCED)
    assert question.metadata["acts"] == [SENTENCE]


async def test_the_model_is_given_the_reason_where_nobody_can_be_asked(project: Path) -> None:
    result = await run(make_session(project, user=None), FORCED)
    assert SENTENCE in result.output


@pytest.mark.parametrize("agent", ["plan", "explore"])
async def test_who_only_looks_is_forbidden_to_act_outside(project: Path, agent: str) -> None:
    user = ScriptedUser()
    result = await run(make_session(project, user=user, agent=agent), FORCED)
    assert "A rule forbids bash on 'git push --force origin main', which cannot be taken back" in result.output
    assert user.questions == []


async def test_what_is_typed_into_a_job_is_asked_about_by_what_it_does(project: Path) -> None:
    user = ScriptedUser.saying("once", "reject")
    session = make_session(project, user=user)
    arguments: dict[str, Any] = {"command": "sh", "description": "x", "background": True}
    await session.run_call(Call(id="c1", tool="bash", arguments=arguments))
    typed = {"job": "job_1", "input": "git push\n", "description": "x"}
    await session.run_call(Call(id="c2", tool="bash", arguments=typed))
    told = [one.metadata.get("acts") for one in user.questions]
    assert told == [None, ["`git push` changes what no undo reaches; acts on the remote repository"]]
    await session.close()


async def test_the_terminal_shows_it_in_one_line(project: Path) -> None:
    user = ScriptedUser()
    await run(make_session(project, user=user), FORCED)
    lines = shown_call(user.questions[0], project, columns=120).splitlines()
    assert f"  ! {SENTENCE}" in lines


async def test_editors_are_shown_it(tmp_path: Path) -> None:
    turns = (calls(call("bash", command=FORCED, description="x")), says("Done."))
    async with editor(tmp_path / "p", *turns) as person:
        person.choice = "reject"
        await person.prompt(await person.session(), "push it")
        [asked] = person.requests
        assert [one["content"]["text"] for one in asked["toolCall"]["content"]] == [SENTENCE]
        assert [one["optionId"] for one in asked["options"]] == ["once", "reject"]


async def test_clients_of_our_mcp_server_are_shown_it(project: Path) -> None:
    client = Client({"action": "decline"})
    async with connection(project) as one:
        await begun(one, client)
        await called(one, client, {"name": "bash", "arguments": {"command": FORCED, "description": "x"}})
    assert SENTENCE in client.asked[0]["message"].splitlines()


# Tools that are no commands.

FILE = """
from toolwright import tool

@tool(act="final")
def erase() -> str:
    return "erased"
"""
OBJECT = """
export default { description: "Posts it.", args: {}, act: "changes", async execute() { return "posted" } }
"""


@tool(act="changes", acts_on="the blog")
def post() -> str:
    return "posted"


@pytest.mark.parametrize(
    ("lines", "answers", "asked"),
    [
        ((), ["always"], 1),
        (("post: allow",), [], 0),
        (("po*: allow",), ["once", "once"], 2),
        (("act changes: allow",), [], 0),
    ],
)
async def test_a_tool_says_what_its_calls_do(
    project: Path, lines: tuple[str, ...], answers: list[str], asked: int
) -> None:
    user = ScriptedUser.saying(*answers)
    session = make_session(project, user=user, tools=[post], rules=rules(*lines, source="test"))
    outputs = [(await session.run_call(Call(id=one, tool="post", arguments={}))).output for one in ("c1", "c2")]
    assert outputs == ["posted", "posted"]
    told = ["changes what no undo reaches; acts on the blog"]
    assert [one.metadata["acts"] for one in user.questions] == [told] * asked


def test_a_tool_has_only_a_class_that_there_is() -> None:
    with pytest.raises(ValueError, match="act='deadly' is none of nothing, here, reads, changes, final"):
        replace(post, act=cast("Any", "deadly"))


async def test_tools_in_files_say_it_as_well(project: Path) -> None:
    (project / ".toolwright" / "tool").mkdir(parents=True)
    (project / ".toolwright" / "tool" / "erase.py").write_text(FILE)
    user = ScriptedUser.saying("once", "reject")
    async with make_workspace(project, user=user) as workspace:
        session = workspace.session()
        results = [await session.run_call(Call(id=one, tool="erase", arguments={})) for one in ("c1", "c2")]
    assert [one.error is None for one in results] == [True, False], results[0].output
    assert [(one.metadata["acts"], one.always) for one in user.questions] == [(["cannot be taken back"], ())] * 2


async def test_a_program_that_is_described_beside_it_says_it_as_well(project: Path) -> None:
    (project / ".toolwright" / "tool").mkdir(parents=True)
    manifest = {"description": "Posts it.", "command": ["true"], "act": "changes"}
    (project / ".toolwright" / "tool" / "post.json").write_text(json.dumps(manifest))
    user = ScriptedUser.saying("once")
    async with make_workspace(project, user=user) as workspace:
        await workspace.session().run_call(Call(id="c1", tool="post", arguments={}))
    assert [one.metadata["acts"] for one in user.questions] == [["changes what no undo reaches"]]


@needs_node
async def test_tools_of_javascript_say_it_as_well(project: Path) -> None:
    (project / ".toolwright" / "tool").mkdir(parents=True)
    (project / ".toolwright" / "tool" / "post.js").write_text(OBJECT)
    user = ScriptedUser.saying("once")
    async with make_workspace(project, user=user) as workspace:
        await workspace.session().run_call(Call(id="c1", tool="post", arguments={}))
    assert [one.metadata["acts"] for one in user.questions] == [["changes what no undo reaches"]]


async def test_what_an_mcp_server_says_of_a_tool_brings_a_question(project: Path) -> None:
    user = ScriptedUser.saying(*["once"] * 9)
    config = {"mcp": {"s": scripted("hints")}, "permission": {"s_post": "allow", "act": {"reads": "ask"}}}
    async with make_workspace(project, user=user, config=config) as workspace:
        await workspace.registry.catch_up()
        session = workspace.session()
        for name in ("look", "note", "post", "wipe", "silent"):
            await session.run_call(Call(id=name, tool=f"s_{name}", arguments={}))
    sentence = "cannot be taken back; acts on what the MCP server s reaches"
    told = [(one.tool, one.metadata.get("acts")) for one in user.questions]
    assert told == [("s_look", None), ("s_wipe", [sentence])]
