"""What is remembered of files that were loaded, as long as they are what they were: so a list starts no process."""

import hashlib
import json
import os
from pathlib import Path
from typing import Any

from toolwright.jsontypes import Json
from toolwright.private import make_folder
from toolwright.record import record

VERSION = 1


@record(frozen=True, slots=True, kw_only=True)
class Memory:
    """What each file brought when it was last loaded, by its content and that of the files it was made from."""

    folder: Path

    def recall(self, file: str) -> Json | None:
        """What was stored of a file; None if anything of it has changed since."""
        try:
            said: Any = json.loads(self._place(file).read_text("utf-8"))
            if said["version"] == VERSION and all(_hash(one) == digest for one, digest in said["hashes"].items()):
                return {**said["said"], "files": list(said["hashes"])}
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            pass
        return None

    def store(self, file: str, said: Json) -> None:
        hashes = {one: _hash(one) for one in said["files"]}
        text = json.dumps({"version": VERSION, "said": said, "hashes": hashes})
        try:
            make_folder(self.folder)
            scratch = self._place(file).with_suffix(f".{os.getpid()}")
            scratch.write_text(text, "utf-8")
            scratch.replace(self._place(file))
        except OSError:
            pass  # the next list loads it again

    def _place(self, file: str) -> Path:
        return self.folder / f"{hashlib.sha256(os.fsencode(file)).hexdigest()[:32]}.json"


def _hash(file: str) -> str:
    with Path(file).open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
