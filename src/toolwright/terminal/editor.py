"""A prompt written in the user's editor."""

import os
import shlex
import tempfile
from pathlib import Path

from toolwright.config.places import own_programs
from toolwright.errors import ToolError, UsageError
from toolwright.process.running.child import run_at_terminal


def edited(text: str) -> str:
    """The text as the user leaves it in `$VISUAL`, `$EDITOR` or vi."""
    program = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    with tempfile.TemporaryDirectory(prefix="toolwright-") as folder:
        file = Path(folder, "prompt.md")
        file.write_text(text, "utf-8")
        try:
            name, *words = shlex.split(program) or ["vi"]
            run_at_terminal([own_programs(Path.cwd()).need(name), *words, str(file)])
            return file.read_text("utf-8")
        except (OSError, ValueError, ToolError) as error:
            raise UsageError(f"The editor {program!r} could not be used: {error}.") from error
