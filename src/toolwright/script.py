"""One prompt, one result, for scripts that are not async."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar, overload

from toolwright.errors import UsageError
from toolwright.workspace import open_workspace

if TYPE_CHECKING:
    from typing import Unpack

    from typing_extensions import TypeForm

    from toolwright.definition import Client, Tool
    from toolwright.extension import Extension, Hook
    from toolwright.inbox import Answerer
    from toolwright.models.model import Model
    from toolwright.permission.rules import Rule
    from toolwright.session.agent import Agent
    from toolwright.session.budget import Budget
    from toolwright.session.prompt import Until
    from toolwright.session.result import TurnResult
    from toolwright.session.store import Store

T = TypeVar("T")


class ScriptOptions(TypedDict, total=False):
    """The keywords of `run_sync`: those of `open_workspace` and of `prompt`."""

    rules: "Sequence[Rule] | Mapping[str, Any] | str"
    config: Mapping[str, Any] | None
    model: "str | Model"
    agents: "Sequence[Agent[Any]]"
    tools: "Sequence[Tool | Callable[..., Any]] | Sequence[str]"
    """Functions and Tools to add, or the ids of the only tools that are offered."""
    extensions: "Sequence[Extension]"
    deps: object
    answer: "Answerer | None"
    budget: "Budget | Mapping[str, Any] | None"
    hooks: "Sequence[Hook | Callable[..., Any]]"
    keep: bool
    store: "Store | None"
    trust: bool
    client: "Client"
    environment: Mapping[str, str] | None
    pure: bool
    question_timeout: float | None
    files: Sequence[str | Path]
    system: str
    variant: str
    retries: int
    validate: "Callable[[Any], object] | None"
    until: "Until | None"


@overload
def run_sync(
    text: str, path: str | Path = ".", *, output: None = None, agent: "Agent[T]", **more: "Unpack[ScriptOptions]"
) -> "TurnResult[T]": ...
@overload
def run_sync(
    text: str, path: str | Path = ".", *, output: None = None, agent: str, **more: "Unpack[ScriptOptions]"
) -> "TurnResult[Any]": ...
@overload
def run_sync(
    text: str, path: str | Path = ".", *, output: None = None, **more: "Unpack[ScriptOptions]"
) -> "TurnResult[None]": ...
@overload
def run_sync(
    text: str,
    path: str | Path = ".",
    *,
    output: type[T],
    agent: "str | Agent[Any]" = "",
    **more: "Unpack[ScriptOptions]",
) -> "TurnResult[T]": ...
@overload
def run_sync(
    text: str,
    path: str | Path = ".",
    *,
    output: "TypeForm[T]",
    agent: "str | Agent[Any]" = "",
    **more: "Unpack[ScriptOptions]",
) -> "TurnResult[T]": ...
@overload
def run_sync(
    text: str,
    path: str | Path = ".",
    *,
    output: Mapping[str, Any],
    agent: "str | Agent[Any]" = "",
    **more: "Unpack[ScriptOptions]",
) -> "TurnResult[Any]": ...


def run_sync(text: str, path: str | Path = ".", *, output: Any = None, **more: Any) -> "TurnResult[Any]":
    """Answer one prompt in a folder, for scripts. Takes what `open_workspace` and `prompt` take.

    `tools` are functions and Tools to add, or the ids of the only tools that are offered.
    """
    if _is_async():
        raise UsageError("run_sync cannot run inside async code. Write `await workspace.prompt(...)` there.")
    names = ("files", "system", "variant", "retries", "validate", "until")
    prompting: dict[str, Any] = {name: more.pop(name) for name in names if name in more}
    tools = more.get("tools")
    if tools and all(isinstance(one, str) for one in tools):
        prompting["tools"] = more.pop("tools")

    async def run() -> "TurnResult[Any]":
        async with open_workspace(path, **more) as workspace, workspace.session() as session:
            result: TurnResult[Any] = await session.prompt(text, output=output, **prompting)
            return result

    return asyncio.run(run())


def _is_async() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
