"""Doubles for tests: a model and a user who answer by script, and sessions in a folder with tools of your choice.

Our own tests use them, and so can those of plugins and of agents built on toolwright.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from toolwright.app import Workspace, build_workspace
from toolwright.hooks import Hook
from toolwright.models.connect import Connections
from toolwright.models.model import Model
from toolwright.models.scripted import ScriptedModel
from toolwright.permission.broker import Question, Reply
from toolwright.permission.rules import Rule
from toolwright.registry import Client
from toolwright.session.session import Session
from toolwright.tool import Tool

__all__ = ["ScriptedModel", "ScriptedUser", "make_session", "make_workspace"]


@dataclass(slots=True)
class ScriptedUser:
    """Answers permission questions in the order written; `None` leaves one open, and after the last it refuses."""

    replies: list[Reply | None] = field(default_factory=list[Reply | None])
    questions: list[Question] = field(default_factory=list[Question])
    """What was asked, in order."""

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
    tools: Sequence[Tool] = (),
    user: ScriptedUser | None = None,
    hooks: Sequence[Hook] = (),
    client: Client = "cli",
    keep: bool = False,
    trust: bool = True,
    environment: Mapping[str, str] | None = None,
) -> Workspace:
    """A workspace whose user has an empty home beside the project, so that nothing of this machine is seen.

    `model` answers every prompt that names no other: `await make_workspace(folder, model=ScriptedModel(
    {"text": "Hello."})).prompt("Hi")`. `config` is what a configuration file would say.
    """
    home = root.parent / f"{root.name}.home"
    settings = ({} if model is None else {"model": model.info.full_name}) | dict(config or {})
    said = {"TOOLWRIGHT_CONFIG_CONTENT": json.dumps(settings)} if settings else {}
    surroundings = {"HOME": str(home), **said, **(environment or {})}
    workspace = build_workspace(
        root,
        answer=user or ScriptedUser(),
        trust=trust,
        client=client,
        tools=tools,
        hooks=hooks,
        keep=keep,
        environment=surroundings,
    )
    if model is not None:
        workspace.services.use(Connections).add(model.info.full_name, model)
    return workspace


def make_session(
    root: Path,
    *,
    agent: str = "",
    tools: Sequence[Tool] = (),
    rules: Sequence[Rule] = (),
    user: ScriptedUser | None = None,
    **more: Any,
) -> Session:
    """A session in such a workspace, with rules of its own on top of the defaults."""
    return make_workspace(root, tools=tools, user=user, **more).session(agent, rules=rules)


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
