"""A prompt written in the user's editor."""

import os
import shlex
import subprocess
import tempfile
from pathlib import Path

from toolwright.errors import UsageError


def edited(text: str) -> str:
    """The text as the user leaves it in `$VISUAL`, `$EDITOR` or vi."""
    program = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    with tempfile.TemporaryDirectory(prefix="toolwright-") as folder:
        file = Path(folder, "prompt.md")
        file.write_text(text, "utf-8")
        try:
            subprocess.run([*shlex.split(program), str(file)], check=False)
            return file.read_text("utf-8")
        except (OSError, ValueError) as error:
            raise UsageError(f"The editor {program!r} could not be used: {error}.") from error
