"""Several models the user has named, in order: when one is down, out of quota or overloaded, the next goes on."""

import logging
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from toolwright.models.info import ModelInfo
from toolwright.models.model import Event, Model, ModelError, ModelMessage, ReplySettings, ToolSpec

log = logging.getLogger("toolwright.models")

PATIENCE = 2
"""Failures in a row, of the kind that passes, before the next model is asked."""
AWAY = 300.0
"""Seconds after which the first model is tried again."""
_DOWN = frozenset({"overload", "quota", "network", "cut", "not_found"})


class FallbackModel:
    """Answers with the first of its models that works; `info` is that of the one in use."""

    def __init__(self, models: Sequence[Model]) -> None:
        self._models = tuple(models)
        self._place = 0
        self._failures = 0
        self._since = 0.0

    @property
    def info(self) -> ModelInfo:
        return self._models[self._place].info

    async def stream(
        self, messages: Sequence[ModelMessage], tools: Sequence[ToolSpec], settings: ReplySettings
    ) -> AsyncGenerator[Event, None]:
        """The reply of the model in use. A failure that makes it change is raised as one that passes."""
        if self._place and time.monotonic() - self._since > AWAY:
            self._place = 0
        try:
            async with aclosing(self._models[self._place].stream(messages, tools, settings)) as events:
                async for event in events:
                    yield event
            self._failures = 0
        except ModelError as error:
            raise self._moved_on(error) from error

    async def close(self) -> None:
        for model in self._models:
            await model.close()

    def _moved_on(self, error: ModelError) -> ModelError:
        """The error as it is, or, where it is time for the next model, one that says so and asks again at once."""
        self._failures += 1
        patient = error.retryable and self._failures < PATIENCE and (error.retry_after or 0.0) <= AWAY
        if error.kind not in _DOWN or patient or self._place + 1 == len(self._models):
            return error
        self._place, self._failures, self._since = self._place + 1, 0, time.monotonic()
        log.warning("%s Going on with %s.", error, self.info.full_name)
        return ModelError(
            f"{error} Going on with {self.info.full_name}.",
            error.kind,
            status=error.status,
            retry_after=0.0,
            retryable=True,
        )
