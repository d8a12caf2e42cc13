"""Events as text for clients, made once for all who listen the same way."""

import functools
import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from toolwright.events import Event, PermissionAsked
from toolwright.messages import SessionInfo
from toolwright.protocols.client_json import json_text, to_json
from toolwright.protocols.json_types import Json
from toolwright.session.events import SessionCreated, SessionDeleted, SessionDiff, SessionUpdated


class Frame:
    """One event, numbered. Written out when the first listener wants it."""

    def __init__(self, number: str, directory: str, payload: Json, key: str = "") -> None:
        self.number, self.directory, self.payload, self.key = number, directory, payload, key

    @functools.cached_property
    def text(self) -> str:
        text = json_text(self.payload)
        try:
            text.encode()
        except UnicodeEncodeError:  # half a character, which only an escape can say
            text = json.dumps(to_json(self.payload), separators=(",", ":"))
        return text

    @functools.cached_property
    def plain(self) -> bytes:
        """For those who listen to one folder."""
        return f"{self._head}data: {self.text}\n\n".encode()

    @functools.cached_property
    def wrapped(self) -> bytes:
        """For those who listen to all folders."""
        where = f'"directory":{json.dumps(self.directory)},' if self.directory else ""
        return f'{self._head}data: {{{where}"payload":{self.text}}}\n\n'.encode()

    @property
    def _head(self) -> str:
        return f"id: {self.number}\n" if self.number else ""


def payload_of(event: Event, directory: str) -> Json:
    """An event as `{type, properties}`, in the shape that clients expect."""
    match event:
        case SessionCreated() | SessionUpdated() | SessionDeleted():
            return {"type": event.type, "properties": {"info": session_json(event.info)}}
        case SessionDiff():
            diff = [relative_change(change, directory) for change in event.diff]
            return {"type": event.type, "properties": {"sessionID": event.session_id, "diff": diff}}
        case PermissionAsked():
            asked = to_json(event)
            asked["metadata"] = shown_metadata(event.permission, event.patterns, asked["metadata"])
            return {"type": event.type, "properties": asked}
        case _:
            return {"type": event.type, "properties": event}


def session_json(info: SessionInfo) -> Json:
    """A session, without what is ours alone; times are always there."""
    value: Json = to_json(info)
    value["projectID"] = project_name(info.project_id)
    value["time"].setdefault("updated", info.time.created)
    if value.get("revert") and "messageID" not in value["revert"]:
        del value["revert"]
    if value.get("revert"):
        value["revert"] = {name: one for name, one in value["revert"].items() if name != "earlier"}
    return value


@functools.cache
def project_name(project_id: str) -> str:
    """Return the name of a project for clients: short, and fit for an address."""
    return hashlib.sha256(project_id.encode("utf-8", "surrogateescape")).hexdigest()[:40]


def relative_change(change: Mapping[str, Any], directory: str) -> Json:
    """The change of a file, named from the folder as clients show it."""
    return {**change, "file": str(change["file"]).removeprefix(f"{directory}/")}


def shown_metadata(permission: str, patterns: Sequence[str], metadata: Json) -> Json:
    """Return what a dialog shows: clients take the file of an edit from here, also where a command would write it."""
    if permission == "edit" and "filepath" not in metadata and patterns:
        return {**metadata, "filepath": str(patterns[0]), "diff": metadata.get("diff", "")}
    return metadata
