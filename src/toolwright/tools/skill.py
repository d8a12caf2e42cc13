"""The skill tool: loads the instructions for a kind of task."""

import asyncio

from toolwright.calls.look import Look
from toolwright.definition import AgentLike, Result, Tool, ToolContext, described, tool
from toolwright.errors import ToolError
from toolwright.skills import Skills
from toolwright.tools._listing import listed


async def _for_agent(tool: Tool, agent: AgentLike) -> Tool:
    """The tool listing what this agent may load."""
    skills = await asyncio.to_thread(agent.use(Skills).all)
    allowed = (one for one in skills.values() if agent.decide("skill", one.name) != "deny")
    return described(tool, skills=listed((one.name, one.description) for one in allowed))


@tool(
    text="skill.md",
    known_as=("Skill",),
    in_a_word=("name", {}),
    unseen_changes=False,
    asks=True,
    init=_for_agent,
    pinned=True,
    look=Look(verb="Load skill", subject="name", act="load {a skill}"),
)
async def skill(ctx: ToolContext, name: str) -> Result:
    """Ask, and hand over the text."""
    skills = await asyncio.to_thread(ctx.use(Skills).all)
    loaded = skills.get(name)
    if loaded is None:
        names = [known for known in skills if ctx.decide("skill", known) != "deny"]
        hint = f"There are: {', '.join(names)}." if names else "There are none; go on without."
        raise ToolError(f"There is no skill {name!r}. {hint}", "not_found")
    # A stored approval takes a final star as a wildcard, so a name that ends in one would stand for others as well.
    await ctx.ask("skill", name, always=() if name.endswith("*") else (name,))
    return Result(
        f"# Skill: {name}\n\nBase directory: {loaded.folder}\n\n{loaded.body}",
        title=f"Loaded skill: {name}",
        metadata={"name": name, "dir": str(loaded.folder)},
    )
