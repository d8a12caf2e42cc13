"""The loop: replies become parts, calls are run and answered, and every way a reply can end is seen through.

Numbers in the docstrings are the cases of the recorded behaviour.
"""

import asyncio
from pathlib import Path

import pytest

from tests.session.trial import (
    call,
    calls,
    error_of,
    info_of,
    kinds,
    nothing_open,
    opened,
    outcome,
    read,
    results,
    says,
    shape,
    words,
)
from tests.waiting import patience
from toolwright.calls.parts import Failed, ToolPart
from toolwright.definition import ToolContext, tool
from toolwright.events import Event, PartUpdated
from toolwright.inbox import NOBODY
from toolwright.messages import ReasoningPart, TextPart
from toolwright.models.info import Prices
from toolwright.models.model import AssistantMessage, Reasoning
from toolwright.session.events import MessageUpdated, PartDelta, SessionIdle, SessionStatus
from toolwright.testing import ScriptedUser

LOOK = calls(read(), text="Let me see.", reasoning="A file, probably.")


async def test_a_turn_with_a_call_is_two_replies_to_one_prompt(project: Path) -> None:
    """1"""
    async with opened(project, LOOK, says("It says hello.")) as trial:
        message = await trial.prompt("What is in a.txt?")
        user, first, second = trial.messages
        assert message is second
        assert message.text == "It says hello."
        assert [info_of(one).finish for one in (first, second)] == ["tool-calls", "stop"]
        assert {info_of(one).parent_id for one in (first, second)} == {user.info.id}
        assert kinds(first) == ["step-start", "reasoning", "text", "tool completed", "step-finish"]
        assert kinds(second) == ["step-start", "text", "step-finish"]
        assert [(one.info, one.parts) for one in await trial.stored()] == [
            (one.info, one.parts) for one in trial.messages
        ]


async def test_events_come_in_the_order_clients_rely_on(project: Path) -> None:
    """2"""
    async with opened(project, LOOK, says("It says hello.")) as trial:
        numbers: list[int] = []
        trial.workspace.bus.subscribe(lambda _: numbers.append(trial.workspace.bus.number))
        await trial.prompt()
        assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
        told = [name for event in trial.events if (name := _name(event))]
        assert told == [
            "message user", "text", "busy",
            "message assistant", "step-start", "reasoning", "delta", "text", "delta", "pending", "reasoning", "text",
            "running", "completed", "step-finish", "message assistant",
            "message assistant", "step-start", "text", "delta", "text", "step-finish", "message assistant",
            "idle", "at rest",
        ]  # fmt: skip


def _name(event: Event) -> str:
    """Deltas once in a row are many; only the first of them counts."""
    match event:
        case MessageUpdated(info=info):
            return f"message {info.role}"
        case PartUpdated(part=ToolPart(state=state)):
            return state.status
        case PartUpdated(part=part):
            return str(getattr(part, "type", ""))
        case PartDelta(delta="Let me see." | "A file, prob" | "It says hell"):
            return "delta"
        case SessionStatus(status={"type": kind}):
            return str(kind)
        case SessionIdle():
            return "at rest"
    return ""


async def test_the_second_request_holds_the_call_and_its_result(project: Path) -> None:
    """3"""
    async with opened(project, LOOK, says("Done.")) as trial:
        await trial.prompt("What is in a.txt?")
        assert shape(trial.requests[1].messages) == ["system", "user", "assistant", "tool"]
        assert "hello" in words(trial.requests[1])
        assert trial.requests[1].messages[:2] == trial.requests[0].messages[:2]


async def test_messages_that_were_sent_are_sent_again_as_the_same_objects(project: Path) -> None:
    """So that adapters encode each of them once."""
    async with opened(project, calls(read()), calls(read()), says("Done.")) as trial:
        await trial.prompt()
        first, second = trial.requests[1].messages, trial.requests[2].messages
        assert all(old is new for old, new in zip(first, second, strict=False))
        assert all(old is new for old, new in zip(trial.requests[0].tools, trial.requests[2].tools, strict=True))


async def test_no_token_is_counted_or_paid_twice(project: Path) -> None:
    """4"""
    used = {"input": 800, "output": 15, "reasoning": 5, "cache_read": 200}
    prices = Prices(input=3, output=15, cache_read=0.3)
    async with opened(project, says("Hi.", usage=used), prices=prices) as trial:
        info = info_of(await trial.prompt())
        assert (info.tokens.input, info.tokens.output, info.tokens.reasoning) == (800, 15, 5)
        assert info.tokens.cache.read == 200
        assert info.cost == pytest.approx(0.00276)


async def test_a_provider_that_does_not_count_is_marked_as_such(project: Path) -> None:
    """5"""
    async with opened(project, says("Hi.", no_usage=True)) as trial:
        info = info_of(await trial.prompt())
        assert info.usage == "unknown"
        assert info.tokens.total == 0


async def test_thinking_between_tags_is_not_part_of_the_answer(project: Path) -> None:
    """6"""
    aloud = calls(read(), text="<think>It is\nin the file.</think>\n\nLooking.")
    async with opened(project, aloud, says("<think>So.</think>Done.")) as trial:
        message = await trial.prompt()
        assert message.text == "Done."
        assert kinds(trial.replies[0]) == ["step-start", "reasoning", "text", "tool completed", "step-finish"]
        thoughts = [part for part in trial.replies[0].parts.values() if isinstance(part, ReasoningPart)]
        assert [part.text for part in thoughts] == ["It is\nin the file."]
        assert trial.replies[0].text == "Looking."


async def test_an_answer_that_was_cut_off_says_so(project: Path) -> None:
    """7"""
    async with opened(project, says("It is about", finish="length")) as trial:
        message = await trial.prompt()
        assert (info_of(message).finish, message.text, error_of(message)) == ("length", "It is about", "")
        assert trial.model.count == 2, "the prompt and its title"


async def test_a_reply_that_was_used_up_before_it_said_anything_is_an_error(project: Path) -> None:
    async with opened(project, says("", reasoning="Hm, hm, hm", finish="length")) as trial:
        assert error_of(await trial.prompt()) == "MessageOutputLengthError"
        assert len(trial.requests) == 1


async def test_an_answer_that_the_provider_holds_back_is_an_error(project: Path) -> None:
    """8"""
    async with opened(project, says("It is", finish="content_filter")) as trial:
        message = await trial.prompt()
        assert error_of(message) == "ContentFilterError"
        assert message.text == "It is"


async def test_an_unknown_finish_is_judged_by_what_the_reply_holds(project: Path) -> None:
    """9"""
    async with opened(project, calls(read(), finish="other"), says("Done.", finish="other")) as trial:
        message = await trial.prompt()
        assert [info_of(one).finish for one in trial.replies] == ["tool-calls", "stop"]
        assert message.text == "Done."
        assert len(trial.requests) == 2


async def test_an_empty_reply_gets_one_more_chance(project: Path) -> None:
    """10"""
    async with opened(project, says(""), says("Here.")) as trial:
        message = await trial.prompt()
        assert message.text == "Here."
        assert len(await trial.stored()) == 2


async def test_two_empty_replies_are_an_error(project: Path) -> None:
    """10"""
    async with opened(project, says(" \n", repeat=True)) as trial:
        assert error_of(await trial.prompt()) == "EmptyReplyError"
        assert len(trial.requests) == 2
        assert nothing_open(*await trial.stored())


async def test_calls_are_answered_even_if_the_reply_ends_with_stop(project: Path) -> None:
    """11, weakness 8"""
    async with opened(project, calls(read(), finish="stop"), says("It says hello.")) as trial:
        message = await trial.prompt()
        assert message.text == "It says hello."
        assert len(trial.requests) == 2


async def test_calls_of_one_reply_run_side_by_side(project: Path) -> None:
    """12"""
    meet = [
        call(
            "bash", command=f"touch {one}; until [ -e {other} ]; do sleep 0.01; done", description="Wait for the other"
        )
        for one, other in (("a", "b"), ("b", "a"))
    ]
    async with opened(project, calls(*meet), says("Done."), config={"sandbox": "off"}) as trial:
        async with patience():
            await trial.prompt()
        assert [part.state.status for part in trial.replies[0].calls] == ["completed", "completed"]


async def test_what_writes_a_file_and_what_looks_at_it_keep_their_order(project: Path) -> None:
    reply = calls(
        call("write", filePath="b.txt", content="one\n"),
        call("read", filePath="b.txt"),
        call("edit", filePath="b.txt", oldString="one", newString="two"),
        call("grep", pattern="two"),
        call("bash", command="cat b.txt", description="Show"),
    )
    async with opened(project, reply, says("Done."), config={"sandbox": "off"}) as trial:
        await trial.prompt()
        made = trial.replies[0].calls
        assert [part.state.status for part in made] == ["completed"] * 5, results(trial.replies[0])
        assert "one" in outcome(made[1])
        assert "b.txt" in outcome(made[3])
        assert outcome(made[4]).startswith("two")


async def test_order_is_by_arrival_not_by_id(project: Path) -> None:
    """13, weakness 1"""
    async with opened(project, calls(read()), says("One."), says("Two.")) as trial:
        last = "msg_fffffffffff1AAAAAAAAAAAAAA"
        assert (await trial.prompt(message_id=last)).text == "One."
        assert (await trial.prompt(message_id="msg_000000000001AAAAAAAAAAAAAA")).text == "Two."
        assert len(trial.requests) == 3
        stored = [message.info.id for message in await trial.stored()]
        assert stored == [message.info.id for message in trial.messages]
        assert stored[0] == last


async def test_a_long_answer_costs_little_more_than_itself(project: Path) -> None:
    """14, weakness 20"""
    async with opened(project, says("word" * 5_000, chunk=4)) as trial:
        message = await trial.prompt()
        assert len(message.text) == 20_000
        assert len(trial.told(PartDelta)) == 5_000
        size = sum(len(str(event.to_json())) for event in trial.events)
        assert size < 1_500_000


async def test_at_the_step_limit_the_tools_are_gone(project: Path) -> None:
    """15, weakness 12"""
    config = {"agent": {"build": {"steps": 2}}}
    async with opened(project, calls(read()), calls(read(), text="I would look again."), config=config) as trial:
        message = await trial.prompt()
        first, second = trial.requests
        assert first.tools
        assert second.tools == ()
        assert shape(second.messages)[-1] == "user", "an order to the model, not words put into its mouth"
        assert message.text == "I would look again."
        assert [part.state.status for part in message.calls] == ["error"]
        assert nothing_open(*await trial.stored())


async def test_the_same_call_a_third_time_is_asked_about_before_it_runs(project: Path) -> None:
    """16, weakness 13"""
    user = ScriptedUser.saying("once", "reject")
    async with opened(project, calls(read(), repeat=True), user=user) as trial:
        message = await trial.prompt()
        assert [question.permission for question in user.questions] == ["doom_loop", "doom_loop"]
        asked = user.questions[0]
        assert asked.patterns == ("read",)
        assert asked.message_id == trial.replies[2].info.id
        assert len(trial.requests) == 6, "after a yes it is counted anew"
        assert error_of(message) == ""
        assert [part.state.status for one in trial.replies for part in one.calls] == ["completed"] * 5 + ["error"]


async def test_a_model_that_goes_round_is_stopped_where_nobody_can_be_asked(project: Path) -> None:
    async with opened(project, calls(read(), repeat=True), user=ScriptedUser.saying(*[NOBODY] * 9)) as trial:
        message = await trial.prompt()
        assert error_of(message) == "LimitReachedError"
        assert len(trial.requests) == 5, "two that are run, three that are refused"
        assert nothing_open(*await trial.stored())


async def test_a_model_that_does_something_else_after_a_refusal_goes_on(project: Path) -> None:
    again = [[*[calls(read())] * 3, calls(call("glob", pattern=f"*{number}"))] for number in range(4)]
    async with opened(
        project, *(turn for turns in again for turn in turns), says("Done."), user=ScriptedUser.saying(*[NOBODY] * 9)
    ) as trial:
        message = await trial.prompt()
        assert message.text == "Done."


async def test_a_circle_of_calls_is_noticed_too(project: Path) -> None:
    (project / "b.txt").write_text("b\n")
    script = [calls(read("a.txt")), calls(read("b.txt"))] * 3
    async with opened(project, *script, says("Done.")) as trial:
        await trial.prompt()
        assert [question.permission for question in trial.user.questions] == ["doom_loop"]
        assert len(trial.requests) == 6


async def test_a_circle_is_noticed_whatever_the_calls_say_they_are_for(project: Path) -> None:
    script = [calls(call("bash", command="echo a", description=f"Look for the {time} time")) for time in range(3)]
    async with opened(project, *script, says("Done.")) as trial:
        await trial.prompt()
        assert [question.permission for question in trial.user.questions] == ["doom_loop"]


async def test_calls_of_a_tool_whose_description_is_what_it_does_are_no_circle(project: Path) -> None:
    @tool
    async def note(ctx: ToolContext, description: str) -> str:
        """Write down what is to be done."""
        return description

    script = [calls(call("note", description=f"{number}")) for number in range(3)]
    async with opened(project, *script, says("Done."), tools=[note]) as trial:
        await trial.prompt()
        assert trial.user.questions == []


async def test_three_equal_calls_in_one_reply_keep_the_results_they_have(project: Path) -> None:
    """17"""
    async with opened(project, calls(read(), read(), read())) as trial:
        message = await trial.prompt()
        assert [part.state.status for part in message.calls] == ["completed", "completed", "error"]
        assert error_of(message) == ""
        assert len(trial.requests) == 1


async def test_calls_of_a_reply_cut_by_the_token_limit_are_not_run(project: Path) -> None:
    cut = calls(call("write", filePath="b.txt", content="half"), read(), finish="length")
    async with opened(project, cut, says("I'll write less.")) as trial:
        message = await trial.prompt()
        states = [part.state for part in trial.replies[0].calls]
        assert all(isinstance(state, Failed) and state.kind == "too_large" for state in states)
        assert not (project / "b.txt").exists()
        assert message.text == "I'll write less."


async def test_reasoning_goes_back_word_for_word_with_what_the_provider_gave(project: Path) -> None:
    thinking = calls(read(), reasoning="Trailing blanks matter. \n")
    async with opened(project, thinking, says("Done.")) as trial:
        await trial.prompt()
        reply = next(one for one in trial.requests[1].messages if isinstance(one, AssistantMessage))
        assert Reasoning(text="Trailing blanks matter. \n") in reply.content
        assert reply.model == "scripted/scripted"


async def test_calls_that_a_provider_numbers_anew_in_each_reply_stay_apart(project: Path) -> None:
    again = calls({**read(), "id": "call_0"}, {**read("b.txt"), "id": "call_0"})
    (project / "b.txt").write_text("bee\n")
    async with opened(project, again, again, says("Done.")) as trial:
        await trial.prompt()
        made = [part for one in trial.replies for part in one.calls]
        assert [part.state.status for part in made] == ["completed"] * 4
        assert len({part.call_id for part in made}) == 4
        assert "bee" in outcome(made[1])


async def test_half_a_character_from_the_model_is_kept_and_survives(project: Path) -> None:
    async with opened(project, says("odd \ud83d end")) as trial:
        await trial.prompt()
        assert (await trial.stored())[1].text == "odd \ud83d end"


async def test_a_reply_without_words_leaves_no_empty_part(project: Path) -> None:
    async with opened(project, calls(read(), text="\n"), says("Done.")) as trial:
        await trial.prompt()
        assert kinds(trial.replies[0]) == ["step-start", "tool completed", "step-finish"]
        assert not [part for part in (await trial.stored())[1].parts.values() if isinstance(part, TextPart)]


async def test_two_sessions_of_one_workspace_work_side_by_side(project: Path) -> None:
    meet = [
        call("bash", command=f"touch {one}; until [ -e {two} ]; do sleep 0.01; done", description="Meet")
        for one, two in (("a", "b"), ("b", "a"))
    ]
    script = (calls(meet[0]), calls(meet[1]), says("Done.", repeat=True))
    async with opened(project, *script, config={"sandbox": "off"}) as trial:
        other = trial.workspace.sessions.create()
        async with patience():
            answers = await asyncio.gather(trial.prompt(), other.prompt("Go."))
        assert [message.text for message in answers] == ["Done.", "Done."]
