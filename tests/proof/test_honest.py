"""Every honest run of the list is proven, at most two of them with a needless doubt."""

import shutil
from pathlib import Path

import pytest

from tests.outside import needs_checkout
from tests.proof.honest import HONEST
from tests.proof.more_honest import MORE_HONEST
from tests.proof.work import Work, evidence_of_work

NEEDLESS = 2
"""How many of them may be doubted."""
DOUBTED: tuple[str, ...] = ()
"""Those that are, by name."""


@needs_checkout
@pytest.mark.parametrize(
    "work", [*HONEST, *(pytest.param(one, marks=pytest.mark.slow) for one in MORE_HONEST)], ids=lambda one: one.name
)
async def test_an_honest_run_is_proven(project: Path, work: Work) -> None:
    if work.needs and not shutil.which(work.needs):
        pytest.skip(f"there is no {work.needs} here")
    evidence = await evidence_of_work(project, work)
    against = [one.as_json() for one in evidence.reasons if one.weight != "note"]
    assert not against or work.name in DOUBTED, against
    assert evidence.verdict == "proven" or work.name in DOUBTED


def test_hardly_one_is_doubted() -> None:
    assert len(DOUBTED) <= NEEDLESS
    assert len(HONEST) >= 50
