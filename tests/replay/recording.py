"""A plugin for pytest that notes, for each session kept on disk, what Python gave to its workspace.

What is data, or code that stands in a module, can be given again; the rest is named.
"""

import os
import pickle
from dataclasses import dataclass, field
from functools import wraps
from pathlib import Path
from typing import Any

from toolwright.events import Event
from toolwright.session.events import SessionCreated
from toolwright.session.sessions import Sessions
from toolwright.workspace import Workspace

PLACE = "TOOLWRIGHT_TEST_NOTES"
"""The variable that names the folder of the notes."""
_GIVEN = ("rules", "config", "agent", "tools", "extensions", "hooks", "trust", "client", "pure")


@dataclass
class Note:
    """What a session's workspace was opened with."""

    opening: dict[str, Any] = field(default_factory=dict)
    code: list[str] = field(default_factory=list)
    """What cannot be given again."""


def pytest_configure() -> None:
    opened = Workspace.__init__
    closed = Workspace.close

    @wraps(opened)
    def open_noted(self: Workspace, directory: Path, **given: Any) -> None:
        opened(self, directory, **given)
        kept: set[str] = set()
        vars(self)["noted_sessions"] = kept

        def listen(event: Event) -> None:
            if self.keep and self.given_store is None and isinstance(event, SessionCreated):
                kept.add(event.info.id)
                _write(event.info.id, _note(self, given))

        self.bus.subscribe(listen)

    @wraps(closed)
    async def close_noted(self: Workspace, *arguments: Any, **more: Any) -> Any:
        # Some tests reach into the files.
        foreign = [one for one in self.files.committed if str(getattr(one, "__module__", "")).startswith("tests.")]
        for session_id in vars(self)["noted_sessions"] if foreign else ():
            note = load(Path(os.environ[PLACE]), session_id)
            note.code.append("committed")
            _write(session_id, note)
        return await closed(self, *arguments, **more)

    imported = Sessions.imported

    @wraps(imported)
    async def import_noted(self: Sessions, *arguments: Any, **more: Any) -> Any:
        # What comes from a file, which the test may have changed, was never done here.
        info = await imported(self, *arguments, **more)
        note = load(Path(os.environ[PLACE]), info.id)
        note.code.append("imported")
        _write(info.id, note)
        return info

    importing: Any = Sessions
    importing.imported = import_noted
    vars_of: Any = Workspace
    vars_of.__init__ = open_noted
    vars_of.close = close_noted


def _note(workspace: Workspace, given: dict[str, Any]) -> Note:
    note = Note(opening={"environment": dict(workspace.environment)})
    for name in _GIVEN:
        if name in given:
            try:
                pickle.dumps(given[name])
            except (pickle.PicklingError, AttributeError, TypeError):
                note.code.append(name)
            else:
                note.opening[name] = given[name]
    return note


def _write(session_id: str, note: Note) -> None:
    place = Path(os.environ[PLACE])
    place.mkdir(parents=True, exist_ok=True)
    (place / session_id).write_bytes(pickle.dumps(note))


def load(place: Path, session_id: str) -> Note:
    """The note on a session; an empty one if a program of its own has made it."""
    try:
        note: Note = pickle.loads((place / session_id).read_bytes())
    except FileNotFoundError:
        return Note()
    return note
