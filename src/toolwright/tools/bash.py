"""The bash tool: runs command lines, and looks after those that run on."""

from typing import Annotated

from toolwright.errors import ToolError
from toolwright.signature import Field
from toolwright.tool import Result, ToolContext, tool

TIMEOUT = 120_000
LONGEST = 24 * 3600 * 1000
BACKGROUND_WAIT = 1000


@tool(text="bash.md", asks=True)
async def bash(
    ctx: ToolContext,
    command: Annotated[str, "The command line to run"] = "",
    timeout: Annotated[  # noqa: ASYNC109 - it ends the command, not this function
        int | None,
        Field("Milliseconds after which the command is ended", schema={"minimum": 1, "maximum": LONGEST}),
    ] = None,
    workdir: Annotated[str | None, "The folder to run it in; the project folder if left out"] = None,
    description: Annotated[str | None, "What it is for, in five to ten words"] = None,
    background: Annotated[bool, "Leave it running as a job when the time is over, and let it take input"] = False,
    job: Annotated[str | None, "Instead of a command: a job to look at, as in job_1"] = None,
    text: Annotated[str | None, Field("With job: what to type into it", name="input")] = None,
    stop: Annotated[bool, "With job: end it"] = False,
) -> Result:
    """Run a command, or attend to a job."""
    # What it takes to understand and run a command is loaded for the first one, not for a list of the tools.
    from toolwright.tools._commands import Run, attend

    if job and command.strip():
        raise ToolError("A call has either a command or a job, not both. Leave one out.", "schema")
    if job:
        return await attend(ctx, job, text=text, stop=stop, milliseconds=timeout)
    patience = timeout or (BACKGROUND_WAIT if background else None)
    return await Run(ctx, command, description or "", background=background).carry_out(workdir, patience)
