"""Prompts from Python: the keyword arguments made into a prompt, and what the turn came to into one result."""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolwright.errors import UsageError
from toolwright.events import Event
from toolwright.ids import new_id
from toolwright.messages import Message
from toolwright.models.model import Model
from toolwright.session.budget import Budget
from toolwright.session.prompt import Attached, Prompt
from toolwright.session.result import TurnError, TurnFinished, TurnResult, turn_result

if TYPE_CHECKING:
    from toolwright.session.session import Session


async def ask(
    session: "Session",
    text: str,
    *,
    files: Sequence[str | Path] = (),
    system: str = "",
    model: str | Model | None = None,
    budget: Budget | Mapping[str, Any] | None = None,
    tools: Sequence[str] | None = None,
    output: Any = None,
    agent: str = "",
    variant: str = "",
) -> TurnResult:
    """Answer one prompt; with `output`, once more if the answer does not fit the type."""
    prompt = Prompt(
        text=text,
        files=tuple(attached_file(session.home.directory, file) for file in files),
        agent=agent,
        model=model or "",
        system=system,
        variant=variant,
        only_tools=None if tools is None else _known(session, tools),
        budget=_budget(budget),
        message_id=new_id("msg"),
    )
    if output is None:
        return await _asked(session, prompt)
    return await _asked_for_output(session, prompt, output)


async def go_on(
    session: "Session", *, model: str | Model | None = None, budget: Budget | Mapping[str, Any] | None = None
) -> TurnResult:
    """Answer the newest prompt from the last finished step on, as it was asked."""
    user = session.conversation.last_user()
    if user is None:
        raise UsageError(f"{session.id} has no prompt to go on with.")
    prompt = Prompt(
        text="",
        agent=user.agent,
        model=model or "",
        system=user.system or "",
        tools=user.tools or {},
        variant=user.variant or "",
        budget=_budget(budget),
    )
    end = await session.turns.go_on(prompt)
    return turn_result(session.id, end, await _since(session, user.id))


async def stream(session: "Session", text: str, **more: Any) -> AsyncGenerator[Event, None]:
    """What happens while a prompt is answered; last the result. Left early, it stops the turn."""
    following = session.home.bus.follow(lambda event: _belongs(event, session.id))
    task = asyncio.create_task(ask(session, text, **more))
    task.add_done_callback(lambda _: following.close())
    try:
        async for event in following:
            yield event
        yield TurnFinished(session_id=session.id, result=await task)
    finally:
        following.close()
        if not task.done():
            task.cancel()
            await asyncio.wait([task])


async def _asked(session: "Session", prompt: Prompt) -> TurnResult:
    end = await session.turns.answer(prompt)
    return turn_result(session.id, end, await _since(session, prompt.message_id))


async def _asked_for_output(session: "Session", prompt: Prompt, wanted: Any) -> TurnResult:
    from toolwright.structured import output_of

    try:
        form = output_of(wanted)
    except TypeError as error:
        raise UsageError(f"output= cannot be {wanted!r}: {error}.") from error
    told = f"{prompt.system}\n\n{form.describe()}".strip()
    first = await _asked(session, replace(prompt, system=told))
    if first.error is not None:
        return first
    parsed = form.parse(first.text)
    if not parsed.problems:
        return replace(first, output=parsed.value)
    again = Prompt(
        text=form.repair(parsed.problems),
        system=told,
        agent=prompt.agent,
        model=prompt.model,
        budget=prompt.budget,
        only_tools=(),
        mentions=False,
        message_id=new_id("msg"),
    )
    second = await _asked(session, again)
    both = _joined(first, second)
    if second.error is not None:
        return both
    parsed = form.parse(second.text)
    if not parsed.problems:
        return replace(both, output=parsed.value)
    listed = "; ".join(map(str, parsed.problems[:5]))
    return replace(
        both, text="", error=TurnError(f"The answer has not the form that was asked for: {listed}.", "OutputError")
    )


def _joined(first: TurnResult, second: TurnResult) -> TurnResult:
    """Two turns counted as one."""
    tokens = replace(
        first.tokens,
        input=first.tokens.input + second.tokens.input,
        output=first.tokens.output + second.tokens.output,
        total=first.tokens.total + second.tokens.total,
    )
    return replace(
        second,
        calls=(*first.calls, *second.calls),
        changes=first.changes,
        refused=(*first.refused, *second.refused),
        tokens=tokens,
        cost=first.cost + second.cost,
        steps=first.steps + second.steps,
    )


async def _since(session: "Session", message_id: str) -> list[Message]:
    """The messages of a turn: its prompt and all that came after it."""
    messages = await session.conversation.all_messages()
    start = next((index for index, one in enumerate(messages) if one.info.id == message_id), len(messages))
    return messages[start:]


def attached_file(directory: Path, file: str | Path) -> Attached:
    """A file to send along; one that is not there is the caller's mistake, told before anything is sent."""
    name = str(file)
    if "://" in name or name.startswith("data:"):
        return Attached(url=name)
    path = directory / Path(name).expanduser()
    if not path.exists():
        raise UsageError(f"There is no file {name!r} to send along (looked for {path}).")
    return Attached(url=path.as_uri(), filename=Path(name).name)


def _known(session: "Session", tools: Sequence[str]) -> tuple[str, ...]:
    registry = session.home.caller.registry
    for name in tools:
        if name not in registry:
            raise UsageError(f"There is no tool {name!r} to offer. There are: {', '.join(registry.ids())}.")
    return tuple(tools)


def _budget(budget: Budget | Mapping[str, Any] | None) -> Budget | None:
    if budget is None or isinstance(budget, Budget):
        return budget
    try:
        return Budget(**budget)
    except TypeError as error:
        raise UsageError(
            f"budget={budget!r:.60} is no budget: give Budget(steps=, tokens=, cost=, seconds=)."
        ) from error


def _belongs(event: Event, session_id: str) -> bool:
    """Whether an event is about this session, or a question of one below it."""
    record = getattr(event, "part", None) or getattr(event, "info", None) or event
    owner = getattr(record, "session_id", None) or getattr(record, "id", None)
    return owner == session_id or session_id in (getattr(event, "callers", None) or ())
