"""The same client for scripts that do not await."""

import asyncio
import os
from collections.abc import Coroutine, Mapping, Sequence
from typing import Any, Self, TypeVar

from toolwright.client.client import Client
from toolwright.inbox import ReplyKind
from toolwright.messages import Message, SessionInfo
from toolwright.protocols.json_types import Json

T = TypeVar("T")


class SyncClient:
    """One server: `with SyncClient("http://127.0.0.1:4096") as client`. Each method waits for its answer."""

    def __init__(
        self, url: str, *, token: str = "", directory: str = "", environment: Mapping[str, str] = os.environ
    ) -> None:
        self._runner = asyncio.Runner()
        self._client = Client(url, token=token, directory=directory, environment=environment)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._wait(self._client.close())
        self._runner.close()

    def _wait(self, work: Coroutine[Any, Any, T]) -> T:
        return self._runner.run(work)

    def send(self, method: str, path: str, body: Json | None = None, **query: str) -> Any:
        return self._wait(self._client.send(method, path, body, **query))

    def sessions(self, *, search: str = "", limit: int = 100) -> list[SessionInfo]:
        return self._wait(self._client.sessions(search=search, limit=limit))

    def create_session(self, *, title: str = "", agent: str = "") -> SessionInfo:
        return self._wait(self._client.create_session(title=title, agent=agent))

    def session(self, session_id: str) -> SessionInfo:
        return self._wait(self._client.session(session_id))

    def delete_session(self, session_id: str) -> None:
        self._wait(self._client.delete_session(session_id))

    def messages(self, session_id: str, *, limit: int = 0) -> list[Message]:
        return self._wait(self._client.messages(session_id, limit=limit))

    def prompt(self, session_id: str, text: str, **more: Any) -> Message:
        return self._wait(self._client.prompt(session_id, text, **more))

    def abort(self, session_id: str) -> None:
        self._wait(self._client.abort(session_id))

    def revert(self, session_id: str, message_id: str) -> SessionInfo:
        return self._wait(self._client.revert(session_id, message_id))

    def unrevert(self, session_id: str) -> SessionInfo:
        return self._wait(self._client.unrevert(session_id))

    def diff(self, session_id: str) -> list[Json]:
        return self._wait(self._client.diff(session_id))

    def permissions(self) -> list[Json]:
        return self._wait(self._client.permissions())

    def reply(self, request_id: str, reply: ReplyKind, message: str = "") -> None:
        self._wait(self._client.reply(request_id, reply, message))

    def answer(self, request_id: str, answers: Sequence[Sequence[str]]) -> None:
        self._wait(self._client.answer(request_id, answers))
