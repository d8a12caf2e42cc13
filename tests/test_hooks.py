"""Hooks by themselves: what a pair of before and after comes to."""

from pathlib import Path
from typing import Any

from tests.contexts import HostedContext
from toolwright.definition import Call, Result, ToolContext
from toolwright.hooks import pair, wrap


def context() -> ToolContext:
    host: Any = None
    return HostedContext(
        session_id="ses_1", message_id="msg_1", call_id="call_1", agent="build", directory=Path("/"), host=host
    )


CALL = Call(id="call_1", tool="echo", arguments={"text": "a"})


async def proceed(call: Call) -> Result:
    return Result(str(call.arguments["text"]))


async def test_no_hooks_leave_the_call_as_it_is() -> None:
    assert await wrap([], context(), proceed)(CALL) == Result("a")


async def test_before_may_change_the_arguments_and_after_the_result() -> None:
    async def before(call: Call, ctx: ToolContext) -> dict[str, Any]:
        return {"text": call.arguments["text"] + "b"}

    async def after(call: Call, result: Result, ctx: ToolContext) -> Result:
        return Result(f"{result.output} after {call.arguments['text']} for {ctx.agent}")

    assert (await wrap([pair(before, after)], context(), proceed)(CALL)).output == "ab after ab for build"
    assert CALL.arguments == {"text": "a"}


async def test_none_from_either_leaves_things_alone() -> None:
    async def before(call: Call, ctx: ToolContext) -> None: ...

    async def after(call: Call, result: Result, ctx: ToolContext) -> None: ...

    assert (await wrap([pair(before, after), pair()], context(), proceed)(CALL)).output == "a"


async def test_the_first_hook_sees_the_work_of_the_later_ones() -> None:
    def adding(letter: str) -> Any:
        async def after(call: Call, result: Result, ctx: ToolContext) -> Result:
            return Result(result.output + letter)

        return pair(after=after)

    assert (await wrap([adding("1"), adding("2")], context(), proceed)(CALL)).output == "a21"


async def test_a_hook_may_answer_in_place_of_the_tool() -> None:
    async def cached(proceed: Any, call: Call, ctx: ToolContext) -> Result:
        return Result("from the cache")

    assert (await wrap([cached], context(), proceed)(CALL)).output == "from the cache"
