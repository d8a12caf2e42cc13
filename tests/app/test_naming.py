"""A session by what a person calls it: the same names at every door."""

from pathlib import Path

import pytest

from toolwright.app.naming import named_session
from toolwright.app.project import LocalProject
from toolwright.errors import UsageError
from toolwright.testing import make_workspace


async def test_an_id_two_words_or_the_beginning_of_either_name_a_session_and_last_the_newest(project: Path) -> None:
    async with make_workspace(project, keep=True) as workspace:
        here = LocalProject(workspace)
        first, second = await here.begin(), await here.begin()
        below = workspace.sessions.create(parent=await workspace.sessions.open(first.id)).info
        for info in (first, second, below):
            for name in (info.id, info.id[:-1], info.slug, info.slug[: len(info.slug) - 1]):
                assert (await named_session(here, name)).id == info.id
        assert (await named_session(here, "last")).id == second.id
        with pytest.raises(UsageError, match="fits 3 sessions; give more"):
            await named_session(here, first.id[:6])
        for wrong in ("nope", "ses_", "ses_nope"):
            with pytest.raises(UsageError, match=f"There is no session '{wrong}'"):
                await named_session(here, wrong)


async def test_without_a_session_there_is_no_last(project: Path) -> None:
    async with make_workspace(project, keep=True) as workspace:
        with pytest.raises(UsageError, match="no session to go on with in this project yet"):
            await named_session(LocalProject(workspace), "last")
