"""The plan_exit tool: hands the session back to the build agent, if the user approves the plan."""

from toolwright.calls.look import Look
from toolwright.definition import Result, ToolContext, tool
from toolwright.services import Modes
from toolwright.tools._agreement import require_agreement


@tool(
    text="plan_exit.md",
    repeatable=False,
    offered=lambda offer: offer.plan_mode and offer.client == "cli" and offer.attended,
    look=Look(verb="Carry out the plan", kind="switch_mode"),
)
async def plan_exit(ctx: ToolContext) -> Result:
    """Ask the user and switch."""
    modes = ctx.use(Modes)
    file = modes.plan_file(ctx.session_id)
    await require_agreement(
        ctx,
        header="Begin the work",
        question=f"The plan in {file} is complete. Shall the build agent carry it out?",
        yes="Carry the plan out now",
        no=f"Stay with {ctx.agent} and go on planning",
    )
    modes.switch(ctx, "build", f"The user has approved the plan in {file}. You may change files again: carry it out.")
    return Result(f"The user approved. From now on the build agent works by the plan in {file}.", title="Plan approved")
