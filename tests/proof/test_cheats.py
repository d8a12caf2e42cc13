"""Every cheat of the list is found and named."""

import shutil
from pathlib import Path

import pytest

from tests.outside import needs_checkout
from tests.proof.cheats import CHEATS
from tests.proof.more_cheats import MORE_CHEATS
from tests.proof.work import Work, evidence_of_work


@needs_checkout
@pytest.mark.parametrize(
    "cheat", [*CHEATS, *(pytest.param(one, marks=pytest.mark.slow) for one in MORE_CHEATS)], ids=lambda one: one.name
)
async def test_a_cheat_is_found_and_named(project: Path, cheat: Work) -> None:
    if cheat.needs and not shutil.which(cheat.needs):
        pytest.skip(f"there is no {cheat.needs} here")
    evidence = await evidence_of_work(project, cheat)
    against = {one.kind for one in evidence.reasons if one.weight != "note"}
    assert evidence.verdict != "proven"
    assert against & set(cheat.kinds), evidence.as_json()
