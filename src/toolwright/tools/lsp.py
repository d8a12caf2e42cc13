"""The lsp tool: questions to language servers about a place in a file, and changes that they work out."""

import asyncio
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from toolwright.errors import ToolError
from toolwright.files.paths import Place
from toolwright.files.store import Files
from toolwright.lsp.client import Client
from toolwright.lsp.languages import ASKED, Languages
from toolwright.lsp.pool import PATIENCE
from toolwright.lsp.positions import Positions, uri_of
from toolwright.request import Request
from toolwright.rpc import RpcClosed, RpcError
from toolwright.signature import Field
from toolwright.tool import ANY, Result, ToolContext, tool
from toolwright.tools._lsp_places import MOST, Shower

__all__ = ["MOST", "lsp"]

AGAIN, TRIES = 0.5, 2
"""Seconds before a server that has just started is asked again for what it did not find, and how often it is."""

Operation = Literal[
    "goToDefinition",
    "findReferences",
    "hover",
    "documentSymbol",
    "workspaceSymbol",
    "goToImplementation",
    "prepareCallHierarchy",
    "incomingCalls",
    "outgoingCalls",
    "rename",
    "codeAction",
]

METHODS: Mapping[str, tuple[str, str]] = {
    "goToDefinition": ("definitionProvider", "textDocument/definition"),
    "findReferences": ("referencesProvider", "textDocument/references"),
    "hover": ("hoverProvider", "textDocument/hover"),
    "documentSymbol": ("documentSymbolProvider", "textDocument/documentSymbol"),
    "workspaceSymbol": ("workspaceSymbolProvider", "workspace/symbol"),
    "goToImplementation": ("implementationProvider", "textDocument/implementation"),
    "prepareCallHierarchy": ("callHierarchyProvider", "textDocument/prepareCallHierarchy"),
    "incomingCalls": ("callHierarchyProvider", "textDocument/prepareCallHierarchy"),
    "outgoingCalls": ("callHierarchyProvider", "textDocument/prepareCallHierarchy"),
    "rename": ("renameProvider", "textDocument/rename"),
    "codeAction": ("codeActionProvider", "textDocument/codeAction"),
}
"""The capability that an operation needs, and the method it begins with."""


@tool(text="lsp.md", asks=True, writes=ANY, offered=lambda offer: offer.lsp)
async def lsp(
    ctx: ToolContext,
    operation: Operation,
    file_path: Annotated[str, Field(schema={"minLength": 1})],
    line: Annotated[int, Field("From 1", schema={"minimum": 1})] = 1,
    character: Annotated[int, Field("From 1", schema={"minimum": 1})] = 1,
    query: str = "",
    new_name: str = "",
) -> Result:
    """Ask the language servers."""
    files = ctx.use(Files)
    place = files.tree.place(file_path)
    leave = Request(permission="lsp", patterns=("*",), metadata={"operation": operation, "filepath": str(place.path)})
    look = Request(permission="read", patterns=(place.absolute_pattern,))
    await ctx.ask_all(*place.external(), look, leave)
    if operation == "rename" and not new_name:
        raise ToolError("rename needs newName, the name to give.", "schema")
    text = (await files.load(place)).text.content
    clients = await _clients(ctx, operation, place)
    question = Question(operation, place, Positions(text), line, character, query, new_name)
    answers, problems = await question.ask(clients)
    if operation in ("rename", "codeAction"):
        from toolwright.tools._lsp_changes import change

        return await change(ctx, question, answers, problems)
    shown = await asyncio.to_thread(Shower(ctx, files).show, operation, place, answers)
    title = f"{operation} {place.relative}:{line}:{character}"
    if not shown and problems:
        raise ToolError(" ".join(problems))
    return Result(
        "\n".join((shown or f"No results for {operation} at {place.relative}:{line}:{character}.", *problems)),
        title=title,
        metadata={"result": len(answers), "operation": operation},
    )


async def _clients(ctx: ToolContext, operation: str, place: Place) -> list[Client]:
    """The servers that can answer, of those there are for the file."""
    clients = await ctx.use(Languages).clients(place.path)
    able = [client for client in clients if client.can(*METHODS[operation])]
    if not able:
        names = ", ".join(client.name for client in clients)
        raise ToolError(f"{names} cannot answer {operation}. Use grep and read instead.", "missing")
    return able


class Question:
    """One operation at one place."""

    def __init__(
        self, operation: str, place: Place, text: Positions, line: int, character: int, query: str, new_name: str
    ) -> None:
        self.operation = operation
        self.place = place
        self.query = query
        self._method = METHODS[operation][1]
        self._position = text.given(line, character)
        self._new_name = new_name

    async def ask(self, clients: list[Client]) -> tuple[list[tuple[Client, Any]], list[str]]:
        """What each server answers, and what went wrong with those that did not."""
        answers, problems = list[tuple[Client, Any]](), list[str]()
        for client in clients:
            try:
                async with asyncio.timeout(ASKED):
                    answers += [(client, one) for one in await self._patient_answer(client)]
            except TimeoutError:
                problems.append(f"{client.name} did not answer within {ASKED:.0f} s.")
            except (RpcError, RpcClosed) as error:
                problems.append(f"{client.name} failed: {error}")
            if client.loading:
                busy = next(iter(client.loading.values()))
                problems.append(f"({client.name} is still loading: {busy}. Results may be missing.)")
        return answers, problems

    async def _patient_answer(self, client: Client) -> list[Any]:
        """What a server finds; one that has just started may not know the project yet."""
        found = _listed(await self._answer(client))
        for _ in range(TRIES):
            if found or not client.is_young:
                break
            await asyncio.sleep(AGAIN)
            found = _listed(await self._answer(client))
        return found

    async def _answer(self, client: Client) -> Any:
        if self.operation == "codeAction":
            await self._look_for_errors(client)
        answer = await client.request(self._method, self._params(client))
        if self.operation not in ("incomingCalls", "outgoingCalls"):
            return answer
        calls = list[Any]()
        for item in _listed(answer):
            calls += _listed(await client.request(f"callHierarchy/{self.operation}", {"item": item}))
        return calls

    async def _look_for_errors(self, client: Client) -> None:
        """Most fixes are offered for errors that the server is told of."""
        try:
            async with asyncio.timeout(PATIENCE):
                await client.diagnose(self.place.path)
        except TimeoutError:
            return

    def _params(self, client: Client) -> dict[str, Any]:
        if self.operation == "workspaceSymbol":
            return {"query": self.query}
        params: dict[str, Any] = {"textDocument": {"uri": uri_of(self.place.path)}}
        match self.operation:
            case "documentSymbol":
                return params
            case "codeAction":
                wrong = client.board.raw(self.place.path, self._position["line"])
                where = {"start": self._position, "end": self._position}
                if wrong:
                    where = wrong[0]["range"]
                return params | {"range": where, "context": {"diagnostics": wrong, "triggerKind": 1}}
            case "findReferences":
                params["context"] = {"includeDeclaration": True}
            case "rename":
                params["newName"] = self._new_name
        return params | {"position": self._position}


def _listed(answer: Any) -> list[Any]:
    if answer is None:
        return []
    return answer if isinstance(answer, list) else [answer]
