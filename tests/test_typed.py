"""The types that a program gets without a cast. Both type checkers read this file; what it runs is nothing."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Any, Literal, TypedDict, assert_type

from toolwright import (
    Agent,
    Finished,
    Message,
    Question,
    Reply,
    Result,
    TurnEvent,
    TurnResult,
    Workspace,
    run_sync,
)
from toolwright.client import ClientSession


@dataclass
class City:
    name: str


@dataclass
class Nowhere:
    reason: str


class Weather(TypedDict):
    degrees: int


async def prompts_have_the_type_that_is_asked_for(workspace: Workspace, remote: ClientSession) -> None:
    assert_type((await workspace.prompt("x")).output, None)
    for taker in (workspace, remote, workspace.session()):
        assert_type(await taker.prompt("x"), TurnResult[None])
        assert_type((await taker.prompt("x", output=City)).output, City)
        assert_type((await taker.prompt("x", output=Weather)).output, Weather)
        assert_type((await taker.prompt("x", output=list[City])).output, list[City])
        assert_type((await taker.prompt("x", output=City | Nowhere)).output, City | Nowhere)
        assert_type((await taker.prompt("x", output={"type": "object"})).output, Any)


async def agents_have_the_type_of_their_answers(workspace: Workspace) -> None:
    plain, typed = Agent(name="plain"), Agent(name="typed", output=City)
    assert_type(plain, Agent[None])
    assert_type(typed, Agent[City])
    assert_type(Agent(name="either", output=City | Nowhere), Agent[City | Nowhere])
    assert_type(Agent(name="any", output={"type": "object"}), Agent[Any])
    assert_type((await workspace.prompt("x", agent=plain)).output, None)
    assert_type((await workspace.prompt("x", agent=typed)).output, City)
    assert_type((await workspace.prompt("x", agent=typed, output=Weather)).output, Weather)
    assert_type(workspace.stream("x", agent=typed), AsyncGenerator[TurnEvent[City], None])
    assert_type(run_sync("x", agent=typed).output, City)


async def streams_as_well(workspace: Workspace) -> None:
    assert_type(workspace.stream("x", output=City), AsyncGenerator[TurnEvent[City], None])
    async for event in workspace.session().stream("x", output=City):
        if isinstance(event, Finished):
            assert_type(event.result.output, City)


async def what_is_used_beside_prompts_has_its_types(workspace: Workspace, remote: ClientSession) -> None:
    async with workspace.session(messages=[{"role": "user", "content": "x"}]) as session:
        assert_type(session.messages, list[Message])
        assert_type(session.waiting, list[Question])
        assert_type(await session.resume("per_1", Reply(kind="once", arguments={})), TurnResult[None])
    assert_type((await workspace.decide("bash", command="ls")).action, Literal["allow", "ask", "deny"])
    assert_type((await remote.decide("bash", command="ls")).action, Literal["allow", "ask", "deny"])
    assert_type((await workspace.run("ls")).exit_code, int | None)
    assert_type(await remote.call("read", filePath="a.txt"), Result)
    assert_type(await workspace.waiting(), list[Question])


def scripts_as_well() -> None:
    assert_type(run_sync("x", output=City).output, City)
    assert_type(run_sync("x", keep=True, files=["a.txt"]).text, str)


def test_the_types_are_those_that_are_asserted() -> None:
    """Shown by mypy for all tests, and by the other type checker in test_examples.py."""
    assert callable(prompts_have_the_type_that_is_asked_for)
