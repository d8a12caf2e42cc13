"""Memory of files that were loaded, valid until they change: so a list starts no process."""

import hashlib
import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from toolwright.errors import ConfigError
from toolwright.machine.private_files import update
from toolwright.protocols.json_text import read_json
from toolwright.protocols.json_types import Json
from toolwright.record import record

VERSION = 3


@record(frozen=True, slots=True, kw_only=True)
class Memory:
    """Contents of each file when it was last loaded, by its hash and that of the files it was made from."""

    folder: Path

    def recall(self, file: str) -> Json | None:
        """Return what was stored of a file; None if anything of it has changed since."""
        try:
            stored: Any = read_json(self._place(file).read_text("utf-8"))
            if stored["version"] == VERSION and all(_hash(one) == digest for one, digest in stored["hashes"].items()):
                return {**stored["said"], "files": list(stored["hashes"])}
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            pass
        return None

    def store(self, file: str, loaded: Json) -> None:
        hashes = {one: _hash(one) for one in loaded["files"]}
        text = json.dumps({"version": VERSION, "said": loaded, "hashes": hashes})
        with suppress(ConfigError):  # the next list loads it again
            update(self._place(file), lambda _: text)

    def _place(self, file: str) -> Path:
        return self.folder / f"{hashlib.sha256(os.fsencode(file)).hexdigest()[:32]}.json"


def _hash(file: str) -> str:
    with Path(file).open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
