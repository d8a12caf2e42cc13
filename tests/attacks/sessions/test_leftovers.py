"""What is left of a session when it is over: of a closed one its records, of a deleted one nothing."""

from pathlib import Path

import pytest

from tests.session.trial import call, calls, opened, says
from toolwright.errors import UsageError
from toolwright.inbox import Reply
from toolwright.testing import ScriptedUser
from toolwright.text.ids import now
from toolwright.workspace import Workspace

SCRIPT = (
    calls(
        call("todowrite", todos=[{"id": "1", "content": "x", "status": "pending", "priority": "low"}]),
        call("write", filePath="b.txt", content="b\n"),
        call("read", filePath="a.txt"),
        call("webfetch", url="http://127.0.0.1:9/x", format="text"),
    ),
    calls(call("task", description="Job", prompt="Sub job.", subagent_type="general")),
    calls(call("write", filePath="c.txt", content="c\n"), match="^Sub job"),
    says("Sub.", match="^Sub job"),
    says("One."),
)


def _kept(workspace: Workspace, session_id: str) -> set[str]:
    """Which services remember the session."""
    remembered = {
        "open": session_id in workspace.sessions_open,
        "todos": session_id in repr(workspace.todos),
        "seen files": session_id in repr(vars(workspace.files).values()) or _sees(workspace, session_id),
        "approvals": session_id in repr(workspace.gate.approvals),
        "changes": bool(workspace.files.journal.entries(session_id)),
    }
    return {name for name, there in remembered.items() if there}


def _sees(workspace: Workspace, session_id: str) -> bool:
    return any(session_id in str(getattr(one, "__dict__", one)) for one in vars(workspace.files).values())


@pytest.mark.parametrize("how", ["close", "delete", "collect"])
async def test_everything_kept_for_a_session_goes_with_it(project: Path, how: str) -> None:
    user = ScriptedUser([Reply(kind="always", scope="session")] * 9)
    config = {"permission": {"todowrite": "ask", "edit": "ask"}}
    async with opened(project, *SCRIPT, user=user, config=config) as trial:
        await trial.prompt("First.")
        workspace, name = trial.workspace, trial.session.id
        [child] = await workspace.sessions.children(name)
        assert _kept(workspace, name) == {"open", "todos", "seen files", "approvals", "changes"}
        match how:
            case "close":
                await trial.session.close()
                await workspace.sessions.opened(child.id).close()
            case "delete":
                await workspace.sessions.delete(name)
            case _:
                await trial.session.close()
                await workspace.sessions.opened(child.id).close()
                assert set(await workspace.sessions.collect(now() + 1000)) == {name, child.id}
        left = {"changes"} if how == "close" else set()
        assert (_kept(workspace, name), _kept(workspace, child.id)) == (left, left)
        assert await workspace.store.leases() == []
        assert await workspace.store.knows(name) == (how == "close")


async def test_a_session_that_is_open_is_not_collected(project: Path) -> None:
    async with opened(project, says("One.")) as trial:
        await trial.prompt("First.")
        assert await trial.workspace.sessions.collect(now() + 1000) == []


async def test_a_deleted_session_cannot_be_prompted_back_to_life(project: Path) -> None:
    async with opened(project, says("One."), says("Two.")) as trial:
        await trial.prompt("First.")
        await trial.workspace.sessions.delete(trial.session.id)
        with pytest.raises(UsageError, match="was left"):
            await trial.session.prompt("Second.")
        assert await trial.workspace.sessions.listed() == []
