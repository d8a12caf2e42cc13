"""A question that the user answers by yes or no, and that lets the call go on only after yes."""

from toolwright.calls.request import Option
from toolwright.definition import ToolContext
from toolwright.errors import PermissionRejected
from toolwright.inbox import Choice
from toolwright.services import Questions

YES, NO = "Yes", "No"


async def require_agreement(ctx: ToolContext, *, header: str, question: str, yes: str, no: str) -> None:
    """Return if the user says yes; otherwise PermissionRejected. `yes` and `no` say what either answer leads to."""
    options = (Option(label=YES, description=yes), Option(label=NO, description=no))
    asked = Choice(question=question, header=header, options=options, custom=False)
    answers = await ctx.use(Questions).ask(ctx, [asked])
    if answers != [[YES]]:
        raise PermissionRejected(f"The user said no to this: {question} Stay with {ctx.agent} and wait for their word.")
