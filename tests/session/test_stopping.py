"""Permissions, questions, stopping and waiting: every request is settled, and each caller gets its own answer."""

import asyncio
from pathlib import Path

import pytest

from tests.session.stage import call, calls, error_of, nothing_open, opened, outcome, read, results, says, words
from tests.waiting import patience, until
from toolwright.errors import UsageError
from toolwright.events import PartUpdated, PermissionAsked, PermissionReplied
from toolwright.inbox import Reply
from toolwright.session.events import PartDelta, QuestionAsked, QuestionRejected, SessionIdle
from toolwright.session.prompt import Prompt
from toolwright.session.turns import SessionBusy
from toolwright.testing import ScriptedUser

ASK_BASH = {"permission": {"bash": "ask"}, "sandbox": "off"}
ASK_EDIT = {"permission": {"edit": "ask"}}
ECHO = call("bash", command="echo hi", description="Say hi")
WRITE = call("write", filePath="b.txt", content="b\n")
QUESTION = call(
    "question",
    questions=[
        {"question": "Which?", "header": "Choice", "options": [{"label": one, "description": one} for one in "AB"]}
    ],
)


async def test_a_question_names_the_call_and_what_would_be_stored(project: Path) -> None:
    """37, 38"""
    user = ScriptedUser.saying("once")
    async with opened(project, calls(ECHO), says("Done."), user=user, config=ASK_BASH) as stage:
        assert (await stage.prompt()).text == "Done."
        [asked] = stage.told(PermissionAsked)
        part = stage.replies[0].calls[0]
        assert (asked.permission, asked.patterns, asked.always) == ("bash", ("echo hi",), ("echo *",))
        assert asked.tool == {"messageID": part.message_id, "callID": part.call_id}
        assert part.state.status == "completed"


async def test_after_a_no_the_turn_stops_with_the_results_of_the_step(project: Path) -> None:
    """39, 42"""
    async with opened(project, calls(ECHO, read()), says("Next."), config=ASK_BASH) as stage:
        message = await stage.prompt()
        assert [part.state.status for part in message.calls] == ["error", "completed"]
        assert len(stage.requests) == 1
        assert (await stage.prompt("And now?")).text == "Next."
        assert "refused" in words(stage.requests[1])
        assert "hello" in words(stage.requests[1])


async def test_after_a_no_with_advice_the_turn_goes_on(project: Path) -> None:
    """40"""
    user = ScriptedUser.saying("Use printf.")
    async with opened(project, calls(ECHO), says("As you wish."), user=user, config=ASK_BASH) as stage:
        assert (await stage.prompt()).text == "As you wish."
        assert "Use printf." in results(stage.replies[0])[0]


async def test_a_no_does_not_stop_the_turn_if_that_is_set(project: Path) -> None:
    config = {**ASK_BASH, "experimental": {"continue_loop_on_deny": True}}
    async with opened(project, calls(ECHO), says("Without, then."), config=config) as stage:
        assert (await stage.prompt()).text == "Without, then."


async def test_always_settles_the_other_question_too(project: Path) -> None:
    """41"""
    user = ScriptedUser([None, None])
    again = call("bash", command="echo there", description="Say there")
    async with opened(project, calls(ECHO, again), says("Done."), user=user, config=ASK_BASH) as stage:
        turn = asyncio.create_task(stage.prompt())
        await until(lambda: len(stage.workspace.inbox.pending) == 2)
        first = stage.workspace.inbox.pending[0]
        stage.workspace.inbox.reply(first.id, Reply(kind="always", scope="session"))
        assert (await turn).text == "Done."
        assert [event.reply for event in stage.told(PermissionReplied)] == ["always", "always"]


async def test_the_answers_to_a_question_come_back(project: Path) -> None:
    """43"""
    async with opened(project, calls(QUESTION), says("Done.")) as stage:
        stage.workspace.inbox.answer = lambda _: Reply(kind="once", answers=(("B", "custom"),))
        assert (await stage.prompt()).text == "Done."
        [told] = results(stage.replies[0])
        assert "Which?" in told
        assert "B, custom" in told


async def test_a_question_that_is_declined_stops_the_turn(project: Path) -> None:
    """44"""
    async with opened(project, calls(QUESTION), says("Done.")) as stage:
        message = await stage.prompt()
        assert message.calls[0].state.status == "error"
        assert len(stage.requests) == 1
        assert stage.workspace.inbox.pending == []


async def test_stopping_while_a_question_waits_withdraws_it(project: Path) -> None:
    """45, weakness 4"""
    async with opened(project, calls(QUESTION)) as stage:
        stage.workspace.inbox.answer = lambda _: None
        turn = asyncio.create_task(stage.prompt())
        await until(lambda: stage.told(QuestionAsked))
        await stage.session.abort()
        assert stage.workspace.inbox.pending == []
        assert len(stage.told(QuestionRejected)) == 1
        message = await turn
        assert error_of(message) == "MessageAbortedError"
        assert nothing_open(*await stage.stored())


async def test_an_answer_that_comes_after_stopping_does_nothing(project: Path) -> None:
    """46, weakness 4"""
    async with opened(project, calls(WRITE), user=ScriptedUser([None]), config=ASK_EDIT) as stage:
        turn = asyncio.create_task(stage.prompt())
        await until(lambda: stage.workspace.inbox.pending)
        [question] = stage.workspace.inbox.pending
        await stage.session.abort()
        assert stage.workspace.inbox.pending == []
        with pytest.raises(UsageError, match="No question"):
            stage.workspace.inbox.reply(question.id, Reply(kind="once"))
        assert error_of(await turn) == "MessageAbortedError"
        assert not (project / "b.txt").exists()
        assert isinstance(stage.events[-1], SessionIdle)


async def test_a_stopped_command_keeps_what_it_had_printed(project: Path) -> None:
    """47, 48"""
    slow = call("bash", command="echo begun; sleep 3600", description="Wait")
    async with opened(project, calls(slow), says("Next."), config={"sandbox": "off"}) as stage:
        turn = asyncio.create_task(stage.prompt())
        await until(lambda: any("'output': 'begun" in str(event) for event in stage.told(PartUpdated)))
        async with patience():
            await stage.session.abort()
        message = await turn
        assert error_of(message) == "MessageAbortedError"
        assert "begun" in outcome(message.calls[0])
        assert (await stage.prompt("And now?")).text == "Next."
        assert "begun" in words(stage.requests[1])


async def test_words_that_had_come_before_stopping_are_kept_and_sent(project: Path) -> None:
    """49"""
    async with opened(project, says("One two three four five", chunk=4, gap=0.02), says("Next.")) as stage:
        turn = asyncio.create_task(stage.prompt())
        await until(lambda: len(stage.told(PartDelta)) > 2)
        await stage.session.abort()
        message = await turn
        assert message.text.startswith("One two")
        assert (await stage.stored())[1].text == message.text
        await stage.prompt("And now?")
        assert message.text in str(stage.requests[1].messages)


async def test_a_prompt_during_work_waits_and_each_caller_gets_its_own_answer(project: Path) -> None:
    """50, 51, weakness 21"""
    nap = call("bash", command="sleep 0.2", description="Wait")
    script = (calls(nap), says("One."), says("Two."), says("Three."))
    async with opened(project, *script, config={"sandbox": "off"}) as stage:
        prompts = [asyncio.create_task(stage.prompt(f"Prompt {number}")) for number in (1, 2, 3)]
        answers = [await task for task in prompts]
        assert [message.text for message in answers] == ["One.", "Two.", "Three."]
        assert words(stage.requests[2]).count("Prompt") == 2
        assert words(stage.requests[3]).count("Prompt") == 3


async def test_stopping_stops_the_prompts_that_wait_as_well_and_keeps_their_words(project: Path) -> None:
    async with opened(project, says("One.", delay=3600), says("Next.")) as stage:
        prompts = [asyncio.create_task(stage.prompt(f"Prompt {number}")) for number in (1, 2)]
        await until(lambda: stage.requests)
        await stage.session.abort()
        answers = [await task for task in prompts]
        assert [error_of(message) for message in answers] == ["MessageAbortedError"] * 2
        assert not stage.session.turns.busy
        assert len(await stage.stored()) == 4
        assert (await stage.prompt("Prompt 3")).text == "Next."
        assert "Prompt 2" in words(stage.requests[-1])


async def test_a_caller_who_goes_away_stops_the_turn(project: Path) -> None:
    async with opened(project, says("One.", delay=3600), says("Next.")) as stage:
        turn = asyncio.create_task(stage.prompt())
        await until(lambda: stage.requests)
        turn.cancel()
        with pytest.raises(asyncio.CancelledError):
            await turn
        assert not stage.session.turns.busy
        assert nothing_open(*await stage.stored())
        assert (await stage.prompt()).text == "Next."


@pytest.mark.parametrize("moment", range(0, 40, 3))
async def test_stopped_at_any_moment_nothing_stays_open(project: Path, moment: int) -> None:
    """Stopped at the n-th event of the turn, whichever that is."""
    script = (calls(read(), ECHO, text="Look."), calls(WRITE), says("Done."))
    async with opened(project, *script, config={"sandbox": "off"}) as stage:
        stopping: list[asyncio.Task[None]] = []
        stage.workspace.bus.subscribe(
            lambda _: (
                stopping.append(asyncio.ensure_future(stage.session.abort()))
                if len(stage.events) >= moment and not stopping
                else None
            )
        )
        message = await stage.prompt()
        await asyncio.gather(*stopping)
        assert error_of(message) in ("MessageAbortedError", "")
        assert nothing_open(*await stage.stored())
        assert stage.workspace.inbox.pending == []
        assert isinstance(stage.events[-1], SessionIdle)
        assert not stage.session.turns.busy


async def test_what_needs_a_session_at_rest_is_refused_while_it_works(project: Path) -> None:
    """52"""
    async with opened(project, says("One.", delay=0.3)) as stage:
        turn = asyncio.create_task(stage.prompt())
        await until(lambda: stage.requests)
        with pytest.raises(SessionBusy, match="at work"):
            stage.session.turns.require_rest()
        await turn
        stage.session.turns.require_rest()


async def test_the_plan_agent_cannot_write_and_goes_on(project: Path) -> None:
    """53"""
    async with opened(project, calls(WRITE), says("Then I only plan.")) as stage:
        assert (await stage.prompt(agent="plan")).text == "Then I only plan."
        assert not (project / "b.txt").exists()


async def test_tools_switched_off_by_a_prompt_are_off_for_that_prompt_alone(project: Path) -> None:
    """56, weakness 28"""
    script = (calls(ECHO, read()), says("Without."), says("With."))
    async with opened(project, *script, config={"sandbox": "off"}) as stage:
        assert (await stage.prompt(tools={"bash": False})).text == "Without."
        assert [part.state.status for part in stage.replies[0].calls] == ["error", "completed"]
        assert "switched off" in results(stage.replies[0])[0]
        await stage.prompt()
        offered = [{spec.name for spec in request.tools} for request in stage.requests]
        assert ["bash" in names for names in offered] == [False, False, True]
        assert stage.session.conversation.info.permission is None


async def test_tools_switched_off_stay_off_below_a_batch_and_a_subagent(project: Path) -> None:
    inside = call("batch", tool_calls=[{"tool": "bash", "parameters": {"command": "touch x", "description": "x"}}])
    handed = call("task", description="Do it", prompt="Touch it.", subagent_type="general")
    script = (
        calls(inside, handed, not_match="Touch it"),
        calls(call("bash", command="touch y", description="y"), match="^Touch it"),
        says("Could not.", match="^Touch it"),
        says("Done."),
    )
    config = {"sandbox": "off", "experimental": {"batch_tool": True}}
    async with opened(project, *script, config=config) as stage:
        assert (await stage.prompt(tools={"bash": False})).text == "Done."
        assert not (project / "x").exists()
        assert not (project / "y").exists()


async def test_a_prompt_that_cannot_be_answered_leaves_nothing_behind(project: Path) -> None:
    """98, weakness 9"""
    async with opened(project, says("Here.")) as stage:
        before = len(stage.events)
        for prompt, words_of_it in (
            (Prompt(text=" \n"), "empty"),
            (Prompt(text="Hi", model="nowhere/none"), "nowhere"),
            (Prompt(text="Hi", agent="biuld"), "build"),
            (Prompt(text="Hi", message_id="ses_1"), "msg_"),
        ):
            with pytest.raises(Exception, match=words_of_it):
                await stage.session.turns.answer(prompt)
        assert await stage.stored() == []
        assert stage.events[before:] == []
        assert not stage.session.turns.busy
        assert await stage.workspace.sessions.store.leases() == []
        assert (await stage.prompt()).text == "Here."
