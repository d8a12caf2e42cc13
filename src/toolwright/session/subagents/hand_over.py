"""Handing over: another agent goes on with the conversation, with its own prompt, model, tools and rules."""

from dataclasses import replace
from typing import Annotated

from toolwright.agents import HAND_OVER, Agents
from toolwright.calls.look import Look
from toolwright.definition import AgentLike, Result, Tool, ToolContext, tool
from toolwright.errors import ToolError
from toolwright.services import Modes

_TEXT = (
    "Hands the conversation over to another agent, which sees all of it and goes on from here; your part ends with it."
    " Agents:"
)


async def _for_agent(tool: Tool, agent: AgentLike) -> Tool:
    """The tool with those to whom this agent may hand over."""
    known = agent.use(Agents)
    targets = [known[name] for name in known[agent.name].hand_over if name in known]
    able = [one for one in targets if agent.decide(HAND_OVER, one.name) != "deny"]
    listed = "\n".join(f"- {one.name}: {one.description}" if one.description else f"- {one.name}" for one in able)
    properties = tool.parameters["properties"]
    named = properties["agent"] | {"enum": [one.name for one in able]}
    parameters = tool.parameters | {"properties": properties | {"agent": named}}
    return replace(tool, description=f"{tool.description}\n{listed}", parameters=parameters)


@tool(
    id=HAND_OVER,
    asks=True,
    init=_for_agent,
    alone="it changes who makes the next call",
    caption="note",
    look=Look(verb="Hand over", kind="switch_mode", subject="agent"),
)
async def _hand_over(
    ctx: ToolContext, agent: str, note: Annotated[str, "What the other should know besides"] = ""
) -> Result:
    known = ctx.use(Agents)
    targets = [name for name in known[ctx.agent].hand_over if name in known]
    if agent not in targets:
        raise ToolError(f"{ctx.agent} cannot hand over to {agent!r}. There are: {', '.join(targets)}.", "not_found")
    await ctx.ask(HAND_OVER, agent, always=(agent,))
    words = f"{ctx.agent} has handed this conversation over to you, {agent}. Go on with it."
    ctx.use(Modes).switch(ctx, agent, f"{words} {ctx.agent} says: {note}" if note else words)
    return Result(f"Handed over to {agent}.", title=agent, metadata={"agent": agent})


def hand_over_tool() -> Tool:
    """The tool, as the registry takes it."""
    return replace(_hand_over, description=_TEXT)
