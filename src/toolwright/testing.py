"""Doubles for tests: a model and a user who answer by script, and sessions in a folder with tools of your choice.

Our own tests use them, and so can those of plugins and of agents built on toolwright. Under pytest there is also the
fixture `replay`, which plays an exported session against the tools of today.
"""

import asyncio
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolwright.definition import Client
from toolwright.inbox import Answerer, Question, Reply
from toolwright.models.model import Model
from toolwright.models.scripted import ScriptedModel
from toolwright.permission.rules import Rule
from toolwright.record import record
from toolwright.session.session import Session
from toolwright.workspace import Workspace

if TYPE_CHECKING:
    from toolwright.replay import Replay

__all__ = ["ScriptedModel", "ScriptedUser", "make_session", "make_workspace", "replay_file"]


@record(slots=True)
class ScriptedUser:
    """Answers permission questions in the order written; `None` leaves one open, and after the last it refuses."""

    replies: list[Reply | None] = field(default_factory=list[Reply | None])
    questions: list[Question] = field(default_factory=list[Question])
    """Questions that were asked, in order."""

    @classmethod
    def saying(cls, *kinds: str | None) -> "ScriptedUser":
        """`ScriptedUser.saying("once", "always", "reject")`."""
        return cls([None if kind is None else _reply(kind) for kind in kinds])

    def __call__(self, question: Question) -> Reply | None:
        self.questions.append(question)
        position = len(self.questions) - 1
        return self.replies[position] if position < len(self.replies) else Reply(kind="reject")


def make_workspace(
    root: Path,
    *,
    model: Model | None = None,
    config: Mapping[str, Any] | None = None,
    user: "ScriptedUser | Answerer | None" = None,
    client: Client = "cli",
    trust: bool = True,
    environment: Mapping[str, str] | None = None,
    **more: Any,
) -> Workspace:
    """A workspace whose user has an empty home beside the project, so that nothing of this machine is seen.

    `model` answers every prompt that names no other: `await make_workspace(folder, model=ScriptedModel(
    {"text": "Hello."})).prompt("Hi")`. `config` is what a configuration file would say. Close it, or use it as
    `async with`, which also starts its extensions.
    """
    root = root.resolve()
    home = root.parent / f"{root.name}.home"
    return Workspace(
        root,
        model=model or "",
        config=config,
        answer=user or ScriptedUser(),
        trust=trust,
        client=client,
        environment={"HOME": str(home), **(environment or {})},
        **more,
    )


def make_session(
    root: Path,
    *,
    agent: str = "",
    rules: Sequence[Rule] = (),
    **more: Any,
) -> Session:
    """A session in such a workspace, with rules of its own on top of the defaults."""
    return make_workspace(root, **more).session(agent, rules=rules)


def _reply(kind: str) -> Reply:
    match kind:
        case "once":
            return Reply(kind="once")
        case "always":
            return Reply(kind="always", scope="session")
        case "reject":
            return Reply(kind="reject")
        case advice:
            return Reply(kind="reject", message=advice)


def replay_file(file: str | Path, folder: str | Path, **opening: Any) -> "Replay":
    """Play an exported session (`tw session export ID > FILE`) in a copy of a folder; `same` if nothing differs.

    The folder must be as it was before the session. The rest is for `open_workspace`, such as `tools` of your own.
    """
    from toolwright.replay import replay_export

    export = json.loads(Path(file).read_text("utf-8"))
    opening.setdefault("environment", {"HOME": str(Path(folder).resolve().parent / "replay.home")})
    return asyncio.run(replay_export(export, Path(folder), **{"trust": True, "client": "cli", **opening}))


# Whoever runs under pytest has imported it; nobody else should pay for it.
if "pytest" in sys.modules:
    import pytest

    @pytest.fixture
    def replay(tmp_path: Path) -> "Callable[..., Replay]":
        """`replay("session.json", "folder").same`: a run that was good once, as a test."""

        def play(file: str | Path, folder: str | Path, **opening: Any) -> "Replay":
            environment = {"HOME": str(tmp_path / "replay.home")}
            return replay_file(file, folder, **{"environment": environment, **opening})

        return play
