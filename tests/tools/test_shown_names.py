"""Names in a folder that may not be read are not shown, by whatever tool; that of a file denied by its own name is."""

from pathlib import Path
from typing import Any

import pytest

from tests.files.tool_case import lay_out
from toolwright.testing import make_workspace
from toolwright.workspace import Workspace

DENIED: dict[str, Any] = {"read": {"*": "allow", "closed/*": "deny", "*.env": "deny"}}
OPEN_WITHIN: dict[str, Any] = {"read": {"*": "allow", "closed/*": "deny", "closed/open.txt": "allow"}}
ONLY_ONE: dict[str, Any] = {"read": {"*": "deny", "src/*": "allow"}}
NOTHING: dict[str, Any] = {"read": "deny"}


@pytest.fixture
def stocked(project: Path) -> Path:
    lay_out(project, {"src/a.py": "a\n", "closed/key.txt": "k\n", "closed/deep/inner.txt": "k\n", ".env": "k\n"})
    lay_out(project, {"closed/open.txt": "o\n"})
    (project / "link").symlink_to(project / "closed")
    return project


async def shown(workspace: Workspace, tool: str) -> str:
    calls: dict[str, list[dict[str, Any]]] = {
        "glob": [{"pattern": "**/*"}, {"pattern": "key.txt"}, {"pattern": "*", "path": "closed"}],
        "list": [{}, {"path": "closed"}, {"path": "link"}],
        "read": [{"filePath": "closed"}, {"filePath": "closed/deep"}, {"filePath": "link"}],
    }
    return "\n".join([(await workspace.call(tool, **arguments)).output for arguments in calls[tool]])


@pytest.mark.parametrize("tool", ["glob", "list", "read"])
async def test_names_in_a_folder_that_may_not_be_read_are_not_shown(stocked: Path, tool: str) -> None:
    async with make_workspace(stocked, config={"permission": DENIED}) as workspace:
        output = await shown(workspace, tool)
    assert "inner.txt" not in output
    assert "open.txt" not in output
    # The pattern itself is told again.
    assert not any(line.endswith("/key.txt") or line.strip() == "key.txt" for line in output.splitlines())
    if tool != "read":
        assert "a.py" in output
        assert ".env" in output


@pytest.mark.parametrize("tool", ["glob", "list", "read"])
async def test_a_name_that_a_rule_opens_again_is_shown(stocked: Path, tool: str) -> None:
    async with make_workspace(stocked, config={"permission": OPEN_WITHIN}) as workspace:
        output = await shown(workspace, tool)
    assert "open.txt" in output
    assert "inner.txt" not in output


async def test_where_one_folder_alone_may_be_read_the_names_in_others_are_not_shown(stocked: Path) -> None:
    async with make_workspace(stocked, config={"permission": ONLY_ONE}) as workspace:
        output = await shown(workspace, "glob") + await shown(workspace, "list")
    assert "a.py" in output
    assert "inner.txt" not in output


async def test_who_may_read_nothing_and_search_all_the_same_sees_names(stocked: Path) -> None:
    async with make_workspace(stocked, config={"permission": NOTHING}) as workspace:
        assert "inner.txt" in await shown(workspace, "glob")


async def test_a_search_for_a_name_tells_nothing_of_what_it_left_out(stocked: Path) -> None:
    async with make_workspace(stocked, config={"permission": DENIED}) as workspace:
        hit = await workspace.call("glob", pattern="key.txt")
        miss = await workspace.call("glob", pattern="nothing.txt")
    assert hit.output == miss.output
    assert hit.metadata == miss.metadata


async def test_a_list_says_that_names_were_left_out(stocked: Path) -> None:
    async with make_workspace(stocked, config={"permission": DENIED}) as workspace:
        for call in (workspace.call("list", path="closed"), workspace.call("read", filePath="closed")):
            assert "Names in folders that may not be read were left out." in (await call).output
        assert "left out" not in (await workspace.call("list", path="src")).output
