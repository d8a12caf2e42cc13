"""Prompts from Python: what a program says made into one record, and what the turn came to into another."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolwright.errors import UsageError
from toolwright.events import Event
from toolwright.inbox import Question
from toolwright.messages import Message
from toolwright.models.model import Model
from toolwright.proof.goal import goal_of
from toolwright.session.budget import Budget, Spending, budget_of
from toolwright.session.input_checks import check_agent_given, check_model, check_options, check_prompt
from toolwright.session.prompt import AskedOptions, Attached, Prompt
from toolwright.session.result import TurnEnd, TurnResult, turn_result
from toolwright.text.ids import new_id

if TYPE_CHECKING:
    from toolwright.session.session import Session
    from toolwright.session.turn_events import TurnEvent
    from toolwright.session.turns.turns import Steps
    from toolwright.structured import Output


def prompt_of(session: "Session", text: object, options: AskedOptions, *, output: Any = None) -> Prompt:
    """The prompt that a program gives. UsageError for what cannot be meant."""
    check_options(options)
    files, tools, model = options.get("files", ()), options.get("tools"), options.get("model")
    words = {name: options.get(name, "") for name in ("system", "variant")}
    check_prompt(text, files, tools, model, **words)
    agent = options.get("agent", "")
    check_agent_given(agent)
    return Prompt(
        text=str(text),
        files=tuple(attached_file(session.home.directory, file) for file in files),
        agent=session.home.agent_named(agent) if agent else "",
        model=model or "",
        system=options.get("system", ""),
        variant=options.get("variant", ""),
        only_tools=None if tools is None else _known(session, tools),
        budget=budget_of(options.get("budget")),
        message_id=new_id("msg"),
        output=_wanted(output, options),
        until=goal_of(options["until"]) if "until" in options else None,
    )


def _wanted(output: Any, options: AskedOptions) -> "Output | None":
    if output is None and "retries" not in options and "validate" not in options:
        return None
    from toolwright.session.typed_answer import wanted_output

    return wanted_output(output, options)


async def answered(session: "Session", prompt: Prompt) -> TurnResult:
    """Answer a prompt that has an id of its own, and tell what the turn came to."""
    if prompt.until is not None:
        from toolwright.session.goals.goal_loop import answered_until

        goal, prompt = prompt.until, replace(prompt, until=None)
        return await answered_until(session, goal, prompt, lambda one: answered(session, one))
    if prompt.output is not None:
        prompt = replace(prompt, system=f"{prompt.system}\n\n{prompt.output.describe()}".strip())
    first = await _answered(session, prompt)
    # Whoever it was handed over to has answered.
    last = session.home.agents.by_name.get(session.agent)
    output = prompt.output or (last.output if last else None)
    if output is None:
        return first
    from toolwright.session.typed_answer import answered_in_form

    again = replace(prompt, agent=session.agent)
    return await answered_in_form(output, first, lambda text: _again(session, again, text))


async def reached(session: "Session", prompt: Prompt) -> TurnEnd:
    """Work on a prompt until its goal is reached or given up, and return how the last turn of it ended."""
    result = await answered(session, prompt)
    last = next(one for one in reversed(session.conversation.messages) if one.info.id == result.message_id)
    return TurnEnd(message=last, spending=Spending())


async def _answered(session: "Session", prompt: Prompt) -> TurnResult:
    end = await session.turns.answer(prompt)
    return turn_result(session.id, end, await _since(session, prompt.message_id))


async def go_on(
    session: "Session",
    *,
    model: str | Model | None = None,
    budget: Budget | Mapping[str, Any] | None = None,
    steps: "Steps | None" = None,
) -> TurnResult:
    """Answer the newest prompt from the last finished step on, as it was asked."""
    user = session.conversation.last_user()
    if user is None:
        raise UsageError(f"{session.id} has no prompt to go on with.")
    check_model(model)
    prompt = Prompt(
        text="",
        agent=user.agent,
        model=model or "",
        tools=user.tools or {},
        budget=budget_of(budget),
    )
    end = await session.turns.go_on(prompt, steps)
    return turn_result(session.id, end, await _since(session, user.id))


def stream(session: "Session", prompt: Prompt) -> "AsyncGenerator[TurnEvent[Any], None]":
    """Yield what happens while a prompt is answered; last the result. Left early, it stops the turn."""
    from toolwright.session.turns.stream import TurnReader, turn_events

    def asked(event: Event) -> Question | None:
        return session.home.gate.inbox.question(str(getattr(event, "id", "")))

    return turn_events(session.home.bus, TurnReader(session.id, asked), lambda: answered(session, prompt))


async def _again(session: "Session", prompt: Prompt, text: str) -> TurnResult:
    """The answer to what the model is told of its last one: the same prompt, without tools."""
    again = replace(prompt, text=text, files=(), only_tools=(), mentions=False, verbatim=True, message_id=new_id("msg"))
    return await _answered(session, replace(again, command=None))


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
