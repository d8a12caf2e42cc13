"""Trust in projects: given not to a place but to what it makes active there, so that a change asks again."""

import json
import os
from collections.abc import Mapping
from pathlib import Path

from toolwright.config.content import UNREADABLE, TrustedContent, content_of
from toolwright.config.places import find_root
from toolwright.errors import ConfigError
from toolwright.machine.folders import Folders
from toolwright.machine.private_files import read_private, update
from toolwright.protocols.json_text import read_json
from toolwright.protocols.json_types import Json
from toolwright.record import record
from toolwright.schema.check import problems_with

MOST_WANTED = 200
"""Files that are noted as wanted."""
MOST_KEPT = 65_536
"""Bytes of a file that are kept to show later what has changed."""

_FILE_SCHEMA = {
    "type": "object",
    "properties": {"hash": {"type": "string"}, "text": {"type": "string"}, "imported": {"type": "boolean"}},
    "required": ["hash"],
}
_PROJECT_SCHEMA = {
    "type": "object",
    "properties": {
        "origin": {"type": "string"},
        "files": {"type": "object", "additionalProperties": _FILE_SCHEMA},
        "wanted": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["files"],
}
_SCHEMA = {
    "type": "object",
    "properties": {
        # Earlier versions kept a list of paths. What they stood for is not known, so they have to be trusted anew.
        "projects": {
            "anyOf": [
                {"type": "array", "items": {"type": "string"}},
                {"type": "object", "additionalProperties": _PROJECT_SCHEMA},
            ]
        }
    },
    "required": ["projects"],
}


@record(frozen=True, slots=True, kw_only=True)
class TrustChange:
    """A file that is not as it was when the user trusted the project."""

    name: str
    before: str | None
    """Its text then; None if it was not there, or was too long to be kept."""
    after: str | None


def is_trusted(directory: Path, folders: Folders) -> bool:
    """Return whether the user trusts all that the project makes active in this folder, as it is now."""
    trust = Trust(folders.trust)
    return trust.knows(find_root(directory.resolve())) and trust.includes(content_of(directory, folders))


@record(frozen=True, slots=True)
class Trust:
    """The user's word on projects, in a file of hashes."""

    file: Path

    def includes(self, content: TrustedContent) -> bool:
        known = self._projects().get(str(content.root))
        return known is not None and known.get("origin", "") == content.origin and not self._differs(known, content)

    def knows(self, root: Path) -> bool:
        """Return whether the project at this place was ever trusted."""
        return str(root) in self._projects()

    def hashes(self, root: Path) -> dict[str, str]:
        """Return the hashes of what the user has looked at: each file by its path from the root."""
        known = self._projects().get(str(root)) or {"files": {}}
        return {name: one["hash"] for name, one in known["files"].items()}

    def roots(self) -> list[str]:
        return list(self._projects())

    def changes(self, content: TrustedContent) -> list[TrustChange]:
        """Return the files that are new, gone or changed since the project was trusted."""
        files: Mapping[str, Json] = (self._projects().get(str(content.root)) or {}).get("files", {})
        return [
            TrustChange(name=name, before=files.get(name, {}).get("text"), after=_text_of(content, name))
            for name in self._differs({"files": files}, content)
        ]

    def imported(self, root: Path) -> list[str]:
        """Return the code of a project that its tools and plugins import, as far as that was looked at."""
        known = self._projects().get(str(root)) or {"files": {}}
        return [name for name, one in known["files"].items() if one.get("imported")]

    def wanted(self, root: Path) -> list[str]:
        """Return what they wanted to import as well."""
        return list((self._projects().get(str(root)) or {}).get("wanted", ()))

    def want(self, root: Path, path: Path) -> None:
        """Note a file that code of a trusted project wanted to import, to be looked at the next time."""
        name = os.path.relpath(path, root)

        def wanting(text: str) -> str:
            projects = self._parsed(text)
            if str(root) in projects:
                known = projects[str(root)]
                known["wanted"] = [*dict.fromkeys([*known.get("wanted", ()), name])][-MOST_WANTED:]
            return _trust_text(projects)

        if name not in self.wanted(root):
            update(self.file, wanting)

    def add(self, content: TrustedContent) -> None:
        """Trust this, and nothing else of what the project's code imports."""
        files = {name: _kept(content, name) for name in content.files}

        def added(text: str) -> str:
            projects = self._parsed(text)
            before = projects.pop(str(content.root), {"files": {}})
            same = before.get("origin", "") == content.origin
            # What holds only in other folders of the project was not looked at now.
            elsewhere = {
                name: one
                for name, one in before["files"].items()
                if same and not one.get("imported") and not _in_sight(name, content)
            }
            return _trust_text(projects | {str(content.root): {"origin": content.origin, "files": elsewhere | files}})

        update(self.file, added)

    def remove(self, root: Path) -> bool:
        known = False

        def without(text: str) -> str:
            nonlocal known
            projects = self._parsed(text)
            known = projects.pop(str(root), None) is not None
            return _trust_text(projects)

        update(self.file, without)
        return known

    def _differs(self, known: Json, content: TrustedContent) -> list[str]:
        files = known["files"]
        now = {name: file.hash for name, file in content.files.items()}
        changed = [name for name, one in now.items() if one == UNREADABLE or one != files.get(name, {}).get("hash")]
        # What is imported is looked at where it is imported: a change in it takes effect nowhere else.
        removed = [name for name, one in files.items() if name not in now and not one.get("imported")]
        return changed + [name for name in removed if _in_sight(name, content)]

    def _projects(self) -> Json:
        return self._parsed(read_private(self.file))

    def _parsed(self, text: str) -> Json:
        if not text.strip():
            return {}
        try:
            data = read_json(text)
        except ValueError as error:
            raise ConfigError(
                f"{self.file}: {error}. Correct the file or delete it; then trust projects anew."
            ) from error
        if problems := problems_with(data, _SCHEMA):
            raise ConfigError(f"{self.file}: {problems[0]}. Correct the file or delete it; then trust projects anew.")
        projects: Json | list[str] = data["projects"]
        if isinstance(projects, list):
            return {root: {"files": {"?": {"hash": "?"}}} for root in projects}
        return projects


def _in_sight(name: str, content: TrustedContent) -> bool:
    """Return whether a file that was recorded would have been found now if it were there."""
    return name in content.files or not (content.root / name).exists()


def _text_of(content: TrustedContent, name: str) -> str | None:
    file = content.files.get(name)
    return file.content.decode("utf-8", "replace") if file is not None and file.hash != UNREADABLE else None


def _kept(content: TrustedContent, name: str) -> Json:
    file = content.files[name]
    text = {"text": file.content.decode("utf-8", "replace")} if len(file.content) <= MOST_KEPT else {}
    imported = {"imported": True} if name in content.imported else {}
    return {"hash": file.hash or "unreadable", **text, **imported}


def _trust_text(projects: Json) -> str:
    return json.dumps({"projects": projects}, indent=2, ensure_ascii=False) + "\n"
