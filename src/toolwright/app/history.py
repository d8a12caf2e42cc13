"""The prompts of earlier conversations, kept in a file of the user's."""

import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from toolwright.machine.private_files import read_private, update
from toolwright.protocols.json_text import read_json
from toolwright.record import record

REMEMBERED = 500
"""Prompts that the history keeps."""
LARGEST = 10_000
"""Characters of a prompt that is worth keeping."""


@record(frozen=True, slots=True, kw_only=True)
class PromptHistory:
    """Prompts, the oldest first. Without a file nothing is kept; a file that cannot be used is no reason to stop."""

    file: Path | None = None

    def prompts(self) -> Iterator[str]:
        try:
            kept = read_private(self.file) if self.file else ""
        except OSError:
            return
        for line in kept.splitlines():
            with suppress(ValueError):
                value = read_json(line)
                if isinstance(value, str):
                    yield value

    def remember(self, text: str) -> None:
        if self.file is None or len(text) > LARGEST:
            return
        with suppress(OSError):
            self.file.parent.mkdir(parents=True, exist_ok=True)
            update(self.file, lambda kept: _joined([*kept.splitlines()[1 - REMEMBERED :], json.dumps(text)]))


def _joined(lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
