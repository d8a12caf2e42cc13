"""Promises of a session that nothing else would notice if they were broken."""

from pathlib import Path

from tests.session.trial import call, calls, error_of, nothing_open, opened, read, says
from toolwright.calls.parts import Completed, Running, Span, ToolPart
from toolwright.messages import Assistant, Message, new_part
from toolwright.text.ids import now


def _leave_open(message: Message) -> ToolPart:
    """A call as it looks while it runs."""
    assert isinstance(message.info, Assistant)
    keys = new_part(message.info.session_id, message.info.id)
    return ToolPart(**keys, call_id="call_lost", tool="read", state=Running(input={}, time=Span(start=now())))


async def test_a_turn_that_fails_closes_what_an_earlier_reply_has_left_open(project: Path) -> None:
    broken = says("", error={"kind": "bad_request", "message": "Too odd"})
    async with opened(project, says("One."), broken) as trial:
        await trial.prompt("First.")
        trial.session.conversation.put(_leave_open(trial.replies[0]))
        assert error_of(await trial.prompt("Second.")) == "APIError"
        assert nothing_open(*await trial.stored())


async def test_results_of_the_last_two_prompts_are_never_cleared(project: Path) -> None:
    names = [f"{number}.txt" for number in range(4)]
    script = [turn for _ in range(3) for turn in (calls(*map(read, names)), says("Seen."))]
    async with opened(project, *script, config={"permission": {"doom_loop": "allow"}}) as trial:
        for name in names:
            (project / name).write_text("".join(f"{number:05d} {'x' * 40}\n" for number in range(1900)))
        for number in range(3):
            await trial.prompt(f"Prompt {number}.")
        states = [part.state for reply in trial.replies for part in reply.calls]
        cleared = [isinstance(state, Completed) and state.time.compacted is not None for state in states]
        assert any(cleared[:4])
        assert not any(cleared[4:])


async def test_a_circle_of_four_calls_is_asked_about(project: Path) -> None:
    four = [calls(call("glob", pattern=pattern)) for pattern in ("*.a", "*.b", "*.c", "*.d")]
    async with opened(project, *(four * 3), says("Done.")) as trial:
        await trial.prompt()
        assert "doom_loop" in [question.permission for question in trial.user.questions]
