"""What is remembered of files that were loaded, as long as they are what they were: so a list starts no process."""

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
    """What each file brought when it was last loaded, by its content and that of the files it was made from."""

    folder: Path

    def recall(self, file: str) -> Json | None:
        """What was stored of a file; None if anything of it has changed since."""
        try:
            said: Any = read_json(self._place(file).read_text("utf-8"))
            if said["version"] == VERSION and all(_hash(one) == digest for one, digest in said["hashes"].items()):
                return {**said["said"], "files": list(said["hashes"])}
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            pass
        return None

    def store(self, file: str, said: Json) -> None:
        hashes = {one: _hash(one) for one in said["files"]}
        text = json.dumps({"version": VERSION, "said": said, "hashes": hashes})
        with suppress(ConfigError):  # the next list loads it again
            update(self._place(file), lambda _: text)

    def _place(self, file: str) -> Path:
        return self.folder / f"{hashlib.sha256(os.fsencode(file)).hexdigest()[:32]}.json"


def _hash(file: str) -> str:
    with Path(file).open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
