"""Requests and tokens a minute that a provider gets from the whole fleet."""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import field

from toolwright.errors import UsageError
from toolwright.record import record

WINDOW = 60.0
"""Seconds that a limit speaks of."""


@record(frozen=True, slots=True, kw_only=True)
class Limit:
    """Most that may go to one provider in a minute; None where nothing is set."""

    requests: int | None = None
    tokens: int | None = None

    def __post_init__(self) -> None:
        for name in ("requests", "tokens"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise UsageError(f"A limit of {value} {name} a minute would let nothing through; it begins at 1.")


def parse_limit(text: str) -> tuple[str, Limit]:
    """`PROVIDER=REQUESTS`, `PROVIDER=REQUESTS/TOKENS` or `PROVIDER=/TOKENS`, each for a minute."""
    provider, _, rest = text.partition("=")
    requests, _, tokens = rest.partition("/")
    try:
        limit = Limit(requests=int(requests) if requests else None, tokens=int(tokens) if tokens else None)
    except ValueError:
        limit = Limit()
    if not provider or limit == Limit():
        raise UsageError(f"--limit takes PROVIDER=REQUESTS/TOKENS, each for a minute, not {text!r}.")
    return provider, limit


@record(slots=True)
class AdmittedRequest:
    """A request that was let through."""

    at: float
    tokens: int


@record(slots=True)
class RequestWindow:
    """The requests to one provider in the last minute."""

    limit: Limit
    granted: "deque[AdmittedRequest]" = field(default_factory=deque[AdmittedRequest])

    def wait(self, tokens: int, now: float) -> float:
        """Seconds until a request of so many tokens fits; one that is larger than the limit goes alone."""
        while self.granted and self.granted[0].at + WINDOW <= now:
            self.granted.popleft()
        requests, room = self.limit.requests, self.limit.tokens
        count, used = len(self.granted), sum(grant.tokens for grant in self.granted)
        for grant in (None, *self.granted):
            if grant is not None:
                count, used = count - 1, used - grant.tokens
            few = requests is None or count < requests
            if few and (room is None or used + tokens <= room or count == 0):
                return 0.0 if grant is None else grant.at + WINDOW - now
        return WINDOW

    def grant(self, tokens: int, now: float) -> AdmittedRequest:
        grant = AdmittedRequest(now, tokens)
        self.granted.append(grant)
        return grant


class ProviderLimits:
    """The limits of all providers, for as many as ask; those who ask first go first."""

    def __init__(self, limits: Mapping[str, Limit], clock: Callable[[], float] = time.monotonic) -> None:
        self._windows = {provider: RequestWindow(limit) for provider, limit in limits.items()}
        self._first_come = {provider: asyncio.Lock() for provider in limits}
        self._grants: dict[int, AdmittedRequest] = {}
        self._clock = clock
        self._number = 0

    async def take(self, provider: str, tokens: int) -> int:
        """Return when a request of about so many tokens may be sent: its number, for `settle`."""
        window = self._windows.get(provider)
        if window is None:
            return 0
        async with self._first_come[provider]:
            while (seconds := window.wait(tokens, self._clock())) > 0:  # noqa: ASYNC110 - for time to pass
                await asyncio.sleep(seconds)
            self._number += 1
            self._grants[self._number] = window.grant(tokens, self._clock())
            return self._number

    async def settle(self, number: int, tokens: int) -> None:
        """Note what the request has really taken, so far as it is known."""
        grant = self._grants.pop(number, None)
        if grant is not None and tokens:
            grant.tokens = tokens
