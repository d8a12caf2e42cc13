"""What is asked after a change is on disk, and what the tools make of it."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.session.trial import call, calls, opened, says
from toolwright.definition import Call, Result
from toolwright.files.store import Commit, Files
from toolwright.session.session import Session
from toolwright.session.undo.file_back import Selection
from toolwright.session.undo.undo import Undo
from toolwright.testing import make_session

PATCH = "*** Begin Patch\n*** Update File: a.py\n@@\n-x=1\n+x=2\n*** Add File: b.py\n+y=1\n*** End Patch"
WRITES: dict[str, dict[str, Any]] = {
    "write": {"filePath": "a.py", "content": "x=2\n"},
    "edit": {"filePath": "a.py", "oldString": "x=1", "newString": "x=2"},
    "multiedit": {"filePath": "a.py", "edits": [{"oldString": "x=1", "newString": "x=2"}]},
    "apply_patch": {"patchText": PATCH},
}


async def formats(commit: Commit) -> None:
    """As a formatter: blanks around every `=`."""
    if isinstance(commit.after, bytes):
        commit.path.write_bytes(commit.after.replace(b"=", b" = "))


async def complains(commit: Commit) -> str:
    return f"ERROR [1:1] {commit.path.name} is wrong"


@pytest.fixture
def session(tmp_path: Path) -> Session:
    root = tmp_path / "project"
    root.mkdir()
    (root / "a.py").write_text("x=1\n")
    return make_session(root)


async def run(session: Session, tool: str, **arguments: Any) -> Result:
    await session.run_call(Call(id="c0", tool="read", arguments={"filePath": "a.py"}))
    return await session.run_call(Call(id="c1", tool=tool, arguments=arguments))


@pytest.mark.parametrize("tool", WRITES)
async def test_the_result_tells_what_is_on_disk_after_a_formatter(session: Session, tool: str) -> None:
    files = session.home.use(Files)
    files.committed.append(formats)
    result = await run(session, tool, **WRITES[tool])
    assert result.error is None
    assert (files.tree.root / "a.py").read_text() == "x = 2\n"
    assert "x = 2" in result.output
    assert "x=2" not in result.output.replace("x=2\n", "", 1) or tool == "write"
    shown = str(result.metadata.get("diff", "+x = 2"))
    assert "+x = 2" in shown
    assert "+x=2" not in shown


@pytest.mark.parametrize("tool", ["edit", "multiedit"])
async def test_what_a_formatter_wrote_counts_as_seen(session: Session, tool: str) -> None:
    files = session.home.use(Files)
    files.committed.append(formats)
    await run(session, tool, **WRITES[tool])
    again = Call(id="c2", tool="edit", arguments={"filePath": "a.py", "oldString": "x = 2", "newString": "x=3"})
    result = await session.run_call(again)
    assert result.error is None
    assert (files.tree.root / "a.py").read_text() == "x = 3\n"


@pytest.mark.parametrize("tool", WRITES)
async def test_what_is_said_joins_the_output_and_the_diagnostics(session: Session, tool: str) -> None:
    files = session.home.use(Files)
    files.committed.append(complains)
    result = await run(session, tool, **WRITES[tool])
    assert "\n\nERROR [1:1] a.py is wrong" in result.output
    assert result.metadata["diagnostics"][str(files.tree.root / "a.py")] == ["ERROR [1:1] a.py is wrong"]


@pytest.mark.parametrize("tool", WRITES)
async def test_without_anybody_asked_there_are_no_diagnostics(session: Session, tool: str) -> None:
    assert (await run(session, tool, **WRITES[tool])).metadata["diagnostics"] == {}


async def test_one_that_fails_loses_nothing(session: Session) -> None:
    async def fails(commit: Commit) -> str:
        raise RuntimeError("no such program")

    files = session.home.use(Files)
    files.committed += [fails, complains]
    result = await run(session, "edit", **WRITES["edit"])
    assert result.error is None
    assert "fails failed after the change of" in result.output
    assert "no such program" in result.output
    assert "ERROR [1:1]" in result.output
    assert (files.tree.root / "a.py").read_text() == "x=2\n"


async def test_one_that_takes_too_long_is_stopped(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    async def hangs(commit: Commit) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr("toolwright.files.store.SECONDS", 0.01)
    session.home.use(Files).committed.append(hangs)
    result = await run(session, "edit", **WRITES["edit"])
    assert result.error is None
    assert "and was stopped" in result.output


async def test_it_is_told_the_change_and_whose_it_is(session: Session) -> None:
    told: list[Commit] = []

    async def listens(commit: Commit) -> None:
        told.append(commit)

    files = session.home.use(Files)
    files.committed.append(listens)
    await run(session, "apply_patch", patchText=PATCH)
    assert [(one.path.name, one.before, one.after) for one in told] == [
        ("a.py", b"x=1\n", b"x=2\n"),
        ("b.py", None, b"y=1\n"),
    ]
    assert {one.call_id for one in told} == {"c1"}
    assert all(one.session_id for one in told)


async def test_nobody_else_can_write_the_file_meanwhile(session: Session) -> None:
    files = session.home.use(Files)
    ended: list[str] = []

    async def formats_slowly(commit: Commit) -> None:
        content = commit.path.read_bytes()
        for _ in range(100):  # time enough for whoever does not wait
            await asyncio.sleep(0)
        commit.path.write_bytes(content.replace(b"=", b" = "))
        ended.append("formatted")

    files.committed.append(formats_slowly)
    (files.tree.root / "a.py").write_text("x=1\ny=1\n")
    await session.run_call(Call(id="c0", tool="read", arguments={"filePath": "a.py"}))
    edits = [
        Call(
            id=f"c{name}", tool="edit", arguments={"filePath": "a.py", "oldString": f"{name}", "newString": f"{name}2"}
        )
        for name in "xy"
    ]
    results = await asyncio.gather(*map(session.run_call, edits))
    assert [result.error for result in results] == [None, None]
    assert (files.tree.root / "a.py").read_text().replace(" ", "") == "x2=1\ny2=1\n"


async def test_a_change_that_was_formatted_can_be_undone(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    script = (
        calls(call("read", filePath="a.txt")),
        calls(call("edit", filePath="a.txt", oldString="hello", newString="a=b")),
        calls(call("write", filePath="new", content="c=d\n")),
        says("Done."),
    )
    async with opened(project, *script) as trial:
        files = trial.workspace.files
        files.committed.append(formats)
        await trial.prompt()
        assert (project / "a.txt").read_text() == "a = b\nworld\n"
        undo = await Undo.of(files, trial.session.conversation)
        turn = Selection(turn=trial.messages[0].info.id)
        for _ in range(2):
            await undo.revert(turn)
            assert (project / "a.txt").read_text() == "hello\nworld\n"
            assert not (project / "new").exists()
            await undo.unrevert()
            assert (project / "a.txt").read_text() == "a = b\nworld\n"
            assert (project / "new").read_text() == "c = d\n"


async def test_a_large_file_that_was_formatted_can_be_undone(tmp_path: Path) -> None:
    """Of a large content only the part that changed is kept, twice over here."""
    project = tmp_path / "project"
    project.mkdir()
    lines = "".join(f"line {number}\n" for number in range(60_000))
    (project / "large").write_text(lines)
    script = (
        calls(call("read", filePath="large", limit=1)),
        calls(call("edit", filePath="large", oldString="line 30000\n", newString="a=b\n")),
        says("Done."),
    )
    async with opened(project, *script) as trial:
        files = trial.workspace.files
        files.committed.append(formats)
        await trial.prompt()
        assert "a = b\n" in (project / "large").read_text()
        await (await Undo.of(files, trial.session.conversation)).revert(Selection(file="large"))
    assert (project / "large").read_text() == lines


async def test_a_call_that_is_stopped_while_others_are_asked_knows_what_is_on_disk(session: Session) -> None:
    files = session.home.use(Files)
    reached = asyncio.Event()

    async def formats_then_waits(commit: Commit) -> None:
        commit.path.write_text("x = 2\n")
        reached.set()
        await asyncio.Event().wait()

    files.committed.append(formats_then_waits)
    task = asyncio.create_task(run(session, "edit", **WRITES["edit"]))
    await reached.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    files.committed.clear()
    again = Call(id="c2", tool="edit", arguments={"filePath": "a.py", "oldString": "x = 2", "newString": "x = 3"})
    assert (await session.run_call(again)).error is None
