"""The plan_enter tool: hands the session to the plan agent, if the user agrees."""

from toolwright.calls.look import Look
from toolwright.definition import Result, ToolContext, tool
from toolwright.services import Modes
from toolwright.tools._agreement import require_agreement


@tool(
    text="plan_enter.md",
    repeatable=False,
    offered=lambda offer: offer.plan_mode and offer.client == "cli" and offer.attended,
    look=Look(verb="Begin to plan", kind="switch_mode"),
)
async def plan_enter(ctx: ToolContext) -> Result:
    """Ask the user and switch."""
    modes = ctx.use(Modes)
    file = modes.plan_file(ctx.session_id)
    await require_agreement(
        ctx,
        header="Plan first",
        question=f"Shall the plan agent work out a plan first, and write it to {file}?",
        yes="Look and think first; nothing but the plan is written",
        no=f"Stay with {ctx.agent} and begin the work",
    )
    modes.switch(
        ctx,
        "plan",
        f"The user wants a plan first. Look into the task and write the plan to {file}; change nothing else."
        " Call plan_exit when it is complete.",
    )
    return Result(f"The user agreed. From now on the plan agent works; the plan goes to {file}.", title="Planning")
