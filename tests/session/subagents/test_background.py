"""Agents in the background: their caller goes on, hears of their end, asks, tells and stops them; limits hold."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.session.trial import Trial, call, calls, opened, read, results, says, words
from tests.waiting import until
from toolwright.messages import TextPart
from toolwright.protocols.json_types import Json
from toolwright.session.asking import answered
from toolwright.session.budget import Budget
from toolwright.session.prompt import Prompt
from toolwright.testing import ScriptedUser

HELPER: Json = {"helper": {"mode": "subagent", "description": "Helps"}}
CONFIG: Json = {"config": {"agent": HELPER, "sandbox": "off"}}
CHILD = "^Look into it"
NAP = call("bash", command="until [ -e go ]; do sleep 0.01; done", description="Wait")


def task(prompt: str = "Look into it.", **more: Any) -> Any:
    given = {"description": "Small job", "prompt": prompt, "subagent_type": "helper", "background": True}
    return call("task", **given | more)


async def child_of(trial: Trial) -> Any:
    return (await trial.workspace.sessions.children(trial.session.id))[0]


async def test_the_caller_goes_on_and_hears_of_the_end(project: Path) -> None:
    script = (
        calls(task()),
        calls(NAP, match=CHILD),
        says("It says hello.", match=CHILD),
        calls(call("write", filePath="go", content="")),
        says("Waiting."),
        says("Done."),
    )
    async with opened(project, *script, **CONFIG) as trial:
        assert (await trial.prompt()).text == "Done."
        child = await child_of(trial)
        assert f"{child.slug} works in the background." in results(trial.replies[0])[0]
        told = words(trial.requests[-1])
        assert f"The agent helper in the background, {child.slug} (Small job), is done. It reports:\n\nIt says" in told
        [one] = trial.workspace.background.below(trial.session.id)
        assert (one.state, one.name, one.agent, one.title) == ("done", child.slug, "helper", "Small job")


async def test_in_a_conversation_the_turn_ends_and_the_end_of_the_agent_begins_another(project: Path) -> None:
    script = (calls(task()), calls(NAP, match=CHILD), says("Hello.", match=CHILD), says("Begun."), says("It is done."))
    async with opened(project, *script, **CONFIG) as trial:
        assert (await trial.prompt(waits=False)).text == "Begun."
        assert trial.workspace.background.below(trial.session.id)[0].state == "working"
        (project / "go").touch()
        await until(lambda: not trial.session.turns.busy and trial.replies[-1].text == "It is done.")
        notice = trial.messages[-2]
        assert [part.synthetic for part in notice.parts.values() if isinstance(part, TextPart)] == [True]


async def test_it_is_asked_how_it_is_told_something_and_stopped(project: Path) -> None:
    async with opened(
        project,
        calls(task()),
        calls(read(), match=CHILD),
        calls(NAP, match=CHILD),
        says("Heard.", match="Mind the gap"),
        says("Begun."),
        **CONFIG,
    ) as trial:
        await trial.prompt(waits=False)
        child = await child_of(trial)
        await until(lambda: "bash" in trial.workspace.background.below(trial.session.id)[0].doing)

        async def attend(**more: Any) -> str:
            given = {"description": "See", "prompt": "", "subagent_type": "helper", "session_id": child.id}
            return (await trial.session.call("task", **given | more)).output

        seen = [await attend(), await attend(prompt="Mind the gap."), await attend(stop=True), await attend()]
        assert seen[0].startswith(f"{child.slug} is at work: 2 steps, ")
        assert seen[1] == f"{child.slug} is told before its next step."
        assert seen[2].startswith(f"{child.slug} was stopped.")
        assert seen[3].startswith("Nothing works in the background there")
        assert trial.workspace.background.below(trial.session.id)[0].state == "stopped"


async def test_nobody_attends_to_an_agent_of_another_session(project: Path) -> None:
    async with opened(project, calls(task()), calls(NAP, match=CHILD), says("Begun."), **CONFIG) as trial:
        await trial.prompt(waits=False)
        child = await child_of(trial)
        given = {"description": "See", "prompt": "", "subagent_type": "helper", "session_id": child.id, "stop": True}
        result = await trial.workspace.sessions.create().call("task", **given)
        assert result.error is not None
        assert trial.workspace.background.at_work(child.id) is not None


async def test_the_limits_hold_for_the_whole_tree(project: Path) -> None:
    config = {"agent": HELPER, "sandbox": "off", "background": {"agents": 1}}
    script = (calls(task()), calls(NAP, match=CHILD), calls(task("Look again.")), says("One is enough."))
    async with opened(project, *script, config=config) as trial:
        await trial.prompt(waits=False)
        assert results(trial.replies[1])[0].startswith("1 agents are at work in the background, which is the limit")


async def test_all_of_them_count_to_the_budget_of_the_turn_that_began_them(project: Path) -> None:
    script = (
        calls(task()),
        calls(NAP, match=CHILD),
        says("Begun."),
        calls(read(), match=CHILD, usage={"input": 5000, "output": 5000}),
        says("Never said.", match=CHILD),
        says("Stopped by the budget."),
    )
    async with opened(project, *script, **CONFIG) as trial:
        await trial.prompt(waits=False, budget=Budget(tokens=8000))
        (project / "go").touch()
        await until(lambda: trial.workspace.background.below(trial.session.id)[0].state == "failed")


async def test_stopping_a_prompt_that_waits_for_them_stops_them(project: Path) -> None:
    async with opened(project, calls(task()), calls(NAP, match=CHILD), says("Begun."), **CONFIG) as trial:
        asked = asyncio.create_task(answered(trial.session, Prompt(text="Go.", message_id="")))
        await until(lambda: bool(trial.workspace.background.below(trial.session.id)))
        await until(lambda: "Begun." in [one.text for one in trial.replies])
        await trial.session.abort()
        assert (await asked).error is not None
        assert trial.workspace.background.below(trial.session.id)[0].state == "stopped"


async def test_a_question_of_one_carries_its_name(project: Path) -> None:
    config = {"agent": HELPER, "permission": {"edit": "ask"}}
    asks = calls(call("write", filePath="b.txt", content="b\n"), match=CHILD)
    script = (calls(task()), asks, says("Written.", match=CHILD), says("Begun."), says("Done."))
    user = ScriptedUser.saying("once")
    async with opened(project, *script, user=user, config=config) as trial:
        assert (await trial.prompt()).text == "Done."
        child = await child_of(trial)
        [question] = user.questions
        assert (question.agent, question.name) == ("helper", child.slug)


@pytest.mark.parametrize("is_done", [True, False])
async def test_what_the_end_of_the_program_left_untold_is_told_when_the_session_goes_on(
    project: Path, is_done: bool
) -> None:
    script = (calls(task()), calls(NAP, match=CHILD), says("Hello.", match=CHILD), says("Begun."))
    async with opened(project, *script, **CONFIG) as trial:
        await trial.prompt(waits=False)
        child = await child_of(trial)
        session_id = trial.session.id
        if is_done:
            trial.session.closed = True  # as if the program ended just before it could tell
            (project / "go").touch()
            await until(lambda: trial.workspace.background.below(session_id)[0].state == "done")
    async with opened(project, says("I see."), says("Yes."), **CONFIG) as later:
        session = await later.workspace.sessions.open(session_id)
        await session.turns.answer(Prompt(text="And?"))
        told = words(later.requests[-1])
        end = (
            "is done. It reports:\n\nHello." if is_done else "did not finish: The program that it worked in has ended."
        )
        assert f"{child.slug} (Small job), {end}" in told
        await session.turns.answer(Prompt(text="And now?"))
        assert told.count("in the background") == words(later.requests[-1]).count("in the background")
