"""Merging copies into their project: tried in a copy of it as it is now, judged by its check, then written at once."""

from collections.abc import Sequence
from contextlib import AsyncExitStack, ExitStack
from dataclasses import field

from toolwright.copies.applying import Put, changes_between
from toolwright.copies.life import drop_copy, make_copy
from toolwright.copies.merging import MergedCopy, merge_into
from toolwright.copies.referee import referee
from toolwright.copies.store import TRIAL, Copy
from toolwright.definition import Result
from toolwright.errors import UsageError
from toolwright.record import record
from toolwright.workspace import Workspace


@record(slots=True)
class MergeOutcome:
    """Outcome of a merge."""

    parts: list[MergedCopy]
    paths: list[str] = field(default_factory=list[str])
    """The files of the project that change."""
    diff: str = ""
    result: Result | None = None
    """Of the call that wrote it; None where nothing was written."""

    @property
    def whole(self) -> bool:
        """Tell whether everything of every copy is in the project."""
        return all(part.whole for part in self.parts) and (self.result is None or self.result.error is None)


async def merge(
    workspace: Workspace,
    put: Put,
    copies: Sequence[Copy],
    *,
    check: str = "",
    rest: bool = False,
    preview: bool = False,
) -> MergeOutcome:
    """Merge copies into the project of a workspace; `put` writes what that comes to.

    The project is not touched before a state is found that holds; without `rest` a copy is taken whole or not at all.
    """
    with ExitStack() as held:
        trial = await make_copy(workspace, TRIAL, held)
        try:
            async with AsyncExitStack() as stack:
                judge = await stack.enter_async_context(referee(trial, check)) if check else None
                if judge is not None and (wrong := await judge()):
                    raise UsageError(f"The check fails in the project as it is, before anything is merged. {wrong}")
                outcome = MergeOutcome(await merge_into(trial, copies, judge, rest=rest))
                base = (await trial.repository.git("rev-parse", "HEAD^{tree}")).strip()
                tree = await trial.tree()
                changes = await changes_between(trial.repository, base, tree, workspace.files.tree)
            outcome.paths = [change.place.relative for change in changes]
            outcome.diff = await trial.repository.git(
                "diff", "--no-color", "--no-ext-diff", "--find-renames", base, tree
            )
            if changes and not preview:
                outcome.result = await put([part.copy.name for part in outcome.parts if part.taken], changes)
        finally:
            await drop_copy(workspace, trial)
    return outcome
