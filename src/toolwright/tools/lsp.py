"""The lsp tool: questions to language servers about a place in a file, and changes that they work out."""

from typing import Annotated, Literal

from toolwright.calls.look import Look
from toolwright.definition import ANY, Result, ToolContext, tool
from toolwright.functions.signature import Field

MOST = 100
"""Places shown of one answer."""

Operation = Literal[
    "goToDefinition",
    "findReferences",
    "hover",
    "documentSymbol",
    "readSymbol",
    "replaceSymbol",
    "workspaceSymbol",
    "goToImplementation",
    "prepareCallHierarchy",
    "incomingCalls",
    "outgoingCalls",
    "rename",
    "codeAction",
]


@tool(
    text="lsp.md",
    unseen_changes=False,
    asks=True,
    writes=ANY,
    offered=lambda offer: offer.lsp,
    look=Look(
        verb="Ask the language server", kind="search", subject="filePath", place="filePath", act="use a language server"
    ),
)
async def lsp(
    ctx: ToolContext,
    operation: Operation,
    file_path: Annotated[str, Field(schema={"minLength": 1})],
    line: Annotated[int, Field("From 1", schema={"minimum": 1})] = 1,
    character: Annotated[int, Field("From 1", schema={"minimum": 1})] = 1,
    query: str = "",
    new_name: str = "",
    new_string: str | None = None,
) -> Result:
    """Ask the language servers."""
    from toolwright.tools.symbols.question import SymbolArguments, answered

    asked = SymbolArguments(
        operation=operation,
        file_path=file_path,
        line=line,
        character=character,
        query=query,
        new_name=new_name,
        new_string=new_string,
    )
    return await answered(ctx, asked, MOST)
