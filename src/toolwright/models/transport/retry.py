"""Asking a model again after trouble that passes: a few times, with growing waits, never without end."""

import asyncio
import logging
import random
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing

from toolwright.models.model import Event, Model, ModelError, ModelMessage, ReplySettings, ToolSpec, Trouble
from toolwright.record import record

log = logging.getLogger(__name__)


@record(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """The number of retries and the waits between them, in seconds."""

    retries: int = 5
    first_wait: float = 2.0
    """Doubled each time."""
    longest_wait: float = 30.0
    jitter: float = 0.25
    """The part of a wait that may be added at random, so that many sessions do not come back at once."""
    longest_retry_after: float = 120.0
    """A provider that asks for more patience than this is not asked again: the user should know at once."""

    def wait(self, attempt: int, error: ModelError, chance: float) -> float | None:
        """Seconds before the next attempt, the first being 1; None to give up. `chance` is between 0 and 1."""
        if not error.retryable or attempt > self.retries:
            return None
        if error.retry_after is not None:
            return error.retry_after if error.retry_after <= self.longest_retry_after else None
        grown = min(self.longest_wait, self.first_wait * 2.0 ** (attempt - 1))
        return grown * (1 + self.jitter * chance)


@record(frozen=True, slots=True)
class Retry:
    """The attempt failed and another follows after `wait` seconds: forget what the failed one has sent.

    A consumer that can no longer forget, because it has acted on a call, leaves the stream here and raises `error`.
    """

    attempt: int
    wait: float
    error: ModelError
    attempts: int = 0
    """How many there are at most."""

    @property
    def reason(self) -> str:
        """Why the attempt failed, in a few words."""
        if self.error.status == 429:
            return "rate limit"
        return _REASONS.get(self.error.kind, "the provider failed")

    @property
    def told(self) -> str:
        """Return the wait in words, and for which attempt."""
        asked = ", as the provider asks" if self.error.retry_after is not None else ""
        when = f"waiting {_spoken(self.wait)}{asked}" if self.wait else "at once"
        return f"{when}; attempt {self.attempt + 1} of {self.attempts}"


_REASONS: dict[Trouble, str] = {
    "overload": "the provider is overloaded",
    "network": "no connection",
    "cut": "the reply broke off",
}
Sleep = Callable[[float], Awaitable[None]]


async def stream_with_retries(
    model: Model,
    messages: Sequence[ModelMessage],
    tools: Sequence[ToolSpec],
    settings: Callable[[], ReplySettings],
    *,
    policy: RetryPolicy | None = None,
    sleep: Sleep = asyncio.sleep,
) -> AsyncGenerator[Event | Retry, None]:
    """The reply of the first attempt that succeeds, with a `Retry` before each wait.

    An attempt may fail after it has sent something: the whole reply is then asked for again, since no provider
    can go on in the middle. The settings are asked for anew each time: another model may have taken over, which
    wants others. Raises the last error when the policy gives up.
    """
    policy = policy or RetryPolicy()
    attempt = 0
    while True:
        attempt += 1
        name, began = model.info.full_name, time.monotonic()
        log.debug("request to %s, attempt %d: %d messages, %d tools", name, attempt, len(messages), len(tools))
        try:
            async with aclosing(model.stream(messages, tools, settings())) as events:
                async for event in events:
                    yield event
            log.debug("reply of %s after %.0f ms", name, (time.monotonic() - began) * 1000)
            return
        except ModelError as error:
            wait = policy.wait(attempt, error, random.random())  # noqa: S311 - spreads load, guards nothing
            then = "no further attempt" if wait is None else f"next attempt in {wait:.1f} s"
            log.debug("request to %s failed: %s (%s); %s", name, error.kind, error.status or "no status", then)
            if wait is None:
                raise _explained(error, policy) from error
            trouble = error
        yield Retry(attempt, wait, trouble, policy.retries + 1)
        await sleep(wait)


def _explained(error: ModelError, policy: RetryPolicy) -> ModelError:
    """The same error, with a word on a wait that is too long to be made here."""
    asked = error.retry_after
    if asked is None or not error.retryable or asked <= policy.longest_retry_after:
        return error
    return ModelError(
        f"{error} The provider asks to wait {_spoken(asked)}, longer than is waited here.",
        error.kind,
        status=error.status,
        retry_after=asked,
        retryable=error.retryable,
        said=error.said,
    )


def _spoken(seconds: float) -> str:
    if seconds < 10:
        return f"{seconds:.2g} s"
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} minutes"
