"""A context for what is tested below a session: whatever it is asked for, it asks a host of the test's own."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from toolwright.calls.request import Request
from toolwright.definition import Action, Result, ToolContext
from toolwright.protocols.json_types import Json

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class HostedContext(ToolContext):
    """Implements ToolContext by an object with the few methods a test needs."""

    host: Any

    async def ask_all(self, *requests: Request) -> None:
        await self.host.ask(requests)

    def check(self, *requests: Request) -> None:
        self.host.check(requests)

    def decide(self, permission: str, pattern: str) -> Action:
        action: Action = self.host.decide(permission, pattern)
        return action

    def hides(self, permission: str) -> bool:
        return bool(self.host.hides(permission))

    def rules_about(self, permission: str) -> tuple[tuple[str, str, Action], ...]:
        return tuple(self.host.rules_about(permission))

    def asked_by_user(self, permission: str) -> tuple[str, ...]:
        return tuple(self.host.asked_by_user(permission))

    def metadata(self, title: str | None = None, metadata: Json | None = None) -> None:
        self.host.progress(title, metadata or {})

    async def call(self, tool: str, arguments: Json) -> Result:
        result: Result = await self.host.call(tool, arguments)
        return result

    def use(self, kind: type[T]) -> T:
        service: T = self.host.use(kind)
        return service

    @property
    def offered(self) -> Sequence[str]:
        offered: Sequence[str] = self.host.offered
        return offered
