"""The codesearch tool: examples and documentation of libraries, from a search service of the user's choice."""

from typing import Annotated

from toolwright.calls.look import Look
from toolwright.definition import Result, ToolContext, tool
from toolwright.errors import ToolError
from toolwright.functions.signature import Field

SECONDS = 30
TOKENS = 5000
NOTHING = "Nothing was found. Name the library and what you want to do with it."


@tool(
    text="codesearch.md",
    repeatable=False,
    in_a_word=("query", {}),
    unseen_changes=False,
    asks=True,
    untrusted=True,
    offered=lambda offer: offer.searches and offer.code_search,
    look=Look(verb="Search code", kind="search", subject="query", act="search the web for {code}"),
)
async def codesearch(
    ctx: ToolContext,
    query: str,
    tokens_num: Annotated[int, Field("Length of the answer", schema={"minimum": 1000, "maximum": 50000})] = TOKENS,
) -> Result:
    """Search for code."""
    from toolwright.web.search import Searcher

    await ctx.ask("codesearch", query, query=query)
    searcher = ctx.use(Searcher)
    if searcher.is_plain:
        raise ToolError("The search server of this project knows no code. Use websearch.", "not_found")
    answer = await searcher.call("get_code_context_exa", {"query": query, "tokensNum": tokens_num}, SECONDS)
    return Result(answer or NOTHING, title=f"Code search: {query}")
