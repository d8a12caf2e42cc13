"""Which tools the prompt of a turn leaves on."""

from pathlib import Path

import pytest

from toolwright.session.turns.terms import CallTerms
from toolwright.testing import make_session


@pytest.mark.parametrize(
    ("withheld", "wanted", "offered"),
    [
        ((), None, ["glob", "read"]),
        (("glob",), None, ["read"]),
        ((), ("read",), ["read"]),
        ((), (), []),
        (("read",), ("read", "glob"), ["glob"]),
    ],
)
def test_a_tool_is_offered_unless_it_is_switched_off_or_only_others_are_wanted(
    project: Path, withheld: tuple[str, ...], wanted: tuple[str, ...] | None, offered: list[str]
) -> None:
    terms = CallTerms(
        agent=make_session(project).ruled_agent_named("build").agent,
        withheld=frozenset(withheld),
        wanted=None if wanted is None else frozenset(wanted),
    )
    assert [tool for tool in ("glob", "read") if terms.offers(tool)] == offered
