"""The folders of a server: what cannot be opened is refused, and leaves nothing open."""

from pathlib import Path

import pytest

from toolwright.http_server.refusal import HttpRefusal
from toolwright.server.projects import Projects
from toolwright.session.store import StorageError
from toolwright.testing import make_workspace
from toolwright.workspace import Workspace


async def test_a_workspace_that_cannot_be_used_is_refused_and_closed(project: Path) -> None:
    made: list[Workspace] = []

    def make(folder: Path) -> Workspace:
        made.append(make_workspace(folder))
        return made[-1]

    async def opened(_: Workspace) -> None:
        raise StorageError("the records are damaged")

    projects = Projects(folders=[project], make=make, opened=opened)
    with pytest.raises(HttpRefusal, match="damaged"):
        await projects.of("")
    assert [one.closed for one in made] == [True]
    assert not projects.workspaces
