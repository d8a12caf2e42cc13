"""Taking prompts: the methods and types that a session, a workspace and a session on a server have in common."""

from collections.abc import AsyncGenerator, Mapping
from typing import TYPE_CHECKING, Any, TypeVar, overload

if TYPE_CHECKING:
    from typing import Unpack

    from typing_extensions import TypeForm

    from toolwright.session.agent import Agent
    from toolwright.session.prompt import AskedOptions, PromptOptions
    from toolwright.session.result import TurnResult
    from toolwright.session.turn_events import TurnEvent

T = TypeVar("T")


class Prompting:
    """Takes prompts, and gives what comes of them typed by what was asked for."""

    @overload
    async def prompt(
        self, text: str, *, output: None = None, agent: "Agent[T]", **options: "Unpack[PromptOptions]"
    ) -> "TurnResult[T]": ...
    @overload
    async def prompt(
        self, text: str, *, output: None = None, agent: str, **options: "Unpack[PromptOptions]"
    ) -> "TurnResult[Any]": ...
    @overload
    async def prompt(
        self, text: str, *, output: None = None, **options: "Unpack[PromptOptions]"
    ) -> "TurnResult[None]": ...
    @overload
    async def prompt(
        self, text: str, *, output: type[T], agent: "str | Agent[Any]" = "", **options: "Unpack[PromptOptions]"
    ) -> "TurnResult[T]": ...
    @overload
    async def prompt(
        self, text: str, *, output: "TypeForm[T]", agent: "str | Agent[Any]" = "", **options: "Unpack[PromptOptions]"
    ) -> "TurnResult[T]": ...
    @overload
    async def prompt(
        self,
        text: str,
        *,
        output: Mapping[str, Any],
        agent: "str | Agent[Any]" = "",
        **options: "Unpack[PromptOptions]",
    ) -> "TurnResult[Any]": ...

    async def prompt(
        self, text: str, *, output: Any = None, agent: "str | Agent[Any]" = "", **options: "Unpack[PromptOptions]"
    ) -> "TurnResult[Any]":
        """Answer one prompt. What goes wrong on the way is in the result; only bad input raises.

        `files` go along, `system` is told to the model for this prompt alone, `tools` are the only ones offered,
        `budget` is what the turn may take, and `output` is the type of the answer: a TypedDict, a dataclass, a pydantic
        model, a list or union of them, or a JSON Schema; `validate` checks it, and what does not fit is asked for again
        `retries` times. `until` is what must hold before the work counts as done: a command, a function of the
        project's folder, or several; the result's `evidence` says whether it does. `model`, `variant` and `agent` say
        who answers, if not whoever did last; an `Agent` with an `output` types the result.
        """
        return await self._prompted(text, output, _asked(options, agent))

    @overload
    def stream(
        self, text: str, *, output: None = None, agent: "Agent[T]", **options: "Unpack[PromptOptions]"
    ) -> "AsyncGenerator[TurnEvent[T], None]": ...
    @overload
    def stream(
        self, text: str, *, output: None = None, agent: str, **options: "Unpack[PromptOptions]"
    ) -> "AsyncGenerator[TurnEvent[Any], None]": ...
    @overload
    def stream(
        self, text: str, *, output: None = None, **options: "Unpack[PromptOptions]"
    ) -> "AsyncGenerator[TurnEvent[None], None]": ...
    @overload
    def stream(
        self, text: str, *, output: type[T], agent: "str | Agent[Any]" = "", **options: "Unpack[PromptOptions]"
    ) -> "AsyncGenerator[TurnEvent[T], None]": ...
    @overload
    def stream(
        self, text: str, *, output: "TypeForm[T]", agent: "str | Agent[Any]" = "", **options: "Unpack[PromptOptions]"
    ) -> "AsyncGenerator[TurnEvent[T], None]": ...
    @overload
    def stream(
        self,
        text: str,
        *,
        output: Mapping[str, Any],
        agent: "str | Agent[Any]" = "",
        **options: "Unpack[PromptOptions]",
    ) -> "AsyncGenerator[TurnEvent[Any], None]": ...

    def stream(
        self, text: str, *, output: Any = None, agent: "str | Agent[Any]" = "", **options: "Unpack[PromptOptions]"
    ) -> "AsyncGenerator[TurnEvent[Any], None]":
        """Like `prompt`, telling what happens as it happens; the last event is `Finished` and has the `result`.

        A stream that is left early stops its turn; the session stays usable.
        """
        return self._streamed(text, output, _asked(options, agent))

    async def _prompted(self, text: str, output: Any, options: "AskedOptions") -> "TurnResult[Any]":
        raise NotImplementedError

    def _streamed(self, text: str, output: Any, options: "AskedOptions") -> "AsyncGenerator[TurnEvent[Any], None]":
        raise NotImplementedError


def _asked(options: "PromptOptions", agent: "str | Agent[Any]") -> "AskedOptions":
    return {**options, "agent": agent}
