"""A model with hooks around its requests."""

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from dataclasses import field

from toolwright.models.info import ModelInfo
from toolwright.models.model import Event, Model, ModelMessage, ReplySettings, ToolSpec
from toolwright.record import record


@record(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """One request to a model, as it is about to be sent."""

    info: ModelInfo
    messages: Sequence[ModelMessage]
    tools: Sequence[ToolSpec] = field(default=())
    settings: ReplySettings = field(default_factory=ReplySettings)
    session_id: str = ""


Stream = Callable[[ModelRequest], AsyncIterator[Event]]
RequestHook = Callable[[Stream, ModelRequest], AsyncIterator[Event]]
"""An async generator around one request: yields the events of `proceed(request)`, or others."""


@record(frozen=True, slots=True)
class HookedModel:
    """Implements Model: each request passes the hooks, the first outermost."""

    model: Model
    hooks: Sequence[RequestHook]
    session_id: str = ""

    @property
    def info(self) -> ModelInfo:
        return self.model.info

    async def stream(
        self, messages: Sequence[ModelMessage], tools: Sequence[ToolSpec], settings: ReplySettings
    ) -> AsyncGenerator[Event, None]:
        proceed: Stream = self._send
        for hook in reversed(self.hooks):
            proceed = _around(hook, proceed)
        request = ModelRequest(
            info=self.info, messages=messages, tools=tools, settings=settings, session_id=self.session_id
        )
        events = proceed(request)
        try:
            async for event in events:
                yield event
        finally:
            if isinstance(events, AsyncGenerator):
                await events.aclose()

    def _send(self, request: ModelRequest) -> AsyncIterator[Event]:
        return self.model.stream(request.messages, request.tools, request.settings)

    async def close(self) -> None:
        await self.model.close()


def _around(hook: RequestHook, proceed: Stream) -> Stream:
    return lambda request: hook(proceed, request)
