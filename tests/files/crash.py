"""Kills a process at every step of a commit, one after the other, and checks what is left after the next start.

Run as `python crash.py SCENARIO FOLDER`; prints how many steps were tried.
"""

import asyncio
import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from toolwright.files.paths import Tree
from toolwright.files.store import Change, Files

STEPS = ("open", "write", "fsync", "link", "unlink", "replace", "mkdir", "ftruncate", "fchmod", "utime", "rmdir")
OLD, NEW = b"old line\n" * 2000, b"the new one\n" * 3000

State = dict[str, bytes | None]
SCENARIOS: dict[str, tuple[State, State]] = {
    "replace": ({"a": OLD}, {"a": NEW}),
    "large": ({"a": OLD * 20}, {"a": b"first\n" + OLD * 20}),
    "create": ({"deep/er/a": None}, {"deep/er/a": NEW}),
    "delete": ({"a": OLD}, {"a": None}),
    "linked": ({"a": OLD}, {"a": NEW}),
    "linked_shorter": ({"a": NEW}, {"a": OLD}),
    "several": (
        {"a": OLD, "b": OLD, "c": None, "d": OLD, "e": b""},
        {"a": NEW, "b": None, "c": NEW, "d": b"", "e": NEW},
    ),
}


def main(scenario: str, folder: Path) -> None:
    before, after = SCENARIOS[scenario]
    step, seen, finished = 0, set[str](), False
    while not finished:
        step += 1
        project, data = folder / str(step) / "project", folder / str(step) / "data"
        project.mkdir(parents=True)
        _lay_out(project, before, linked=scenario.startswith("linked"))
        finished = _commit_and_die(project, data, before, after, step)
        Files(Tree(project), data)
        seen.add(_check(project, data, before, after, linked=scenario.startswith("linked")))
    sys.stdout.write(json.dumps({"steps": step, "seen": sorted(seen)}))


def _lay_out(project: Path, state: State, *, linked: bool) -> None:
    for name, content in state.items():
        if content is not None:
            (project / name).write_bytes(content)
    if linked:
        os.link(project / "a", project / "twin")


def _commit_and_die(project: Path, data: Path, before: State, after: State, step: int) -> bool:
    """Commit in a child that dies at this step; True if there are not so many steps."""
    child = os.fork()
    if child:
        _, status = os.waitpid(child, 0)
        return status == 0
    die_at(step)
    files = Files(Tree(project), data)
    changes = [Change(place=files.tree.place(name), before=before[name], after=after[name]) for name in before]
    asyncio.run(files.commit(changes, session_id="s", call_id="c"))
    os._exit(0)


def die_at(step: int) -> None:
    left = step

    def dying(name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def step_or_die(*arguments: Any, **more: Any) -> Any:
            nonlocal left
            # Only looking changes nothing.
            left -= name != "open" or bool(arguments[1] & os.O_CREAT)
            if left == 0 and (name != "open" or arguments[1] & os.O_CREAT):
                if name == "write":
                    call(arguments[0], arguments[1][: len(arguments[1]) // 2])
                os.kill(os.getpid(), signal.SIGKILL)
            return call(*arguments, **more)

        return step_or_die

    for name in STEPS:
        setattr(os, name, dying(name, getattr(os, name)))


def _check(project: Path, data: Path, before: State, after: State, *, linked: bool) -> str:
    found: State = {name: path.read_bytes() if (path := project / name).exists() else None for name in before}
    assert found in (before, after), {name: None if value is None else value[:20] for name, value in found.items()}
    strays = [path for path in project.rglob("*") if path.name.startswith(".toolwright")]
    assert not strays, strays
    assert not list((data / "pending").glob("*")) if (data / "pending").exists() else True
    assert not linked or (project / "twin").samefile(project / "a")
    return "before" if found == before else "after"


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
