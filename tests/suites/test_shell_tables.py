"""What Gemini CLI and Qwen Code hold their shell rules to, by their own test files (make real)."""

import json
import subprocess
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from toolwright.process.programs import nodejs
from toolwright.testing import make_workspace

FOLDER = Path(".venv/judges/suites").absolute()
FILES = {
    "Gemini CLI": ("gemini/package/dist/src/policy", ("shell-safety", "shell-safety-regression", "shell-substitution")),
    "Qwen Code": ("qwen/package/dist/src/utils", ("shellReadOnlyChecker",)),
}
ROWS = {"Gemini CLI": 38, "Qwen Code": 10}
OTHERWISE = {
    "Gemini CLI": ["git log > /tmp/test", "echo hi > /tmp/test"],
    "Qwen Code": ['git commit -am "msg"'],
}
"""Decided otherwise: what is written into the temporary folder is the box's own, and a commit takes nothing away."""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not FOLDER.is_dir(), reason="needs the packages of Gemini CLI and Qwen Code: make real"),
    pytest.mark.skipif(find_spec(nodejs.PACKAGE) is None, reason="needs the extra js"),
]


def rows_of(file: Path) -> list[dict[str, Any]]:
    """What a test file expects, by running it with stand-ins for what it tests."""
    spec = find_spec(nodejs.PACKAGE)
    assert spec is not None
    assert spec.origin is not None
    node = Path(spec.origin).parent / "bin/node"
    words = [str(node), str(Path(__file__).with_name("rows.mjs")), str(file)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def rules_of(row: dict[str, Any]) -> dict[str, Any]:
    """The rules of a test as ours. One of Qwen Code asks only whether a command changes anything."""
    if "rules" not in row:
        return {"edit": "ask"}
    prefixes = {one["prefix"].removeprefix('"command":"').removesuffix('"'): one["action"] for one in row["rules"]}
    both = {f"{prefix}{end}": action for prefix, action in prefixes.items() for end in ("", " *")}
    return {"bash": {"*": row["otherwise"], **both}}


def expected(row: dict[str, Any]) -> str:
    return {True: "allow", False: "ask"}.get(row["expected"], str(row["expected"]))


@pytest.mark.parametrize("program", FILES)
async def test_their_shell_tables_are_decided_the_same(program: str, project: Path) -> None:
    folder, names = FILES[program]
    rows = [row for name in names for row in rows_of(FOLDER / folder / f"{name}.test.js")]
    assert len(rows) == ROWS[program]
    otherwise = []
    for row in rows:
        async with make_workspace(project, rules=rules_of(row)) as workspace:
            decision = await workspace.decide("bash", command=row["command"])
        if decision.action != expected(row):
            otherwise.append(row["command"])
    assert otherwise == OTHERWISE[program]
