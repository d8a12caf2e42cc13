"""Files that nobody may write: changed only after a question, whatever the rules allow."""

import stat
from pathlib import Path
from typing import Any

import pytest

from toolwright.definition import Call, Result
from toolwright.session.session import Session
from toolwright.testing import ScriptedUser, make_session

PATCH = "*** Begin Patch\n*** Update File: gen.py\n@@\n-one\n+two\n*** End Patch"
DELETES = "*** Begin Patch\n*** Delete File: gen.py\n*** End Patch"
WAYS: dict[str, dict[str, Any]] = {
    "write": {"filePath": "gen.py", "content": "two\n"},
    "edit": {"filePath": "gen.py", "oldString": "one", "newString": "two"},
    "multiedit": {"filePath": "gen.py", "edits": [{"oldString": "one", "newString": "two"}]},
    "apply_patch": {"patchText": PATCH},
}


@pytest.fixture
def file(project: Path) -> Path:
    (project / "gen.py").write_text("one\n")
    (project / "gen.py").chmod(0o444)
    return project / "gen.py"


async def run(session: Session, tool: str, **arguments: Any) -> Result:
    return await session.run_call(Call(id=tool, tool=tool, arguments=arguments))


@pytest.mark.parametrize("tool", WAYS)
async def test_it_is_asked_about_with_the_reason(tool: str, project: Path, file: Path) -> None:
    user = ScriptedUser.saying("reject", "once")
    session = make_session(project, user=user)
    await run(session, "read", filePath="gen.py")
    refused = await run(session, tool, **WAYS[tool])
    assert (refused.error is not None, file.read_text()) == (True, "one\n")
    allowed = await run(session, tool, **WAYS[tool])
    assert (allowed.error, file.read_text(), stat.S_IMODE(file.stat().st_mode)) == (None, "two\n", 0o444)
    reasons = ["gen.py is read-only (mode 0444), which somebody may have meant."]
    assert [question.metadata["reasons"] for question in user.questions] == [reasons] * 2


async def test_so_is_deleting_it(project: Path, file: Path) -> None:
    user = ScriptedUser.saying("reject")
    session = make_session(project, user=user)
    assert (await run(session, "apply_patch", patchText=DELETES)).error is not None
    assert file.exists()
    assert len(user.questions) == 1


async def test_a_file_that_can_be_written_is_not_asked_about(project: Path, file: Path) -> None:
    file.chmod(0o644)
    user = ScriptedUser()
    session = make_session(project, user=user)
    await run(session, "read", filePath="gen.py")
    assert (await run(session, "write", **WAYS["write"])).error is None
    assert user.questions == []
