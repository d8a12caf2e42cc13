"""A login with a wider scope, in the middle of a call that needs it and where a person can be asked."""

import asyncio
from typing import TYPE_CHECKING

from toolwright.calls.request import Option
from toolwright.definition import ToolContext
from toolwright.errors import PermissionDenied
from toolwright.inbox import Choice
from toolwright.machine.folders import Folders
from toolwright.mcp.client.challenges import joined_scopes
from toolwright.mcp.client.link import NeedsAuth
from toolwright.mcp.client.login import Login, log_in, refused_all_the_same
from toolwright.process.programs.browser import open_browser
from toolwright.process.programs.lookup import Lookup
from toolwright.services import Questions
from toolwright.text.display import visible

if TYPE_CHECKING:
    from toolwright.mcp.client.server import McpServer

LOG_IN, STOP = "Log in", "Stop"


async def widen_login(ctx: ToolContext, server: "McpServer", tool: str, scope: str) -> None:
    """Return once the person has logged in with this scope too; else a ToolError says what stands in the way."""
    before = Login.of(server).grant()
    async with server.logging_in:
        grant = Login.of(server).grant()
        if grant is not None and grant != before and grant.covers(scope):
            return  # another call was here first
        if grant is not None and grant.covers(scope):
            raise refused_all_the_same(server.name, scope)
        wanted = joined_scopes(grant.scope if grant else "", scope)
        guide = _AskingGuide(ctx, server.name)
        try:
            await guide.ask(f"The MCP server {server.name} wants a login with the scope {scope} for {tool}.")
            await log_in(server, guide, wanted)
        except PermissionDenied:
            raise NeedsAuth(server.name, wanted) from None


class _AskingGuide:
    """Brings the person to a login by questions, which any surface can show."""

    def __init__(self, ctx: ToolContext, server: str) -> None:
        self._ctx, self._server = ctx, server
        self._address = ""

    async def ask(self, why: str) -> None:
        """Return if the person wants to log in; else PermissionDenied."""
        options = (Option(label=LOG_IN, description="In the browser"), Option(label=STOP, description="Do without it"))
        await self._choose(why, options, custom=False)

    async def show(self, address: str) -> None:
        self._address = visible(address, lines=False)
        await asyncio.to_thread(open_browser, address, self._ctx.use(Lookup), self._ctx.use(Folders).state)

    async def entered(self, complaint: str) -> str:
        hint = "A browser on this machine comes back by itself; from another one, enter the address that it ends at."
        lines = [*([complaint] if complaint else []), f"Log in at {self._address}", hint]
        options = (Option(label=STOP, description="Do without it"),)
        return await self._choose("\n".join(lines), options, custom=True)

    async def _choose(self, question: str, options: tuple[Option, ...], *, custom: bool) -> str:
        choice = Choice(question=question, header=self._server[:30], options=options, custom=custom)
        answers = await self._ctx.use(Questions).ask(self._ctx, [choice])
        answer = answers[0][0] if answers and answers[0] else STOP
        if answer == STOP:
            raise PermissionDenied(f"Nobody logged in to {self._server}.")
        return answer
