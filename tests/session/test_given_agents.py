"""Agents as a program makes them: given to a workspace, a prompt, a task; handed over to; the same in a file."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from toolwright import Agent, StructuredOutputError, UsageError, open_workspace, tool
from toolwright.models.scripted import ScriptedCall
from toolwright.testing import ScriptedModel, make_workspace


@dataclass
class Refund:
    order: str
    amount: float


@tool
def lookup(order: str) -> str:
    """Look an order up."""
    return f"{order}: 12.50"


LOOKUP: ScriptedCall = {"name": "lookup", "args": {"order": "A1"}}
REFUND = '{"order": "A1", "amount": 12.5}'


def handing(agent: str, note: str = "") -> ScriptedCall:
    return {"name": "hand_over", "args": {"agent": agent, "note": note}}


def wrong(**options: Any) -> Any:
    """What a program without types may give."""
    return options


def offered(model: ScriptedModel, request: int = 0) -> list[str]:
    return [one.name for one in model.requests[request].tools]


async def test_an_agent_answers_a_prompt_with_its_model_its_words_its_tools_and_its_form(project: Path) -> None:
    model = ScriptedModel({"tools": [LOOKUP]}, {"text": "Which?"}, {"text": REFUND})
    refunds = Agent(name="refunds", prompt="You pay back.", model=model, tools=["read", lookup], output=Refund)
    async with make_workspace(project) as workspace:
        result = await workspace.prompt("Money back for A1.", agent=refunds)
    assert result.output == Refund(order="A1", amount=12.5)
    assert [call.result.output for call in result.calls] == ["A1: 12.50"]
    assert offered(model) == ["read", "lookup"]
    system = str(model.requests[0].messages[0])
    assert "You pay back." in system
    assert "amount" in system, "it is told the form of its answer"


async def test_the_tools_of_an_agent_are_no_other_agents(project: Path) -> None:
    lead = ScriptedModel({"tools": [LOOKUP]}, {"text": "No luck."})
    async with make_workspace(project, model=lead, agents=[Agent(name="refunds", tools=[lookup])]) as workspace:
        result = await workspace.prompt("Look it up.")
        by_program = await workspace.call("lookup", order="A1")
    assert "lookup" not in offered(lead)
    assert result.calls[0].result.error is not None
    assert by_program.error is not None
    assert by_program.error.kind == "denied"


async def test_what_is_not_among_an_agents_tools_is_not_called(project: Path) -> None:
    write: ScriptedCall = {"name": "write", "args": {"filePath": "x.txt", "content": "x"}}
    model = ScriptedModel({"tools": [write]}, {"text": "I may not."})
    async with make_workspace(project, agents=[Agent(name="reader", model=model, tools=["read"])]) as workspace:
        result = await workspace.prompt("Write.", agent="reader")
    assert [call.tool for call in result.refused] == ["write"]
    assert not (project / "x.txt").exists()


async def test_a_task_is_done_by_an_agent_with_a_model_of_its_own_and_comes_back_in_its_form(project: Path) -> None:
    model = ScriptedModel({"text": "Paid."}, {"text": REFUND})
    refunds = Agent(name="refunds", description="Pays back.", model=model, output=Refund, rules={"bash": "deny"})
    task: Any = {"name": "task", "args": {"description": "Pay", "prompt": "A1", "subagent_type": "refunds"}}
    lead = ScriptedModel({"tools": [task]}, {"text": "Done."})
    async with make_workspace(project, model=lead, agents=[refunds]) as workspace:
        result = await workspace.prompt("Pay.")
    assert result.calls[0].result.output.startswith(REFUND)
    assert "bash" not in offered(model)
    assert "refunds: Pays back." in next(one.description for one in lead.requests[0].tools if one.name == "task")


async def test_a_program_gives_a_task_to_an_agent_object(project: Path) -> None:
    echo = Agent(name="echo", description="Echoes.", model=ScriptedModel({"text": "echoed"}))
    async with make_workspace(project) as workspace:
        result = await workspace.call("task", description="Echo", prompt="Say.", subagent_type=echo)
    assert result.output.startswith("echoed")


async def test_a_conversation_is_handed_over_and_goes_on_with_the_other_agent(project: Path) -> None:
    paying = ScriptedModel({"tools": [LOOKUP]}, {"text": REFUND}, {"text": REFUND})
    refunds = Agent(name="refunds", description="Pays back.", model=paying, tools=[lookup], output=Refund)
    sorting = ScriptedModel({"tools": [handing("refunds", "It is A1.")]})
    triage = Agent(name="triage", prompt="You sort.", model=sorting, tools=["read"], hand_over=[refunds])
    async with make_workspace(project) as workspace, workspace.session(agent=triage) as session:
        result = await session.prompt("Money back.")
        later = await session.prompt("Again.")
    assert offered(sorting) == ["read", "hand_over"]
    assert offered(paying) == ["lookup"], "the other agent's tools, and no way back"
    assert "It is A1." in str(paying.requests[0].messages)
    assert "You sort." not in str(paying.requests[0].messages[0])
    assert [call.tool for call in result.calls] == ["hand_over", "lookup"]
    assert (session.agent, result.text, later.text) == ("refunds", REFUND, REFUND)


async def test_a_conversation_is_handed_over_to_nobody_else_and_a_rule_may_forbid_it(project: Path) -> None:
    model = ScriptedModel({"tools": [handing("build")]}, {"tools": [handing("plan")]}, {"text": "I stay."})
    triage = Agent(name="triage", model=model, hand_over=["plan"])
    async with make_workspace(project, agents=[triage], rules={"hand_over": {"plan": "deny"}}) as workspace:
        result = await workspace.prompt("Go.", agent=triage)
    assert result.text == "I stay."
    assert [call.result.error.kind for call in result.calls if call.result.error] == ["not_found", "denied"]


async def test_the_same_stands_in_a_markdown_file(project: Path) -> None:
    (project / ".toolwright/agent").mkdir(parents=True)
    (project / ".toolwright/agent/refunds.md").write_text(
        "---\ndescription: Pays back.\nmodel: scripted/refunds.json\ntools: [read]\n"
        "output: {type: object, properties: {order: {type: string}}, required: [order]}\n---\nYou pay back.\n"
    )
    (project / ".toolwright/agent/triage.md").write_text(
        "---\ntools: [read, glob]\nhand_over: [refunds]\n---\nYou sort.\n"
    )
    model = ScriptedModel({"tools": [handing("refunds")]}, {"text": "Paid."}, {"text": '{"order": "A1"}'})
    async with make_workspace(project, model=model) as workspace, workspace.session() as session:
        result = await session.prompt("Money back.", model=model, agent="triage")
    assert result.output == {"order": "A1"}
    assert offered(model) == ["read", "glob", "hand_over"]
    assert offered(model, 1) == ["read"]


async def test_an_untrusted_project_hands_nothing_over(project: Path) -> None:
    (project / ".toolwright/agent").mkdir(parents=True)
    (project / ".toolwright/agent/sly.md").write_text("---\nhand_over: [build]\n---\nYou are sly.\n")
    model = ScriptedModel({"text": "Hm."})
    async with make_workspace(project, model=model, trust=False) as workspace:
        await workspace.prompt("Go.", agent="sly")
    assert "hand_over" not in offered(model)


async def test_an_answer_that_never_fits_is_the_agents_error(project: Path) -> None:
    refunds = Agent(name="refunds", model=ScriptedModel({"text": "no"}), output=Refund, retries=0)
    async with make_workspace(project) as workspace:
        result = await workspace.prompt("Go.", agent=refunds)
    assert isinstance(result.error, StructuredOutputError)


async def test_an_agents_check_is_told_to_the_model(project: Path) -> None:
    def check(refund: Refund) -> None:
        if refund.amount > 10:
            raise ValueError("At most 10 is paid back.")

    model = ScriptedModel({"text": REFUND}, {"text": '{"order": "A1", "amount": 10}', "match": "At most 10"})
    async with make_workspace(project) as workspace:
        result = await workspace.prompt("Go.", agent=Agent(name="refunds", model=model, output=Refund, validate=check))
    assert result.output == Refund(order="A1", amount=10)


async def test_who_answers_if_nobody_is_named_may_be_an_agent(project: Path) -> None:
    helper = Agent(name="helper", model=ScriptedModel({"text": "I help."}))
    async with open_workspace(project, agent=helper, environment={"HOME": str(project.parent / "home")}) as workspace:
        assert (await workspace.prompt("Hi.")).text == "I help."


@pytest.mark.parametrize(
    ("give", "told"),
    [
        (lambda w: w.agent_named(Agent(name="a", tools=["reed"])), "Did you mean 'read'"),
        (lambda w: w.agent_named(Agent(name="a", rules={"bahs": "deny"})), "did you mean 'bash'"),
        (lambda w: w.agent_named(Agent(name="a", hand_over=["nobody"])), "no agent 'nobody'"),
        (lambda w: [w.agent_named(Agent(name="a")) for _ in range(2)], "two agents called 'a'"),
        (lambda w: w.agent_named(Agent(name="a", tools=[tool(id="read")(lambda: "")])), "another of that name"),
        (lambda _: Agent(name=""), "has no name"),
        (lambda _: Agent(name="a", tools="read"), "write tools="),
        (lambda _: Agent(name="a", **wrong(mode="sub")), "mode is one of"),
        (lambda _: Agent(name="a", **wrong(model=3)), "model=3 is no model"),
    ],
)
def test_a_mistake_raises_where_it_is_made(project: Path, give: Any, told: str) -> None:
    workspace = make_workspace(project)
    with pytest.raises(UsageError, match=told):
        give(workspace)


def test_what_is_no_agent_is_refused(project: Path) -> None:
    nobody: Any = object()
    for name, given in (("agent", nobody), ("agents", [nobody])):
        options: Any = {name: given}
        with pytest.raises(UsageError, match=f"{name}=<object"):
            open_workspace(project, **options)
