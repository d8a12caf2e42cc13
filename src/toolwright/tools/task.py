"""The task tool: hands work to another agent and brings back its report."""

from dataclasses import replace
from typing import Annotated

from toolwright.calls.look import Look
from toolwright.calls.request import Request
from toolwright.definition import AgentLike, Result, Tool, ToolContext, described, tool
from toolwright.errors import ToolError
from toolwright.functions.signature import Field
from toolwright.protocols.json_types import Json
from toolwright.services import Delegation, OtherAgents, Report, Subagents
from toolwright.tools._listing import listed

_NOT_SHOWN = ("task_id", "command")
_BEGUN = "{name} works in the background. Go on with something else: you are told when it is done."


async def _for_agent(tool: Tool, agent: AgentLike) -> Tool:
    """The tool listing whom this agent may call, without the arguments that only programs give."""
    other_agents = agent.use(OtherAgents).known(agent.name)
    properties = {name: schema for name, schema in tool.parameters["properties"].items() if name not in _NOT_SHOWN}
    offered = replace(tool, parameters=tool.parameters | {"properties": properties})
    return described(offered, agents=listed((one.name, one.description) for one in other_agents))


@tool(
    text="task.md",
    repeatable=False,
    known_as=("Task",),
    in_a_word=("subagent_type", {"description": "expected", "prompt": "expected"}),
    asks=True,
    init=_for_agent,
    caption="description",
    look=Look(
        verb="Agent", kind="think", subject="description", act="start {an agent}", lasting=True, child="sessionId"
    ),
)
async def task(
    ctx: ToolContext,
    description: Annotated[str, "3 to 5 words"],
    prompt: str,
    agent: Annotated[str, Field(name="subagent_type")],
    session_id: Annotated[str | None, Field("To go on with an earlier task", name="session_id")] = None,
    background: bool = False,
    copy: bool = False,
    stop: Annotated[bool, "End that of session_id, which works in the background"] = False,
    task_id: Annotated[str | None, Field("The same by another name", name="task_id")] = None,
    command: Annotated[str | None, "The command this comes from"] = None,
) -> Result:
    """Ask, let the agent work, and report. What a failed agent had come to is in the error."""
    earlier = session_id or task_id or ""
    if earlier and (note := await ctx.use(Subagents).attend(ctx, earlier, prompt, stop=stop)) is not None:
        return Result(note, title=description, metadata={"sessionId": earlier})
    if stop or not prompt.strip():
        raise ToolError(
            "Nothing works in the background there: it has ended, or session_id is not its own."
            if earlier
            else "Say in prompt what to do.",
            "not_found" if earlier else "schema",
        )
    agent = ctx.use(OtherAgents).name_of(agent)
    _require_known(ctx, agent)
    await _ask(ctx, agent, description)
    report = await ctx.use(Subagents).run(
        ctx,
        Delegation(
            description=description,
            prompt=prompt,
            agent=agent,
            session_id=earlier,
            command=command or "",
            background=background,
            copy=copy,
        ),
    )
    error = _failure(agent, report) if report.failure else None
    text = _BEGUN.format(name=report.text) if report.at_work else str(error or report.text)
    metadata: Json = {"sessionId": report.session_id, "summary": list(report.summary)}
    return Result(
        f"{text}\n\n<task_metadata>\nsession_id: {report.session_id}\n</task_metadata>",
        title=description,
        metadata=metadata | ({"background": True} if report.at_work else {}),
        error=error,
    )


async def _ask(ctx: ToolContext, agent: str, description: str) -> None:
    """An agent the user has named in the prompt needs no second yes; what a rule forbids stays forbidden."""
    request = Request(
        permission="task", patterns=(agent,), metadata={"description": description, "subagent_type": agent}
    )
    ctx.check(request)
    if agent not in ctx.mentioned:
        await ctx.ask_all(request)


def _require_known(ctx: ToolContext, agent: str) -> None:
    if agent in ctx.mentioned:
        return  # whom the user has named need not be one that the model is told of
    names = [one.name for one in ctx.use(OtherAgents).known(ctx.agent)]
    # One that a rule denies is not known either, but there the rule is the better answer.
    if agent not in names and ctx.decide("task", agent) != "deny":
        hint = f"There are: {', '.join(names)}." if names else "There are none; do the work yourself."
        raise ToolError(f"There is no agent {agent!r} to hand a task to. {hint}", "not_found")


def _failure(agent: str, report: Report) -> ToolError:
    so_far = f" What it had written by then:\n\n{report.text}" if report.text else " It had written nothing yet."
    return ToolError(
        f"The agent {agent} did not finish its task in session {report.session_id}: {report.failure}"
        f" Call task again with this session_id to let it go on.{so_far}"
    )
