"""The schemas of the built-in tools, letter by letter: what a model was trained on or told before stays as it is."""

import json
from pathlib import Path

import pytest

from toolwright.tools import builtin

OFFERED = json.loads((Path(__file__).parent / "offered.json").read_text("utf-8"))
"""To change one on purpose, change it there."""
TOOLS = {source.id: source for source in builtin()}


def test_every_built_in_tool_is_listed() -> None:
    assert list(OFFERED) == list(TOOLS)


@pytest.mark.parametrize("tool_id", OFFERED)
def test_a_model_is_sent_the_same_schema_as_ever(tool_id: str) -> None:
    assert json.dumps(TOOLS[tool_id].load().parameters) == json.dumps(OFFERED[tool_id])
