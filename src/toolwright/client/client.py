"""The client for programs that await."""

import json
import os
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, Self

import httpx2

from toolwright.client.calls import ServerAddress, answer_of, message_of, prompt_body, session_of
from toolwright.inbox import Question, Reply, ReplyKind
from toolwright.jsontypes import Json
from toolwright.messages import Message, SessionInfo
from toolwright.sse import EventReader


class Client:
    """One server: `async with Client("http://127.0.0.1:4096") as client`.

    Every method is one request. What has no method of its own is reached with `send`.
    """

    def __init__(
        self,
        url: str,
        *,
        token: str = "",
        directory: str = "",
        environment: Mapping[str, str] = os.environ,
    ) -> None:
        address = ServerAddress.of(url, token=token, directory=directory, environment=environment)
        # A turn may take hours; the server sends blanks meanwhile.
        self._http = httpx2.AsyncClient(
            base_url=address.url, headers=dict(address.headers), timeout=httpx2.Timeout(10, read=None), trust_env=False
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        await self._http.aclose()

    async def send(self, method: str, path: str, body: Json | None = None, **query: str) -> Any:
        """Any request of the contract; its answer as JSON, or ServerError."""
        answer = await self._http.request(method, path, params=query or None, json=body)
        return answer_of(answer.status_code, answer.content)

    async def events(self, *, deltas: bool = False) -> AsyncIterator[Json]:
        """What happens from now on, as `{type, properties}`; texts that grow in pieces if `deltas` are wanted."""
        reader = EventReader()
        async with self._http.stream("GET", "/event", params={"deltas": "1"} if deltas else None) as answer:
            if answer.status_code >= 400:
                answer_of(answer.status_code, await answer.aread())
            async for chunk in answer.aiter_bytes():
                for event in reader.feed(chunk):
                    yield json.loads(event.data)

    # Sessions.

    async def sessions(self, *, search: str = "", limit: int = 100) -> list[SessionInfo]:
        found = await self.send("GET", "/session", search=search, limit=str(limit))
        return [session_of(one) for one in found]

    async def create_session(self, *, title: str = "", agent: str = "") -> SessionInfo:
        body = {key: value for key, value in {"title": title, "agent": agent}.items() if value}
        return session_of(await self.send("POST", "/session", body))

    async def session(self, session_id: str) -> SessionInfo:
        return session_of(await self.send("GET", f"/session/{session_id}"))

    async def delete_session(self, session_id: str) -> None:
        await self.send("DELETE", f"/session/{session_id}")

    async def messages(self, session_id: str, *, limit: int = 0) -> list[Message]:
        query = {"limit": str(limit)} if limit else {}
        return [message_of(one) for one in await self.send("GET", f"/session/{session_id}/message", None, **query)]

    async def prompt(
        self,
        session_id: str,
        text: str,
        *,
        files: Sequence[str] = (),
        agent: str = "",
        model: str = "",
        system: str = "",
        variant: str = "",
    ) -> Message:
        """Answer a prompt; returns when the turn has ended."""
        body = prompt_body(text, files=files, agent=agent, model=model, system=system, variant=variant)
        return message_of(await self.send("POST", f"/session/{session_id}/message", body))

    async def command(
        self, session_id: str, command: str, arguments: str = "", *, agent: str = "", model: str = "", variant: str = ""
    ) -> Message:
        """Carry out a prompt that has a name; returns when the turn has ended."""
        optional = {"agent": agent, "model": model, "variant": variant}
        body = {"command": command, "arguments": arguments} | {key: value for key, value in optional.items() if value}
        return message_of(await self.send("POST", f"/session/{session_id}/command", body))

    async def abort(self, session_id: str) -> None:
        await self.send("POST", f"/session/{session_id}/abort")

    async def revert(self, session_id: str, message_id: str) -> SessionInfo:
        return session_of(await self.send("POST", f"/session/{session_id}/revert", {"messageID": message_id}))

    async def unrevert(self, session_id: str) -> SessionInfo:
        return session_of(await self.send("POST", f"/session/{session_id}/unrevert"))

    async def diff(self, session_id: str) -> list[Json]:
        found: list[Json] = await self.send("GET", f"/session/{session_id}/diff")
        return found

    # Questions.

    async def permissions(self) -> list[Json]:
        """The permissions that wait for an answer."""
        found: list[Json] = await self.send("GET", "/permission")
        return found

    async def reply(self, request_id: str, reply: ReplyKind, message: str = "") -> None:
        """Answer a permission."""
        body = {"reply": reply} | ({"message": message} if message else {})
        await self.send("POST", f"/permission/{request_id}/reply", body)

    async def settle(self, question: Question, reply: Reply) -> None:
        """Answer a permission or a question with all that the answer says."""
        if question.kind == "choice" and reply.kind == "reject":
            await self.send("POST", f"/question/{question.id}/reject")
        elif question.kind == "choice":
            await self.answer(question.id, reply.answers)
        else:
            patterns = {} if reply.patterns is None else {"patterns": list(reply.patterns)}
            body = {"reply": reply.kind, "message": reply.message, "scope": reply.scope, **patterns}
            await self.send("POST", f"/permission/{question.id}/reply", body)

    async def answer(self, request_id: str, answers: Sequence[Sequence[str]]) -> None:
        """Answer a question: one list of labels for each."""
        await self.send("POST", f"/question/{request_id}/reply", {"answers": [list(one) for one in answers]})
