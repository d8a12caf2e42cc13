"""The file tools through the front door: a whole session with the default rules."""

from pathlib import Path

import pytest

from toolwright.definition import Call, Result
from toolwright.testing import make_session


async def _call(root: Path, tool: str, **arguments: object) -> Result:
    return await make_session(root).run_call(Call(id="c1", tool=tool, arguments=arguments))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    (root / ".git").mkdir(parents=True)
    return root


@pytest.mark.parametrize(
    ("name", "denied"),
    [
        (".env", True),
        (".ENV", True),
        (".env.local", True),
        ("prod.env", True),
        ("deep/my.env.txt", True),
        (".env.example", False),
        (".envrc", True),
        ("environment.ts", False),
    ],
)
async def test_files_of_secrets_are_not_read(project: Path, name: str, denied: bool) -> None:
    (project / name).parent.mkdir(exist_ok=True)
    (project / name).write_text("KEY=1\n")
    result = await _call(project, "read", filePath=name)
    assert ("KEY=1" not in result.output) is denied
    assert (result.error is not None and result.error.kind == "denied") is denied


@pytest.mark.parametrize("spelling", ["notes.txt", "./deep/../notes.txt", "alias/.env"])
async def test_nor_through_links_and_dots(project: Path, spelling: str) -> None:
    (project / "deep").mkdir()
    (project / "deep" / ".env").write_text("KEY=1\n")
    (project / "notes.txt").symlink_to("deep/.env")
    (project / "alias").symlink_to("deep")
    result = await _call(project, "read", filePath=spelling)
    assert result.error is not None
    assert result.error.kind == "denied"


@pytest.mark.parametrize(("tool", "more"), [("read", {}), ("write", {"content": "x"})])
async def test_outside_is_not_touched_without_an_answer(project: Path, tool: str, more: dict[str, str]) -> None:
    outside = project.parent / "outside"
    outside.mkdir()
    (project / "out").symlink_to(outside)
    result = await _call(project, tool, filePath="out/new.txt", **more)
    assert result.error is not None
    assert result.error.kind == "rejected"
    assert list(outside.iterdir()) == []


async def test_a_file_is_read_then_written(project: Path) -> None:
    (project / "a.txt").write_text("one\n")
    session = make_session(project)
    refused = await session.run_call(Call(id="c1", tool="write", arguments={"filePath": "a.txt", "content": "two\n"}))
    assert refused.error is not None
    assert refused.error.kind == "unread"
    shown = await session.run_call(Call(id="c2", tool="read", arguments={"filePath": "a.txt"}))
    assert shown.metadata["truncated"] is False
    written = await session.run_call(Call(id="c3", tool="write", arguments={"filePath": "a.txt", "content": "two\n"}))
    assert written.error is None
    assert (project / "a.txt").read_text() == "two\n"


@pytest.mark.parametrize("arguments", [{"offset": -1}, {"offset": 1.5}, {"limit": -1}, {"column": 0}, {"offset": "x"}])
async def test_numbers_that_make_no_sense_never_reach_the_file(project: Path, arguments: dict[str, object]) -> None:
    (project / "a.txt").write_text("one\n")
    result = await _call(project, "read", filePath="a.txt", **arguments)
    assert result.error is not None
    assert result.error.kind == "schema"
