"""Logins for the user of an editor: a key for a model, given in a terminal by `tw auth`."""

import sys

from toolwright.acp.editor import Abilities
from toolwright.protocols.json_types import Json


def login_methods(can: Abilities) -> list[Json]:
    """The one way there is; the editor starts our own program with these arguments."""
    method: Json = {
        "id": "tw-auth",
        "type": "terminal",
        "name": "Store a key",
        "description": "Stores the key of a model provider. Then set `model` in toolwright.json.",
        "args": ["auth"],
        "env": {},
    }
    if can.terminal_login:
        command = {"command": sys.executable, "args": ["-P", "-m", "toolwright", "auth"], "label": "tw auth"}
        method["_meta"] = {"terminal-auth": command}
    return [method]
