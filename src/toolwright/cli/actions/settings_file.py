"""A file of settings that a command writes into."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from toolwright.errors import UsageError
from toolwright.protocols.json_text import read_json
from toolwright.protocols.json_types import Json
from toolwright.workspace import Workspace


def settings_file(workspace: Workspace, *, user: bool) -> Path:
    """The user's or the project's file of settings, whether it is there or not."""
    folder = workspace.folders.config if user else workspace.config.root
    files = [folder / f"toolwright.{end}" for end in ("jsonc", "json")]
    return next((file for file in files if file.exists()), files[-1])


def write_setting(file: Path, key: str, change: Callable[[Any], Any], by_hand: str) -> None:
    """Change one key, unless rewriting the file would lose its comments; then UsageError says what to do `by_hand`.

    `change` gets None where the key is not set. It raises ValueError for what it cannot change.
    """
    text = file.read_text("utf-8") if file.exists() else ""
    try:
        settings: Json = read_json(text or "{}")
        if not isinstance(settings, dict):
            raise ValueError("it holds no object of settings")
        settings[key] = change(settings.get(key))
    except ValueError as error:
        raise UsageError(f"{file} is not changed ({error}). {by_hand}") from error
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(settings, indent=2, ensure_ascii=False) + "\n", "utf-8")
