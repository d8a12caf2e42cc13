"""JSON Schema's own test suite, of the drafts that tools use, where it is installed (make real)."""

import json
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from toolwright.schema.check import problems_with

SUITE = Path(".venv/judges/schema/json").absolute()
REQUIRED = {"draft2020-12": 1257, "draft7": 913}
"""How many tests every validator has to pass, in the suite that jsonschema 4.26.0 ships."""
MISSED = {"draft2020-12": 1, "draft7": 1}
"""A metaschema that switches all checks off, and an anchor of the old form in another document."""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not SUITE.is_dir(), reason="needs JSON Schema's test suite: make real"),
]


@cache
def documents(draft: str) -> dict[str, Any]:
    """What references in the tests may lead to: the files beside them, and the drafts themselves."""
    registry: Any = import_module("jsonschema_specifications").REGISTRY

    found: dict[str, Any] = {uri.rstrip("#"): registry.contents(uri) for uri in registry}
    for file in (SUITE / "remotes").rglob("*.json"):
        name = file.relative_to(SUITE / "remotes").as_posix()
        if not name.startswith("draft") or name.startswith(draft):
            found[f"http://localhost:1234/{name}"] = json.loads(file.read_text("utf-8"))
    return found


def cases_of(draft: str) -> Iterator[tuple[str, Any, Any, bool]]:
    for file in sorted((SUITE / "tests" / draft).glob("*.json")):
        for group in json.loads(file.read_text("utf-8")):
            schema = group["schema"]
            if draft == "draft7" and isinstance(schema, dict):
                schema = {"$schema": "http://json-schema.org/draft-07/schema#", **schema}
            for test in group["tests"]:
                yield f"{file.name}: {group['description']}: {test['description']}", schema, test["data"], test["valid"]


@pytest.mark.parametrize("draft", REQUIRED)
def test_the_required_tests_pass(draft: str) -> None:
    every = list(cases_of(draft))
    assert len(every) == REQUIRED[draft]
    missed = [
        name
        for name, schema, data, valid in every
        if (not problems_with(data, schema, closed=True, documents=documents(draft))) is not valid
    ]
    assert len(missed) <= MISSED[draft], "\n".join(missed)
