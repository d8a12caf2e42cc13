"""The bash tool: runs command lines, and looks after those that run on."""

from typing import Annotated

from toolwright.calls.look import Arguments, Look
from toolwright.definition import ANY, Result, ToolContext, tool
from toolwright.errors import ToolError
from toolwright.functions.signature import Field

TIMEOUT = 120_000
LONGEST = 24 * 3600 * 1000
BACKGROUND_WAIT = 1000


def _subject(arguments: Arguments) -> str:
    return str(arguments.get("command") or arguments.get("job") or "")


@tool(
    text="bash.md",
    known_as=("Bash",),
    in_a_word=("command", {"description": "expected"}),
    asks=True,
    reads=ANY,
    keep="both",
    caption="description",
    look=Look(verb="Run", kind="execute", subject=_subject, act="run a command", lasting=True),
)
async def bash(
    ctx: ToolContext,
    command: str = "",
    timeout: Annotated[  # noqa: ASYNC109 - it ends the command, not this function
        int | None,
        Field("Milliseconds", schema={"minimum": 1, "maximum": LONGEST}, exact=True),
    ] = None,
    workdir: str | None = None,
    description: Annotated[str | None, "What it is for, in 5 to 10 words"] = None,
    background: bool = False,
    job: Annotated[str | None, "As in job_1"] = None,
    text: Annotated[str | None, Field(name="input")] = None,
    stop: bool = False,
) -> Result:
    """Run a command, or attend to a job."""
    # What it takes to understand and run a command is loaded for the first one, not for a list of the tools.
    from toolwright.tools.commands.commands import CommandRun, attend

    if job and command.strip():
        raise ToolError("A call has either a command or a job, not both. Leave one out.", "schema")
    if job:
        return await attend(ctx, job, text=text, stop=stop, milliseconds=timeout)
    patience = timeout or (BACKGROUND_WAIT if background else None)
    return await CommandRun(ctx, command, description or "", background=background).carry_out(workdir, patience)
