"""Symbols of a file for the lsp tool: listed, and the lines of just one shown or replaced."""

import asyncio
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from toolwright.definition import Result, ToolContext
from toolwright.edits.blanks import indent_of
from toolwright.edits.fitting import follow_line_ends
from toolwright.edits.views import TextSpan
from toolwright.errors import ToolError
from toolwright.files.replace import Change
from toolwright.files.store import Files, Loaded
from toolwright.lsp.outline import Symbol, find_symbol, python_symbols, read_symbols
from toolwright.lsp.positions import Positions
from toolwright.lsp.workspace_edit import Revised
from toolwright.tools.symbols.changes import commit
from toolwright.tools.symbols.places import Shower

if TYPE_CHECKING:
    from toolwright.tools.symbols.question import SymbolQuestion

_PYTHON = (".py", ".pyi")


async def about_symbols(ctx: ToolContext, question: "SymbolQuestion", loaded: Loaded, most: int) -> Result:
    """Answer one of the three operations."""
    symbols, problems = await _symbols(ctx, question, loaded)
    if question.operation == "documentSymbol":
        wanted = question.query.lower()
        listed = Shower(ctx, ctx.use(Files), most).show_symbols(
            loaded.place.path, [one for one in symbols if wanted in one.name.lower()]
        )
        if not listed and problems:
            raise ToolError(" ".join(problems))
        return Result(
            "\n".join((listed or question.nothing, *problems)),
            title=question.title,
            metadata={"result": len(symbols), "operation": question.operation},
        )
    if not symbols and problems:
        raise ToolError(" ".join(problems))
    symbol = find_symbol(symbols, question.query, question.line)
    if question.operation == "readSymbol":
        return _read(ctx, loaded, symbol)
    return await _replace(ctx, loaded, symbol, symbols, question.new_string)


async def _symbols(ctx: ToolContext, question: "SymbolQuestion", loaded: Loaded) -> tuple[list[Symbol], list[str]]:
    """Return the symbols that the servers name in the file; without one, Python files are parsed here."""
    text = question.text
    try:
        clients = await question.clients(ctx)
    except ToolError:
        if loaded.place.path.suffix not in _PYTHON:
            raise
        return await asyncio.to_thread(python_symbols, text), []
    answers, problems = await question.ask(clients)
    for client in clients:
        known = client.documents.get(loaded.place.path)
        if known is not None and known.text != text.text:
            raise ToolError(f"{loaded.place.path} has changed in the meantime. Nothing was done; call again.", "stale")
    try:
        symbols = dict.fromkeys(read_symbols([one for _, one in answers], text))
        return sorted(symbols, key=lambda one: (one.first, one.depth)), problems
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        names = ", ".join(client.name for client in clients)
        raise ToolError(f"What {names} answered makes no sense: {type(error).__name__}: {error}.") from error


def _read(ctx: ToolContext, loaded: Loaded, symbol: Symbol) -> Result:
    """The lines of a symbol as `read` shows them; the session may then change the file."""
    text, place = Positions(loaded.text.content), loaded.place
    ctx.use(Files).note_read(ctx.session_id, place, loaded.digest, stamp=loaded.stamp, whole=False)
    numbered = [f"{number:05d}| {text.line(number - 1)}" for number in range(symbol.first, symbol.last + 1)]
    total = text.lines if text.line(text.lines - 1) else text.lines - 1
    note = f"({symbol.kind} {symbol.path}: {symbol.lines} of {total})"
    return Result(
        "\n".join(("<file>", *numbered, "", note, "</file>")),
        title=f"{place.relative}, {symbol.path}",
        metadata={"lineStart": symbol.first, "lineEnd": symbol.last, "symbol": symbol.path},
    )


async def _replace(
    ctx: ToolContext, loaded: Loaded, symbol: Symbol, symbols: Sequence[Symbol], new: str | None
) -> Result:
    if new is None:
        raise ToolError("replaceSymbol needs newString, the text to put there; an empty one deletes it.", "schema")
    ctx.use(Files).require_read(ctx.session_id, loaded)
    _refuse_shared_lines(symbol, symbols)
    before, place = loaded.text.content, loaded.place
    fitting = indented(before, symbol, new)
    after = replaced(before, symbol, fitting)
    if after == before:
        raise ToolError(f"newString is what {symbol.path} is already, so there is nothing to change.", "same")
    change = Change(place=place, before=loaded.data, after=loaded.text.encode(after))
    revised = Revised(place=place, before=before, after=after, change=change)
    moved = "" if fitting == new else " (newString was indented to fit)"
    return await commit(ctx, [revised], f"Replaced {symbol.path}{moved}")


def _refuse_shared_lines(symbol: Symbol, symbols: Sequence[Symbol]) -> None:
    """Whole lines are replaced, so what is no part of the symbol may not stand on its first or its last."""
    for other in symbols:
        is_part = other.path == symbol.path or other.path.startswith(f"{symbol.path}.")
        if other.line in (symbol.first, symbol.last) and not is_part:
            raise ToolError(
                f"{symbol.path} shares a line with {other.path}. Use edit, which changes parts of lines.", "ambiguous"
            )


def indented(text: str, symbol: Symbol, new: str) -> str:
    """The new text, with the indentation of the symbol's first line if it has none of its own."""
    indent = indent_of(Positions(text).line(symbol.first - 1))
    return textwrap.indent(new, indent) if indent and not indent_of(new.lstrip("\r\n")) else new


def replaced(text: str, symbol: Symbol, new: str) -> str:
    """The text with a new one for the lines of a symbol, which keeps their line ends."""
    places = Positions(text)
    start, beyond = (places.offset({"line": line, "character": 0}) for line in (symbol.first - 1, symbol.last))
    if not new.strip():
        return text[:start] + text[beyond:]
    end = start + len(text[start:beyond].rstrip("\r\n"))
    fitting = follow_line_ends(text, TextSpan(start, end), text[start:end], new.strip("\r\n"))
    return text[:start] + fitting + text[end:]
