"""How the conversations of a workspace are put together: models, sessions, and what they offer their tools."""

import os
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

from toolwright.app import Workspace
from toolwright.auth import AuthFile
from toolwright.files.journal import Journal
from toolwright.models.catalog import Catalog
from toolwright.models.connect import Connections
from toolwright.models.model import Model
from toolwright.process.jobs import Jobs
from toolwright.session.budget import Budget
from toolwright.session.changes import Changes
from toolwright.session.conversation import Conversation
from toolwright.session.instructions import Instructions
from toolwright.session.modes import AgentModes
from toolwright.session.questions import AskedQuestions
from toolwright.session.sessions import Sessions, session_rules
from toolwright.session.storage import Storage
from toolwright.session.subagents import ChildSessions
from toolwright.session.title import Titles, small_sibling
from toolwright.session.todo import StoredTodos
from toolwright.session.turn import CompactionSettings
from toolwright.session.turns import Turns

Json = dict[str, Any]


def open_sessions(workspace: Workspace) -> Sessions:
    """The sessions of the workspace, after what dead processes left open has been closed."""
    storage = workspace.store
    sessions = Sessions(
        storage=storage if isinstance(storage, Storage) else _passing_storage(),
        bus=workspace.bus,
        # A folder may have a name that is no text at all; as a key it has to be one.
        project_id=os.fsencode(workspace.config.root).decode("utf-8", "backslashreplace"),
        directory=str(workspace.config.directory),
        begin=partial(_begin, workspace),
        on_deleted=[Journal(workspace.folders.data / "undo").forget, workspace.truncator.forget],
    )
    sessions.repair_abandoned()
    return sessions


def _passing_storage() -> Storage:
    """For a workspace that keeps nothing: a database that goes when the workspace is closed."""
    return Storage.open(Path(tempfile.mkdtemp(prefix="toolwright-")) / "sessions.db", passing=True)


def todos(workspace: Workspace) -> StoredTodos:
    return StoredTodos(workspace.bus, workspace.store if isinstance(workspace.store, Storage) else None)


def questions(workspace: Workspace) -> AskedQuestions:
    return AskedQuestions(workspace.bus)


def subagents(workspace: Workspace) -> ChildSessions:
    primary = tuple(workspace.config.get("experimental", "primary_tools", default=()))
    return ChildSessions(
        workspace.agents, lambda: workspace.sessions, workspace.bus, partial(_end_jobs, workspace), primary
    )


async def _end_jobs(workspace: Workspace, session_id: str) -> None:
    """Commands that a session left in the background end with it."""
    jobs: Jobs | None = workspace.services.made.get("toolwright.process.jobs.Jobs")
    if jobs is not None:
        await jobs.end_session(session_id)


def modes(workspace: Workspace) -> AgentModes:
    return AgentModes(lambda: workspace.sessions, _plans(workspace))


def titles(workspace: Workspace) -> Titles:
    return Titles(partial(_small_model, workspace))


def connections(workspace: Workspace) -> Connections:
    """The models there are, and the user's keys for those the user knows."""
    own, added = _providers(workspace)
    keys = {name: key for name, key in AuthFile(workspace.folders.auth).records().items() if name not in added}
    return Connections(Catalog(own | added), env=workspace.environment, auth=keys)


def _providers(workspace: Workspace) -> tuple[Json, Json]:
    """What the user says of providers, and what an untrusted project adds.

    Such a project may bring a provider of its own, but no key of the user's goes there, and it changes none that the
    user has or that everybody knows: an address is where prompts and keys are sent.
    """
    config = workspace.config
    if workspace.trusted:
        return config.get("provider", default={}), {}
    own = config.said_by("user", "override").get("provider", {})
    known = {provider.id for provider in Catalog(own).providers()}
    theirs = config.said_by("project").get("provider", {})
    return own, {name: {**record, "env": []} for name, record in theirs.items() if name not in known}


def _default_model(workspace: Workspace) -> str:
    """The model of the settings; but to a provider that an untrusted project brings, nothing is sent unasked."""
    name: str = workspace.config.get("model", default="")
    _, added = _providers(workspace)
    if name.partition("/")[0] in added:
        name = workspace.config.said_by("user", "override").get("model", "")
    return name


def _begin(workspace: Workspace, conversation: Conversation, parent: Turns | None) -> Turns:
    """A session at work: its rules under its parent's, its records in the conversation."""
    config = workspace.config
    rules = session_rules(conversation.info.permission or ())
    last = conversation.last_user()
    known = last is not None and last.agent in workspace.agents.by_name
    session = workspace.session(
        last.agent if last and known else "", rules=rules, parent=parent.session if parent else None
    )
    session.id = conversation.id
    session.store = conversation
    return Turns(
        session=session,
        conversation=conversation,
        connect=workspace.services.use(Connections).open,
        instructions=_instructions(workspace),
        changes=Changes(Journal(workspace.folders.data / "undo")),
        default_agent=workspace.agents.default().name,
        default_model=_default_model(workspace),
        colleagues=tuple(agent.name for agent in workspace.agents.visible() if agent.mode != "primary"),
        rules=rules,
        budget=Budget(**config.get("budget", default={})),
        compaction=CompactionSettings(**config.get("compaction", default={})),
        go_on_after_reject=bool(config.get("experimental", "continue_loop_on_deny")),
        on_prompt=[workspace.services.use(Titles)],
    )


def _instructions(workspace: Workspace) -> Instructions:
    config = workspace.config
    return Instructions(
        root=config.root,
        directory=config.directory,
        home=workspace.folders.home,
        config=workspace.folders.config,
        wanted=tuple(config.get("instructions", default=())),
    )


def _small_model(workspace: Workspace, model: Model) -> Model:
    """The model for titles: the user's choice, or a small one of the same provider; never another provider's."""
    known = workspace.services.use(Connections)
    chosen = workspace.config.get("small_model", default="")
    if chosen:
        return known.open(chosen)
    small = small_sibling(model.info, known.catalog.models(model.info.provider))
    return known.open(small.full_name) if small else model


def _plans(workspace: Workspace) -> Path:
    root = workspace.config.root
    return root / ".toolwright" / "plans" if (root / ".git").exists() else workspace.folders.plans
