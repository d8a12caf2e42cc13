"""Permissions, questions, stopping and waiting: every request is settled, and each caller gets its own answer."""

import asyncio
from pathlib import Path

import pytest

from tests.session.trial import call, calls, error_of, nothing_open, opened, outcome, read, results, says, words
from tests.waiting import patience, until
from toolwright.errors import SessionBusy, UsageError
from toolwright.events import PartUpdated, PermissionAsked, PermissionReplied
from toolwright.inbox import Reply
from toolwright.session.events import PartDelta, QuestionAsked, QuestionRejected, SessionIdle
from toolwright.session.prompt import Prompt
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
    async with opened(project, calls(ECHO), says("Done."), user=user, config=ASK_BASH) as trial:
        assert (await trial.prompt()).text == "Done."
        [asked] = trial.told(PermissionAsked)
        part = trial.replies[0].calls[0]
        assert (asked.permission, asked.patterns, asked.always) == ("bash", ("echo hi",), ("echo *",))
        assert asked.tool == {"messageID": part.message_id, "callID": part.call_id}
        assert part.state.status == "completed"


async def test_after_a_no_the_turn_stops_with_the_results_of_the_step(project: Path) -> None:
    """39, 42"""
    async with opened(project, calls(ECHO, read()), says("Next."), config=ASK_BASH) as trial:
        message = await trial.prompt()
        assert [part.state.status for part in message.calls] == ["error", "completed"]
        assert len(trial.requests) == 1
        assert (await trial.prompt("And now?")).text == "Next."
        assert "refused" in words(trial.requests[1])
        assert "hello" in words(trial.requests[1])


async def test_after_a_no_with_advice_the_turn_goes_on(project: Path) -> None:
    """40"""
    user = ScriptedUser.saying("Use printf.")
    async with opened(project, calls(ECHO), says("As you wish."), user=user, config=ASK_BASH) as trial:
        assert (await trial.prompt()).text == "As you wish."
        assert "Use printf." in results(trial.replies[0])[0]


async def test_a_no_does_not_stop_the_turn_if_that_is_set(project: Path) -> None:
    config = {**ASK_BASH, "experimental": {"continue_loop_on_deny": True}}
    async with opened(project, calls(ECHO), says("Without, then."), config=config) as trial:
        assert (await trial.prompt()).text == "Without, then."


async def test_always_settles_the_other_question_too(project: Path) -> None:
    """41"""
    user = ScriptedUser([None, None])
    again = call("bash", command="echo there", description="Say there")
    async with opened(project, calls(ECHO, again), says("Done."), user=user, config=ASK_BASH) as trial:
        turn = asyncio.create_task(trial.prompt())
        await until(lambda: len(trial.workspace.inbox.pending) == 2)
        first = trial.workspace.inbox.pending[0]
        trial.workspace.inbox.reply(first.id, Reply(kind="always", scope="session"))
        assert (await turn).text == "Done."
        assert [event.reply for event in trial.told(PermissionReplied)] == ["always", "always"]


async def test_the_answers_to_a_question_come_back(project: Path) -> None:
    """43"""
    async with opened(project, calls(QUESTION), says("Done.")) as trial:
        trial.workspace.inbox.answer = lambda _: Reply(kind="once", answers=(("B", "custom"),))
        assert (await trial.prompt()).text == "Done."
        [told] = results(trial.replies[0])
        assert "Which?" in told
        assert "B, custom" in told


async def test_a_question_that_is_declined_stops_the_turn(project: Path) -> None:
    """44"""
    async with opened(project, calls(QUESTION), says("Done.")) as trial:
        message = await trial.prompt()
        assert message.calls[0].state.status == "error"
        assert len(trial.requests) == 1
        assert trial.workspace.inbox.pending == []


async def test_stopping_while_a_question_waits_withdraws_it(project: Path) -> None:
    """45, weakness 4"""
    async with opened(project, calls(QUESTION)) as trial:
        trial.workspace.inbox.answer = lambda _: None
        turn = asyncio.create_task(trial.prompt())
        await until(lambda: trial.told(QuestionAsked))
        await trial.session.abort()
        assert trial.workspace.inbox.pending == []
        assert len(trial.told(QuestionRejected)) == 1
        message = await turn
        assert error_of(message) == "MessageAbortedError"
        assert nothing_open(*await trial.stored())


async def test_an_answer_that_comes_after_stopping_does_nothing(project: Path) -> None:
    """46, weakness 4"""
    async with opened(project, calls(WRITE), user=ScriptedUser([None]), config=ASK_EDIT) as trial:
        turn = asyncio.create_task(trial.prompt())
        await until(lambda: trial.workspace.inbox.pending)
        [question] = trial.workspace.inbox.pending
        await trial.session.abort()
        assert trial.workspace.inbox.pending == []
        with pytest.raises(UsageError, match="No question"):
            trial.workspace.inbox.reply(question.id, Reply(kind="once"))
        assert error_of(await turn) == "MessageAbortedError"
        assert not (project / "b.txt").exists()
        assert isinstance(trial.events[-1], SessionIdle)


async def test_a_stopped_command_keeps_what_it_had_printed(project: Path) -> None:
    """47, 48"""
    slow = call("bash", command="echo begun; sleep 3600", description="Wait")
    async with opened(project, calls(slow), says("Next."), config={"sandbox": "off"}) as trial:
        turn = asyncio.create_task(trial.prompt())
        await until(lambda: any("'output': 'begun" in str(event) for event in trial.told(PartUpdated)))
        async with patience():
            await trial.session.abort()
        message = await turn
        assert error_of(message) == "MessageAbortedError"
        assert "begun" in outcome(message.calls[0])
        assert (await trial.prompt("And now?")).text == "Next."
        assert "begun" in words(trial.requests[1])


async def test_words_that_had_come_before_stopping_are_kept_and_sent(project: Path) -> None:
    """49"""
    async with opened(project, says("One two three four five", chunk=4, gap=0.02), says("Next.")) as trial:
        turn = asyncio.create_task(trial.prompt())
        await until(lambda: len(trial.told(PartDelta)) > 2)
        await trial.session.abort()
        message = await turn
        assert message.text.startswith("One two")
        assert (await trial.stored())[1].text == message.text
        await trial.prompt("And now?")
        assert message.text in str(trial.requests[1].messages)


async def test_a_prompt_during_work_waits_and_each_caller_gets_its_own_answer(project: Path) -> None:
    """50, 51, weakness 21"""
    nap = call("bash", command="sleep 0.2", description="Wait")
    script = (calls(nap), says("One."), says("Two."), says("Three."))
    async with opened(project, *script, config={"sandbox": "off"}) as trial:
        prompts = [asyncio.create_task(trial.prompt(f"Prompt {number}")) for number in (1, 2, 3)]
        answers = [await task for task in prompts]
        assert [message.text for message in answers] == ["One.", "Two.", "Three."]
        assert words(trial.requests[2]).count("Prompt") == 2
        assert words(trial.requests[3]).count("Prompt") == 3


async def test_stopping_stops_the_prompts_that_wait_as_well_and_keeps_their_words(project: Path) -> None:
    async with opened(project, says("One.", delay=3600), says("Next.")) as trial:
        prompts = [asyncio.create_task(trial.prompt(f"Prompt {number}")) for number in (1, 2)]
        await until(lambda: trial.requests)
        await trial.session.abort()
        answers = [await task for task in prompts]
        assert [error_of(message) for message in answers] == ["MessageAbortedError"] * 2
        assert not trial.session.turns.busy
        assert len(await trial.stored()) == 4
        assert (await trial.prompt("Prompt 3")).text == "Next."
        assert "Prompt 2" in words(trial.requests[-1])


async def test_a_caller_who_goes_away_stops_the_turn(project: Path) -> None:
    async with opened(project, says("One.", delay=3600), says("Next.")) as trial:
        turn = asyncio.create_task(trial.prompt())
        await until(lambda: trial.requests)
        turn.cancel()
        with pytest.raises(asyncio.CancelledError):
            await turn
        assert not trial.session.turns.busy
        assert nothing_open(*await trial.stored())
        assert (await trial.prompt()).text == "Next."


@pytest.mark.parametrize("moment", range(0, 40, 3))
async def test_stopped_at_any_moment_nothing_stays_open(project: Path, moment: int) -> None:
    """Stopped at the n-th event of the turn, whichever that is."""
    script = (calls(read(), ECHO, text="Look."), calls(WRITE), says("Done."))
    async with opened(project, *script, config={"sandbox": "off"}) as trial:
        stopping: list[asyncio.Task[None]] = []
        trial.workspace.bus.subscribe(
            lambda _: (
                stopping.append(asyncio.ensure_future(trial.session.abort()))
                if len(trial.events) >= moment and not stopping
                else None
            )
        )
        message = await trial.prompt()
        await asyncio.gather(*stopping)
        assert error_of(message) in ("MessageAbortedError", "")
        assert nothing_open(*await trial.stored())
        assert trial.workspace.inbox.pending == []
        assert isinstance(trial.events[-1], SessionIdle)
        assert not trial.session.turns.busy


async def test_what_needs_a_session_at_rest_is_refused_while_it_works(project: Path) -> None:
    """52"""
    async with opened(project, says("One.", delay=0.3)) as trial:
        turn = asyncio.create_task(trial.prompt())
        await until(lambda: trial.requests)
        with pytest.raises(SessionBusy, match="at work"):
            trial.session.turns.require_rest()
        await turn
        trial.session.turns.require_rest()


async def test_the_plan_agent_cannot_write_and_goes_on(project: Path) -> None:
    """53"""
    async with opened(project, calls(WRITE), says("Then I only plan.")) as trial:
        assert (await trial.prompt(agent="plan")).text == "Then I only plan."
        assert not (project / "b.txt").exists()


async def test_tools_switched_off_by_a_prompt_are_off_for_that_prompt_alone(project: Path) -> None:
    """56, weakness 28"""
    script = (calls(ECHO, read()), says("Without."), says("With."))
    async with opened(project, *script, config={"sandbox": "off"}) as trial:
        assert (await trial.prompt(tools={"bash": False})).text == "Without."
        assert [part.state.status for part in trial.replies[0].calls] == ["error", "completed"]
        assert "switched off" in results(trial.replies[0])[0]
        await trial.prompt()
        offered = [{spec.name for spec in request.tools} for request in trial.requests]
        assert ["bash" in names for names in offered] == [False, False, True]
        assert trial.session.conversation.info.permission is None


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
    async with opened(project, *script, config=config) as trial:
        assert (await trial.prompt(tools={"bash": False})).text == "Done."
        assert not (project / "x").exists()
        assert not (project / "y").exists()


async def test_a_prompt_that_cannot_be_answered_leaves_nothing_behind(project: Path) -> None:
    """98, weakness 9"""
    async with opened(project, says("Here.")) as trial:
        before = len(trial.events)
        for prompt, words_of_it in (
            (Prompt(text=" \n"), "empty"),
            (Prompt(text="Hi", model="nowhere/none"), "nowhere"),
            (Prompt(text="Hi", agent="biuld"), "build"),
            (Prompt(text="Hi", message_id="ses_1"), "msg_"),
        ):
            with pytest.raises(Exception, match=words_of_it):
                await trial.session.turns.answer(prompt)
        assert await trial.stored() == []
        assert trial.events[before:] == []
        assert not trial.session.turns.busy
        assert await trial.workspace.sessions.store.leases() == []
        assert (await trial.prompt()).text == "Here."
