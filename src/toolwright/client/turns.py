"""Prompts to a server that may go and come back while it answers: each is answered once."""

import asyncio
from collections.abc import AsyncIterator, Awaitable

from toolwright.client.calls import NoAnswer, ServerGone
from toolwright.client.client import Client
from toolwright.client.link import EventLink
from toolwright.client.reading import result_of
from toolwright.commands import name_and_rest
from toolwright.errors import ToolwrightError, UsageError
from toolwright.events import Event
from toolwright.messages import Assistant, Message
from toolwright.protocols.json_types import Json
from toolwright.session.events import SessionIdle
from toolwright.session.prompt import CommandCall
from toolwright.session.result import TurnResult


class RemoteTurns:
    """The turns of a server's sessions that were begun here."""

    def __init__(self, client: Client, link: EventLink, *, ours: bool) -> None:
        self._client, self._link, self._ours = client, link, ours
        self._given_up: dict[str, asyncio.Event] = {}

    async def prompt(self, session_id: str, text: str, chosen: Json, command: CommandCall | None = None) -> TurnResult:
        """Answer a prompt, also where the server is started anew meanwhile; one it never got is sent again."""
        self._link.watch(session_id)
        stop = self._given_up[session_id] = asyncio.Event()
        before: str | None = None
        last: Message | None = None
        try:
            while True:
                try:
                    if before is None:
                        newest = await self._client.messages(session_id, limit=1)
                        before = max((one.info.id for one in newest), default="")
                    last = last or await self._sent(session_id, text, chosen, command)
                    return await self._result(last)
                except NoAnswer as error:
                    raise ToolwrightError(self._link.failures.pop(session_id, str(error))) from error
                except ServerGone:
                    self._link.tell_loss(session_id)
                    last = await self._outcome_after_break(session_id, before, stop)
        finally:
            self._given_up.pop(session_id, None)

    async def send_call(self, session_id: str, what: str, body: Json) -> Json:
        """Ask for a call, or for what would become of it."""
        if not self._ours:
            raise UsageError("Only a server of toolwright's takes calls of tools.")
        answer: Json = await self._client.send("POST", f"/tw/session/{session_id}/{what}", body)
        return answer

    async def abort(self, session_id: str) -> None:
        try:
            await self._client.abort(session_id)
        except ServerGone:
            if session_id in self._given_up:
                self._given_up[session_id].set()

    async def _sent(self, session_id: str, text: str, chosen: Json, command: CommandCall | None) -> Message:
        name, rest = (command.name, command.text) if command else name_and_rest(text)
        # Ours finds a command in a text by itself; others want to be told.
        if command or (name and not self._ours and name in await self._commands()):
            options = {key: value for key, value in chosen.items() if key not in ("system", "tools", "until")}
            return await self._client.command(session_id, name, rest, **options)
        return await self._client.prompt(session_id, text, **chosen)

    async def _outcome_after_break(self, session_id: str, before: str | None, stop: asyncio.Event) -> Message | None:
        """Return the last message of a prompt whose connection broke; None if the prompt never arrived."""
        while True:
            await self._or_stopped(self._link.back(), stop)
            if before is None:
                return None
            idle = self._link.bus.follow(
                lambda event: isinstance(event, SessionIdle) and event.session_id == session_id
            )
            try:
                at_work = session_id in await self._client.send("GET", "/session/status")
                new = [one for one in await self._client.messages(session_id) if one.info.id > before]
                if at_work:
                    await self._or_stopped(_first_of(idle), stop)
                elif not new:
                    return None
                elif isinstance(new[-1].info, Assistant):
                    return new[-1]
                else:
                    raise ToolwrightError("The server ended before it could answer. Send the prompt again.")
            except ServerGone:
                continue
            finally:
                idle.close()

    async def _or_stopped(self, waiting: Awaitable[None], stop: asyncio.Event) -> None:
        tasks = [asyncio.ensure_future(waiting), asyncio.ensure_future(stop.wait())]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
        if stop.is_set():
            raise ServerGone(f"{self._client.address} does not answer, so the turn could not be stopped there.")

    async def _result(self, last: Message) -> TurnResult:
        session_id = last.info.session_id
        parent = last.info.parent_id if isinstance(last.info, Assistant) else last.info.id
        messages = await self._client.messages(session_id)
        return result_of(last, messages, await self._client.diff(session_id, parent))

    async def _commands(self) -> set[str]:
        return {one["name"] for one in await self._client.send("GET", "/command")}


async def _first_of(events: AsyncIterator[Event]) -> None:
    await anext(events)
