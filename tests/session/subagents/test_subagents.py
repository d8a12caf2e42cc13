"""Subagents: their own sessions, never more rights than their caller, stopped with it, many at once."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.session.trial import Trial, call, calls, error_of, nothing_open, opened, outcome, read, results, says, words
from tests.waiting import patience, until
from toolwright.calls.parts import Completed, Running, ToolPart
from toolwright.events import PartUpdated, PermissionAsked
from toolwright.messages import AgentPart
from toolwright.models.scripted import ScriptedModel, ScriptedTurn
from toolwright.session.budget import Budget
from toolwright.session.prompt import Prompt
from toolwright.testing import ScriptedUser

HELPER = {"helper": {"mode": "subagent", "description": "Helps"}}
CHILD = "^Look into it"
WRITE = call("write", filePath="b.txt", content="b\n")


def task(agent: str = "helper", prompt: str = "Look into it.", **more: Any) -> Any:
    return call("task", description="Small job", prompt=prompt, subagent_type=agent, **more)


async def _children(trial: Trial) -> list[Any]:
    return await trial.workspace.sessions.children(trial.session.id)


async def test_a_task_is_a_session_of_its_own_under_its_caller(project: Path) -> None:
    """57, 58, 59"""
    script = (calls(task()), calls(read(), match=CHILD), says("It says hello.", match=CHILD), says("Done."))
    async with opened(project, *script, config={"agent": HELPER}) as trial:
        assert (await trial.prompt()).text == "Done."
        [child] = await _children(trial)
        assert child.parent_id == trial.session.id
        assert child.title == "Small job (@helper subagent)"
        part = trial.replies[0].calls[0]
        assert outcome(part).startswith("It says hello.")
        assert child.id in outcome(part)
        assert isinstance(part.state, Completed)
        made = [(one["tool"], one["state"]["status"]) for one in part.state.metadata["summary"]]
        assert made == [("read", "completed")]
        offered = {spec.name for spec in trial.requests[1].tools}
        assert not offered & {"task", "todowrite", "todoread", "question"}
        assert "read" in offered


async def test_the_calls_of_a_subagent_show_in_the_callers_call_while_it_works(project: Path) -> None:
    """58"""
    nap = call("bash", command="until [ -e go ]; do sleep 0.01; done", description="Wait")
    script = (calls(task()), calls(nap, match=CHILD), says("Rested.", match=CHILD), says("Done."))
    async with opened(project, *script, config={"agent": HELPER, "sandbox": "off"}) as trial:
        answer = asyncio.create_task(trial.prompt())
        await until(lambda: ("bash", "running") in [made for summary in _summaries(trial) for made in summary])
        (project / "go").touch()
        assert (await answer).text == "Done."
        assert _summaries(trial)[0] == []


def _summaries(trial: Trial) -> list[list[tuple[str, str]]]:
    """What the call of a subagent has shown of its calls while it was at work."""
    parts = [event.part for event in trial.told(PartUpdated) if isinstance(event.part, ToolPart)]
    shown = [part.state.metadata for part in parts if part.tool == "task" and isinstance(part.state, Running)]
    return [[(one["tool"], one["state"]["status"]) for one in told["summary"]] for told in shown if told]


async def test_a_task_can_be_gone_on_with(project: Path) -> None:
    """60"""
    script = (calls(task()), says("One.", match=CHILD), says("Parent."))
    async with opened(project, *script, config={"agent": HELPER}) as trial:
        await trial.prompt()
        [child] = await _children(trial)
        again = ScriptedModel(
            calls(task(session_id=child.id, prompt="Go on with it.")), says("Two.", match="Go on with it"), says("End.")
        )
        _play(trial, again)
        assert (await trial.prompt()).text == "End."
        assert (await _children(trial))[0].id == child.id
        assert len(await _children(trial)) == 1
        request = next(one for one in again.requests if "Go on with it" in words(one))
        assert "Look into it" in words(request), "the child remembers"


def _play(trial: Trial, model: ScriptedModel) -> None:
    """From now on another script answers."""
    trial.model = model
    trial.workspace.connections.add(model.info.full_name, model)


async def test_a_session_from_elsewhere_is_not_gone_on_with(project: Path) -> None:
    """61, weakness 14"""
    async with opened(project, says("Secret."), config={"agent": HELPER}) as trial:
        await trial.prompt("My secret.")
        foreign = trial.session.id
        other = trial.workspace.sessions.create()
        _play(trial, ScriptedModel(calls(task(session_id=foreign)), says("End.")))
        assert ((await other.turns.answer(Prompt(text="Go."))).message).text == "End."
        assert "not a session that was started from here" in results(other.conversation.messages[1])[0]
        assert not any("My secret" in words(request) for request in trial.model.requests)


async def test_an_unknown_agent_is_answered_with_the_names_there_are(project: Path) -> None:
    """62"""
    async with opened(project, calls(task("nobody"), task("build")), says("End."), config={"agent": HELPER}) as trial:
        await trial.prompt()
        nobody, primary = results(trial.replies[0])
        assert "helper" in nobody
        assert "There is no agent 'build'" in primary
        assert await _children(trial) == []


async def test_a_subagent_that_fails_is_an_error_with_its_cause_and_what_it_had(project: Path) -> None:
    """63"""
    broken = says("", error={"kind": "bad_request", "message": "Too odd"}, match=CHILD)
    script = (calls(task()), calls(read(), text="I looked first.", match=CHILD), broken, says("End."))
    async with opened(project, *script, config={"agent": HELPER}) as trial:
        assert (await trial.prompt()).text == "End."
        [told] = results(trial.replies[0])
        assert "Too odd" in told
        assert "I looked first." in told
        assert (await _children(trial))[0].id in told
        assert trial.replies[0].calls[0].state.status == "error"


async def test_a_subagent_on_a_model_that_is_not_there_is_an_error_of_the_call(project: Path) -> None:
    agents = {"helper": {**HELPER["helper"], "model": "nowhere/none"}}
    async with opened(project, calls(task()), says("End."), config={"agent": agents}) as trial:
        assert (await trial.prompt()).text == "End."
        assert "nowhere" in results(trial.replies[0])[0]


async def test_stopping_the_caller_stops_what_its_subagent_does(project: Path) -> None:
    """64"""
    nap = call("bash", command="sleep 20", description="Wait")
    script = (calls(task()), calls(nap, match=CHILD))
    async with opened(project, *script, config={"agent": HELPER, "sandbox": "off"}) as trial:
        turn = asyncio.create_task(trial.prompt())
        await until(lambda: any("'command': 'sleep 20'" in str(event) for event in trial.told(PartUpdated)))
        await trial.session.abort()
        message = await turn
        [child] = await _children(trial)
        below = await trial.workspace.sessions.messages(child.id)
        assert [error_of(message), error_of(below[-1])] == ["MessageAbortedError"] * 2
        assert nothing_open(*await trial.stored(), *below)
        assert await trial.workspace.sessions.store.leases() == []


async def test_a_question_of_a_subagent_carries_its_session_and_those_above(project: Path) -> None:
    """65"""
    user = ScriptedUser.saying("once")
    echo = call("bash", command="echo hi", description="Say hi")
    config = {"agent": HELPER, "permission": {"bash": "ask"}, "sandbox": "off"}
    script = (calls(task()), calls(echo, match=CHILD), says("Hi.", match=CHILD), says("End."))
    async with opened(project, *script, user=user, config=config) as trial:
        assert (await trial.prompt()).text == "End."
        [asked] = trial.told(PermissionAsked)
        [child] = await _children(trial)
        assert asked.session_id == child.id
        assert asked.callers == (trial.session.id,)


@pytest.mark.parametrize("agent", ["general", "build"])
async def test_what_the_plan_agent_may_not_do_its_subagents_may_not(project: Path, agent: str) -> None:
    """54, 55, weakness 14"""
    script = (calls(task(agent)), calls(WRITE, match=CHILD), says("Could not.", match=CHILD), says("End."))
    async with opened(project, *script) as trial:
        assert (await trial.prompt(agent="plan")).text == "End."
        assert not (project / "b.txt").exists()


async def test_a_task_gone_on_with_from_plan_has_no_more_rights_than_plan(project: Path) -> None:
    """Started under build, which may write; resumed under plan, which may not."""
    script = (calls(task()), says("Ready.", match=CHILD), says("End."))
    async with opened(project, *script, config={"agent": HELPER}) as trial:
        await trial.prompt()
        [child] = await _children(trial)
        _play(
            trial,
            ScriptedModel(
                calls(task(session_id=child.id, prompt="Now write.")),
                calls(WRITE, match="Now write"),
                says("Could not.", match="Now write"),
                says("End."),
            ),
        )
        await trial.prompt(agent="plan")
        assert not (project / "b.txt").exists()


async def test_an_agent_the_user_has_named_is_not_asked_about_in_that_turn(project: Path) -> None:
    """80"""
    config = {"agent": HELPER, "permission": {"task": "ask"}}
    script = (calls(task()), says("One.", match=CHILD), says("End."), calls(task()), says("Two."))
    async with opened(project, *script, config=config) as trial:
        await trial.prompt("@helper should do this.")
        assert trial.user.questions == []
        user = trial.messages[0]
        assert [part.name for part in user.parts.values() if isinstance(part, AgentPart)] == ["helper"]
        assert "agent helper" in words(trial.requests[0])
        await trial.prompt("And once more.")
        assert [question.permission for question in trial.user.questions] == ["task"]


async def test_an_agent_that_a_rule_denies_stays_denied_when_named(project: Path) -> None:
    config = {"agent": HELPER, "permission": {"task": {"helper": "deny"}}}
    async with opened(project, calls(task()), says("End."), config=config) as trial:
        await trial.prompt("@helper should do this.")
        assert await _children(trial) == []


async def test_what_subagents_spend_counts_for_the_turn(project: Path) -> None:
    spends: Any = {"usage": {"input": 900, "output": 100}}
    script = (
        calls(task()),
        calls(read(), match=CHILD, **spends),
        calls(read(), match=CHILD, **spends),
        says("Not reached.", match=CHILD),
    )
    async with opened(project, *script, config={"agent": HELPER}) as trial:
        message = await trial.prompt(budget=Budget(tokens=1500))
        assert error_of(message) == "LimitReachedError"
        assert "tokens" in results(trial.replies[0])[0]


async def test_the_changes_of_a_subagent_count_as_changes_of_the_session(project: Path) -> None:
    script = (calls(task()), calls(WRITE, match=CHILD), says("Written.", match=CHILD), says("End."))
    async with opened(project, *script, config={"agent": HELPER}) as trial:
        await trial.prompt()
        assert trial.session.conversation.info.summary == {"additions": 1, "deletions": 0, "files": 1}


AGENTS, CALLS = 20, 10


def _crowd() -> list[ScriptedTurn]:
    """One reply with twenty tasks; each of them reads its own file ten times and says what is in it."""
    tasks = [
        call("task", description=f"Job {number}", prompt=f"Job no. {number:02}.", subagent_type="general")
        for number in range(AGENTS)
    ]
    script = [calls(*tasks, not_match=r"Job no\.")]
    for number in range(AGENTS):
        mark = rf"Job no\. {number:02}\."
        lines = (call("read", filePath=f"f{number}.txt", offset=step + 1, limit=1) for step in range(CALLS))
        script += [*(calls(line, match=mark) for line in lines), says(f"Answer {number}", match=mark)]
    return [*script, says("All in.")]


def _plant(project: Path) -> None:
    for number in range(AGENTS):
        (project / f"f{number}.txt").write_text("".join(f"{number}-{line}\n" for line in range(CALLS)))


async def test_twenty_subagents_of_ten_calls_each_come_back_right(project: Path) -> None:
    _plant(project)
    async with opened(project, *_crowd()) as trial:
        assert (await trial.prompt()).text == "All in."
        told = results(trial.replies[0])
        assert [text.splitlines()[0] for text in told] == [f"Answer {number}" for number in range(AGENTS)]
        for number, child in enumerate(await _children(trial)):
            made = [part for one in await trial.workspace.sessions.messages(child.id) for part in one.calls]
            assert len(made) == CALLS
            assert all(f"{number}-{step}" in outcome(part) for step, part in enumerate(made))


@pytest.mark.parametrize("after", [0, 40, 150])
async def test_a_crowd_that_is_stopped_leaves_nothing_running_waiting_or_listed(project: Path, after: int) -> None:
    _plant(project)
    asking = {"permission": {"read": {"f7.txt": "ask"}}}
    async with opened(project, *_crowd(), user=ScriptedUser([None] * 50), config=asking) as trial:
        turn = asyncio.create_task(trial.prompt())
        await until(lambda: len(trial.told(PartUpdated)) > after)
        async with patience():
            await trial.session.abort()
        assert error_of(await turn) == "MessageAbortedError"
        below = [one for child in await _children(trial) for one in await trial.workspace.sessions.messages(child.id)]
        assert nothing_open(*await trial.stored(), *below)
        assert trial.workspace.inbox.pending == []
        assert await trial.workspace.sessions.store.leases() == []
        assert [task for task in asyncio.all_tasks() if "Turns" in repr(task)] == []


async def test_what_a_subagent_left_running_ends_with_its_task(project: Path) -> None:
    leave = call("bash", command="sleep 3217 & echo started")
    script = (calls(task()), calls(leave, match=CHILD), says("Left it.", match=CHILD), says("Done."))
    async with opened(project, *script, config={"agent": HELPER}) as trial:
        await trial.prompt()
        found = await asyncio.create_subprocess_exec("pgrep", "-f", "sleep 3217", stdout=asyncio.subprocess.PIPE)
        output, _ = await found.communicate()
        assert output == b""
