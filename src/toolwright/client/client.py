"""The client for programs that await."""

import os
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import httpx2

from toolwright.client.calls import (
    ServerAddress,
    ServerGone,
    answer_of,
    as_list,
    file_parts,
    message_of,
    note_of_killed,
    prompt_body,
    session_of,
    without_secret,
)
from toolwright.client.events import payload_of
from toolwright.inbox import Question, Reply, ReplyKind
from toolwright.messages import Message, SessionInfo
from toolwright.protocols.json_types import Json
from toolwright.protocols.sse import EventReader, ServerEvent

if TYPE_CHECKING:
    from toolwright.client.session import ClientSession

_Stream = AsyncIterator[ServerEvent]


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
        self.address = without_secret(address.url)
        """Where the server is, without the secret."""
        self._directory, self._environment = directory, environment
        # A turn may take hours; the server sends blanks meanwhile.
        self._http = httpx2.AsyncClient(
            base_url=address.url,
            headers=dict(address.headers),
            timeout=httpx2.Timeout(10, read=None),
            trust_env=False,
            event_hooks={"request": [self._keep_secret]},
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        await self._http.aclose()

    def find_secret(self) -> bool:
        """Look up the secret of a server on this machine once more, since one that was started anew has another."""
        address = ServerAddress.of(self.address, directory=self._directory, environment=self._environment)
        if "authorization" not in address.headers or address.headers["authorization"] == self._http.headers.get(
            "authorization"
        ):
            return False
        self._http.base_url = httpx2.URL(address.url)
        self._http.headers.update(address.headers)
        return True

    async def _keep_secret(self, request: httpx2.Request) -> None:
        """Send nothing to a port of this machine where a server was killed: who listens there now may be anybody."""
        if note := note_of_killed(str(request.url), self._environment):
            why = f"the server there was killed. Start it again, or remove {note} if another is meant"
            raise ServerGone(f"{self.address} is given no secret: {why}.")

    async def send(self, method: str, path: str, body: Json | None = None, **query: str) -> Any:
        """Any request of the contract; its answer as JSON, or ServerError, or ServerGone."""
        try:
            answer = await self._http.request(method, path, params=query or None, json=body)
            if answer.status_code == 401 and self.find_secret():
                answer = await self._http.request(method, path, params=query or None, json=body)
        except httpx2.TransportError as error:
            raise self._server_gone(error) from error
        return answer_of(answer.status_code, answer.content)

    def _server_gone(self, error: httpx2.TransportError) -> ServerGone:
        why = str(error) or type(error).__name__
        return ServerGone(f"{self.address} does not answer: {why}. Is the server still running there?")

    async def events(self, *, deltas: bool = False) -> AsyncIterator[Json]:
        """Yield each event from now on, as `{type, properties}`; texts that grow in pieces if `deltas` are wanted."""
        async for event in self.server_events(deltas=deltas):
            if (payload := payload_of(event.data)) is not None:
                yield payload

    async def server_events(self, *, deltas: bool = False, after: str = "", silence: float | None = None) -> _Stream:
        """The same as it comes, each event with its id; after the event with a known id, if the server still has it.

        ServerGone when the connection breaks, or when the server says nothing for longer than `silence`.
        """
        reader = EventReader()
        params = {"deltas": "1"} if deltas else None
        headers = {"last-event-id": after} if after else None
        timeout = httpx2.Timeout(10, read=silence)
        try:
            async with self._http.stream("GET", "/event", params=params, headers=headers, timeout=timeout) as answer:
                if answer.status_code >= 400:
                    answer_of(answer.status_code, await answer.aread())
                async for chunk in answer.aiter_bytes():
                    for event in reader.feed(chunk):
                        yield event
        except httpx2.TransportError as error:
            raise self._server_gone(error) from error

    # Sessions.

    async def sessions(self, *, search: str = "", limit: int = 100) -> list[SessionInfo]:
        answer = await self.send("GET", "/session", search=search, limit=str(limit))
        return [session_of(one) for one in as_list(answer)]

    def open_session(self, id: str = "", *, agent: str = "") -> "ClientSession":  # noqa: A002 - as everywhere
        """A session to prompt and to follow, new or an earlier one: `async with client.open_session() as session`."""
        from toolwright.client.session import ClientSession

        return ClientSession(self, id=id, agent=agent)

    async def create_session(self, *, title: str = "", agent: str = "") -> SessionInfo:
        body = {key: value for key, value in {"title": title, "agent": agent}.items() if value}
        return session_of(await self.send("POST", "/session", body))

    async def session(self, session_id: str) -> SessionInfo:
        return session_of(await self.send("GET", f"/session/{session_id}"))

    async def fork(self, session_id: str) -> SessionInfo:
        """Copy a session, to go on with it in another direction."""
        return session_of(await self.send("POST", f"/session/{session_id}/fork", {}))

    async def delete_session(self, session_id: str) -> None:
        await self.send("DELETE", f"/session/{session_id}")

    async def messages(self, session_id: str, *, limit: int = 0) -> list[Message]:
        query = {"limit": str(limit)} if limit else {}
        answer = await self.send("GET", f"/session/{session_id}/message", None, **query)
        return [message_of(one) for one in as_list(answer)]

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
        tools: Sequence[str] | None = None,
        budget: Json | None = None,
        until: str = "",
    ) -> Message:
        """Answer a prompt; returns when the turn has ended. `open_session` gives the whole result of a turn.

        With `until` it is worked on until that command holds, or is given up.
        """
        chosen: Json = {"system": system, "variant": variant, "tools": tools, "budget": budget, "until": until}
        body = prompt_body(text, files=files, agent=agent, model=model, **chosen)
        return message_of(await self.send("POST", f"/session/{session_id}/message", body))

    async def command(
        self,
        session_id: str,
        command: str,
        arguments: str = "",
        *,
        files: Sequence[str] = (),
        agent: str = "",
        model: str = "",
        variant: str = "",
    ) -> Message:
        """Carry out a prompt that has a name; returns when the turn has ended."""
        optional = {"agent": agent, "model": model, "variant": variant, "parts": file_parts(files)}
        body = {"command": command, "arguments": arguments} | {key: value for key, value in optional.items() if value}
        return message_of(await self.send("POST", f"/session/{session_id}/command", body))

    async def abort(self, session_id: str) -> None:
        await self.send("POST", f"/session/{session_id}/abort")

    async def revert(self, session_id: str, message_id: str) -> SessionInfo:
        return session_of(await self.send("POST", f"/session/{session_id}/revert", {"messageID": message_id}))

    async def unrevert(self, session_id: str) -> SessionInfo:
        return session_of(await self.send("POST", f"/session/{session_id}/unrevert"))

    async def diff(self, session_id: str, message_id: str = "") -> list[Json]:
        """The files that a session has changed, or the turn of one prompt."""
        query = {"messageID": message_id} if message_id else {}
        return as_list(await self.send("GET", f"/session/{session_id}/diff", None, **query))

    # Questions.

    async def permissions(self) -> list[Json]:
        """The permissions that wait for an answer."""
        return as_list(await self.send("GET", "/permission"))

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
            patterns = None if reply.patterns is None else list(reply.patterns)
            arguments = None if reply.arguments is None else dict(reply.arguments)
            optional = {"message": reply.message, "scope": reply.scope, "patterns": patterns, "arguments": arguments}
            body = {"reply": reply.kind} | {name: one for name, one in optional.items() if one not in (None, "")}
            await self.send("POST", f"/permission/{question.id}/reply", body)

    async def answer(self, request_id: str, answers: Sequence[Sequence[str]]) -> None:
        """Answer a question: one list of labels for each."""
        await self.send("POST", f"/question/{request_id}/reply", {"answers": [list(one) for one in answers]})
