"""Conflicts handed to an agent: it makes in a copy of its own what one side wanted on top of what the other made."""

from collections.abc import Sequence

from toolwright.copies.attempts import Attempt, attempts
from toolwright.copies.merging import MergedCopy
from toolwright.session.prompt import Prompt
from toolwright.workspace import Workspace

_ASKED = """\
Somebody has worked in a copy of this project, and meanwhile the project has changed. In the files below both have \
changed the same thing, so it could not be put together by rule. Make what the copy wanted here, so that what the \
project has made of it meanwhile stays. Change nothing else. If both cannot be had, leave the file as it is and say why.
"""


async def settle(workspace: Workspace, parts: Sequence[MergedCopy], model: str, check: str) -> Attempt | None:
    """Have an agent settle the conflicts of a merge; None where there are none. Its copy holds what came of it."""
    contested = [part for part in parts if part.clashes]
    if not contested:
        return None
    prompt = Prompt(text=question(contested), model=model, verbatim=True, mentions=False)
    named = ", ".join(part.copy.name for part in contested)
    [attempt] = await attempts(workspace, lambda _: prompt, f"settle the conflicts of {named}", 1, check)
    return attempt


def question(parts: Sequence[MergedCopy]) -> str:
    """Return what the agent is asked: for each file what each side wanted, by its prompt and its diff."""
    passages = [_ASKED]
    for part in parts:
        wanted = f", which was made for: {part.copy.purpose}" if part.copy.purpose else ""
        passages.append(f"The copy {part.copy.name}{wanted}")
        for clash in part.clashes:
            passages.append(f"{clash.path}: {clash.reason}\n\nThe copy wanted:\n{clash.theirs}")
            passages.append(f"The project has made of it:\n{clash.ours}")
    return "\n\n".join(passages)
