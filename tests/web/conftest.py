"""What the tests of the web share: a site on loopback, and a session that may read it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.web.site import Reader, Site, make_reader, opened, serving


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    async with serving() as made:
        yield made


@pytest.fixture
async def reader(project: Path, site: Site) -> AsyncIterator[Reader]:
    made = make_reader(project, opened(site))
    yield made
    await made.workspace.close()
