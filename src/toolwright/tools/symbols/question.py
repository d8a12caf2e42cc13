"""Questions of the lsp tool to language servers, and the results made of their answers."""

import asyncio
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from toolwright.calls.request import Request
from toolwright.deadline import time_limit
from toolwright.definition import Result, ToolContext
from toolwright.errors import ToolError
from toolwright.files.paths import Place
from toolwright.files.store import Files
from toolwright.lsp.client import LanguageClient
from toolwright.lsp.languages import ASKED, Languages
from toolwright.lsp.pool import PATIENCE
from toolwright.lsp.positions import Positions, uri_of
from toolwright.lsp.prose import prose_in
from toolwright.lsp.servers import language_id
from toolwright.protocols.jsonrpc import METHOD_NOT_FOUND, RpcClosed, RpcError
from toolwright.record import record
from toolwright.tools.symbols.places import Shower

AGAIN, TRIES = 0.5, 2
"""Seconds before a server that has just started is asked again for what it did not find, and how often it is."""

NEAR = 40
"""Lines within which a name in code is preferred to one in a comment."""
_SHOWN = 120
"""Characters shown of a line where nothing was found."""
_NAME = re.compile(r"(?!\d)[\w$@#?!'-]+")
_WORD = re.compile(r"[\w$]+")

METHODS: Mapping[str, tuple[str, str]] = {
    "goToDefinition": ("definitionProvider", "textDocument/definition"),
    "findReferences": ("referencesProvider", "textDocument/references"),
    "hover": ("hoverProvider", "textDocument/hover"),
    "documentSymbol": ("documentSymbolProvider", "textDocument/documentSymbol"),
    "readSymbol": ("documentSymbolProvider", "textDocument/documentSymbol"),
    "replaceSymbol": ("documentSymbolProvider", "textDocument/documentSymbol"),
    "workspaceSymbol": ("workspaceSymbolProvider", "workspace/symbol"),
    "goToImplementation": ("implementationProvider", "textDocument/implementation"),
    "prepareCallHierarchy": ("callHierarchyProvider", "textDocument/prepareCallHierarchy"),
    "incomingCalls": ("callHierarchyProvider", "textDocument/prepareCallHierarchy"),
    "outgoingCalls": ("callHierarchyProvider", "textDocument/prepareCallHierarchy"),
    "rename": ("renameProvider", "textDocument/rename"),
    "codeAction": ("codeActionProvider", "textDocument/codeAction"),
}
"""The capability that an operation needs, and the method it begins with."""
_AT_A_NAME = METHODS.keys() - {"documentSymbol", "readSymbol", "replaceSymbol", "workspaceSymbol", "codeAction"}
"""The operations that are about the name at a place."""


@record(frozen=True, slots=True, kw_only=True)
class SymbolArguments:
    """The arguments of a call."""

    operation: str
    file_path: str
    line: int
    character: int
    query: str
    new_name: str
    new_string: str | None


async def answered(ctx: ToolContext, asked: SymbolArguments, most: int) -> Result:
    """Ask the servers and show at most so many places, or make the changes they work out."""
    operation, files = asked.operation, ctx.use(Files)
    place = files.tree.place(asked.file_path)
    leave = Request(permission="lsp", patterns=("*",), metadata={"operation": operation, "filepath": str(place.path)})
    look = Request(permission="read", patterns=(place.absolute_pattern,))
    await ctx.ask_all(*place.external(), look, leave)
    if operation == "rename" and not _NAME.fullmatch(asked.new_name):
        raise ToolError(f"rename needs newName, the name to give; {asked.new_name!r:.80} is none.", "schema")
    loaded = await files.load(place)
    question = SymbolQuestion(asked, place, Positions(loaded.text.content))
    if operation in ("documentSymbol", "readSymbol", "replaceSymbol"):
        from toolwright.tools.symbols.outline import about_symbols

        return await about_symbols(ctx, question, loaded, most)
    clients = await question.clients(ctx)
    answers, problems = await question.ask(clients)
    if operation in ("rename", "codeAction"):
        from toolwright.tools.symbols.changes import change

        return await change(ctx, question, answers, problems)
    try:
        listed = await asyncio.to_thread(Shower(ctx, files, most).show, operation, place, answers)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        names = ", ".join(client.name for client in clients)
        raise ToolError(f"What {names} answered makes no sense: {type(error).__name__}: {error}.") from error
    if not listed and problems:
        raise ToolError(" ".join(problems))
    return Result(
        "\n".join((listed or question.nothing, *problems)),
        title=question.title,
        metadata={"result": len(answers), "operation": operation},
    )


class SymbolQuestion:
    """One operation at one place."""

    def __init__(self, asked: SymbolArguments, place: Place, text: Positions) -> None:
        self.operation = asked.operation
        self.place = place
        self.text = text
        self.query = asked.query
        self.new_string = asked.new_string
        line, character = asked.line, asked.character
        if asked.query and asked.operation in _AT_A_NAME:
            line, character = self._where(asked)
        self.title = f"{asked.operation} at {place.relative}:{line}:{character}"
        if asked.operation == "workspaceSymbol":
            self.title = f"{asked.operation} {asked.query}".strip()
        self.line = line
        self._character = character
        self._method = METHODS[asked.operation][1]
        self._position = text.given(line, character)
        self._new_name = asked.new_name

    def _where(self, asked: SymbolArguments) -> tuple[int, int]:
        """Return the place of the name asked for; the place that was given if there is none, but for a change."""
        start = asked.line, asked.character
        nearest_place = nearest(self.text, asked.query, *start, language=language_id(self.place.path))
        if nearest_place is None and (asked.operation == "rename" or start == (1, 1)):
            raise ToolError(f"There is no {asked.query!r:.80} in {self.place.relative}.", "missing")
        return nearest_place or start

    @property
    def nothing(self) -> str:
        """That nothing was found, and what stands where it was asked for."""
        return f"No results for {self.title}. {self._found_there}".rstrip()

    @property
    def _found_there(self) -> str:
        if self.operation == "workspaceSymbol":
            return "" if self.query else "Give query, a name or a part of one."
        if self.operation == "documentSymbol":
            return ""
        total = self.text.lines - (not self.text.line(self.text.lines - 1))
        if self.line > total:
            return f"The file has {total} lines."
        text, at = self.text.line(self.line - 1), self._character - 1
        name = next((one[0] for one in _WORD.finditer(text) if one.start() <= at <= one.end()), "")
        if name:
            return f"The word there is {name!r:.80}."
        reads = f"reads: {text.strip()[:_SHOWN]}" if text.strip() else "is empty."
        return f"There is no name at that place; line {self.line} {reads}"

    async def clients(self, ctx: ToolContext) -> list[LanguageClient]:
        """The servers for the file that say they can answer; all of them if none does, for some do not say it."""
        try:
            clients = await ctx.use(Languages).clients(self.place.path)
        except ToolError as error:
            raise ToolError(f"{error} Use grep and read instead.", error.kind) from error
        return [client for client in clients if client.can(*METHODS[self.operation])] or clients

    async def ask(self, clients: list[LanguageClient]) -> tuple[list[tuple[LanguageClient, Any]], list[str]]:
        """Return the answer of each server, and what went wrong with those that did not answer."""
        answers, problems = list[tuple[LanguageClient, Any]](), list[str]()
        for client in clients:
            try:
                async with time_limit(ASKED):
                    answers += [(client, one) for one in await self._patient_answer(client)]
            except TimeoutError:
                problems.append(f"{client.name} did not answer within {ASKED:.0f} s.")
            except (RpcError, RpcClosed) as error:
                problems.append(self._problem(client, error))
            if client.loading:
                busy = next(iter(client.loading.values()))
                problems.append(f"({client.name} is still loading: {busy}. Results may be missing.)")
        return answers, problems

    def _problem(self, client: LanguageClient, error: RpcError | RpcClosed) -> str:
        if isinstance(error, RpcError) and error.code == METHOD_NOT_FOUND:
            return f"{client.name} cannot answer {self.operation}. Use grep and read instead."
        if isinstance(error, RpcClosed):
            return f"{client.name} ended before it answered. Call again in a few seconds, or use grep and read."
        return f"{client.name} failed: {error}"

    async def _patient_answer(self, client: LanguageClient) -> list[Any]:
        """Return the answer of a server; one that has just started may not know the project yet."""
        entries = _listed(await self._answer(client))
        for _ in range(TRIES):
            if entries or not client.is_young:
                break
            await asyncio.sleep(AGAIN)
            entries = _listed(await self._answer(client))
        return entries

    async def _answer(self, client: LanguageClient) -> Any:
        if self.operation == "codeAction":
            await self._look_for_errors(client)
        if self.operation == "rename" and client.prepares_rename:
            where = {"textDocument": {"uri": uri_of(self.place.path)}, "position": self._position}
            if await client.request("textDocument/prepareRename", where) is None:
                return None
        answer = await client.request(self._method, self._params(client))
        if self.operation not in ("incomingCalls", "outgoingCalls"):
            return answer
        calls = list[Any]()
        for item in _listed(answer):
            calls += _listed(await client.request(f"callHierarchy/{self.operation}", {"item": item}))
        return calls

    async def _look_for_errors(self, client: LanguageClient) -> None:
        """Most fixes are offered for errors that the server is told of; one that is not asked may never tell any."""
        try:
            async with time_limit(None if client.pulls else PATIENCE):
                await client.diagnose(self.place.path)
        except TimeoutError:
            return

    def _params(self, client: LanguageClient) -> dict[str, Any]:
        if self.operation == "workspaceSymbol":
            return {"query": self.query}
        params: dict[str, Any] = {"textDocument": {"uri": uri_of(self.place.path)}}
        match self.operation:
            case "documentSymbol" | "readSymbol" | "replaceSymbol":
                return params
            case "codeAction":
                wrong = client.diagnostics.raw(self.place.path, self._position["line"])
                where = {"start": self._position, "end": self._position}
                if wrong:
                    where = wrong[0]["range"]
                return params | {"range": where, "context": {"diagnostics": wrong, "triggerKind": 1}}
            case "findReferences":
                params["context"] = {"includeDeclaration": True}
            case "rename":
                params["newName"] = self._new_name
        return params | {"position": self._position}


def nearest(text: Positions, query: str, line: int, character: int, *, language: str = "") -> tuple[int, int] | None:
    """Return where a name stands next to a place, for who knows the name better; None if it stands nowhere.

    A name in a comment or a string, to which servers know no answer, is passed over for one in code that is near.
    """
    name = re.escape(re.split(r"\.|::", query)[-1])
    pattern = re.compile(rf"(?<![\w$]){name}(?![\w$])")
    offsets = [one.start() for one in pattern.finditer(text.text)]
    in_code = [
        offset for offset, is_code in zip(offsets, _are_code(text.text, offsets, language), strict=True) if is_code
    ]

    def distance(place: tuple[int, int]) -> tuple[int, int]:
        return abs(place[0] - line), abs(place[1] - character)

    best = min((text.shown(text.at(offset)) for offset in offsets), key=distance, default=None)
    in_code_best = min((text.shown(text.at(offset)) for offset in in_code), key=distance, default=None)
    return in_code_best if in_code_best is not None and distance(in_code_best)[0] <= NEAR else best


def _are_code(text: str, offsets: Sequence[int], language: str) -> Iterator[bool]:
    """Yield of each place, in order, whether it is in no comment and no string."""
    prose = prose_in(text, language)
    start, end = next(prose, (len(text), len(text)))
    for offset in offsets:
        while offset >= end and start < len(text):
            start, end = next(prose, (len(text), len(text)))
        yield not start <= offset < end


def _listed(answer: Any) -> list[Any]:
    if answer is None:
        return []
    return answer if isinstance(answer, list) else [answer]
