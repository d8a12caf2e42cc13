"""The websearch tool: a question to a search service of the user's choice."""

from typing import Annotated, Literal

from toolwright.calls.look import Look
from toolwright.definition import Result, ToolContext, tool
from toolwright.functions.signature import Field

SECONDS = 25
RESULTS = 8
NOTHING = "Nothing was found. Try other words."


@tool(
    text="websearch.md",
    repeatable=False,
    known_as=("WebSearch",),
    in_a_word=("query", {}),
    unseen_changes=False,
    asks=True,
    untrusted=True,
    offered=lambda offer: offer.searches,
    look=Look(verb="Search the web", kind="fetch", subject="query", act="search the web for {something}"),
)
async def websearch(
    ctx: ToolContext,
    query: str,
    num_results: Annotated[int, Field("", schema={"minimum": 1})] = RESULTS,
    livecrawl: Annotated[Literal["fallback", "preferred"], "Whether pages are fetched afresh"] = "fallback",
    type: Annotated[Literal["auto", "fast", "deep"], "How thoroughly"] = "auto",  # noqa: A002 - the name models know
    context_max_characters: Annotated[int | None, Field("Length of the answer", schema={"minimum": 1})] = None,
) -> Result:
    """Search the web."""
    from toolwright.web.search import Searcher

    await ctx.ask("websearch", query, query=query)
    searcher = ctx.use(Searcher)
    if searcher.is_plain:
        answer = await searcher.find(query, num_results, SECONDS)
    else:
        arguments = {"query": query, "type": type, "numResults": num_results, "livecrawl": livecrawl}
        if context_max_characters is not None:
            arguments["contextMaxCharacters"] = context_max_characters
        answer = await searcher.call("web_search_exa", arguments, SECONDS)
    return Result(answer or NOTHING, title=f"Web search: {query}")
