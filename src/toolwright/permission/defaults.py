"""The rules that hold before anybody has said anything, and those that nobody can take away."""

from pathlib import Path

from toolwright.machine.folders import Folders
from toolwright.network.destination import EVERY_DESTINATION
from toolwright.permission.rules import Rule, decide

SETTINGS_FILES = ("toolwright.json", "toolwright.jsonc", "opencode.json", "opencode.jsonc")
SETTINGS_FOLDERS = (".toolwright", ".opencode")


def rules(*lines: str, source: str = "built in") -> tuple[Rule, ...]:
    """Rules as they are read: `edit *: deny`. The pattern may be left out for `*`."""
    return tuple(_rule(line, source) for line in lines)


def _rule(line: str, source: str) -> Rule:
    head, _, action = line.rpartition(": ")
    permission, _, pattern = head.partition(" ")
    for known in ("allow", "ask", "deny"):
        if action == known:
            return Rule(permission, pattern or "*", known, source)
    raise ValueError(f"{line!r} is not a rule")


SECRET_FILES = (
    "read *.env: deny",
    "read *.env.*: deny",
    "read *.env.example: allow",
    "read *.env.sample: allow",
    *(f"read *.env.{kind}: allow" for kind in ("template", "dist", "test", "ci")),
    "read *.envrc: deny",
    *(f"read {start}id_{kind}: deny" for kind in ("rsa", "dsa", "ecdsa", "ed25519") for start in ("", "*/")),
)
"""Files that hold keys more often than not."""


def is_secret_file(path: str) -> bool:
    """Tell whether a file holds keys more often than not."""
    return decide("read", path, (Rule("read", "*", "allow"), *rules(*SECRET_FILES))) == "deny"


def default_rules(folders: Folders) -> tuple[Rule, ...]:
    """Return what holds for every agent before anything is said."""
    outputs = folders.tool_output
    return rules(
        "*: allow",
        "act changes: ask",
        "act final: ask",
        "doom_loop: ask",
        "external_directory: ask",
        f"external_directory {outputs}: allow",
        f"external_directory {outputs}/*: allow",
        f"network {EVERY_DESTINATION}: ask",
        "question: deny",
        "plan_enter: deny",
        "plan_exit: deny",
        "read: allow",
        *SECRET_FILES,
    )


def output_rules(folders: Folders) -> tuple[Rule, ...]:
    """Open the folder of long outputs; `protected_rules` has what other projects keep there asked about."""
    outputs = folders.tool_output
    return rules(f"external_directory {outputs}: allow", f"external_directory {outputs}/*: allow")


def protected_rules(folders: Folders, root: Path) -> tuple[Rule, ...]:
    """Return the rules that no setting gives away: our settings and git's own files are changed only after a question,
    and what we keep of sessions, keys and approvals is for nobody but the user."""
    settings = [f"{start}{name}" for name in SETTINGS_FILES for start in ("", "*/")]
    inner = [f"{start}{name}{end}" for name in SETTINGS_FOLDERS for start in ("", "*/") for end in ("", "/*")]
    plans = [f"{start}{name}/plans/*" for name in SETTINGS_FOLDERS for start in ("", "*/")]
    git = [f"{start}.git{end}" for start in ("", "*/") for end in ("", "/*")]
    config = [f"{folder}{end}" for folder in (folders.config, folders.reference_config) for end in ("", "/*")]
    data = [str(folders.data), f"{folders.data}/*"]
    return rules(
        *(f"edit {pattern}: ask" for pattern in (*settings, *inner)),
        *(f"edit {pattern}: allow" for pattern in plans),
        *(f"edit {pattern}: ask" for pattern in (*git, *config)),
        *(f"{permission} {pattern}: deny" for permission in ("read", "edit") for pattern in data),
        f"external_directory {folders.tool_output}/*/*: ask",
        f"external_directory {folders.outputs_of(root)}*: allow",
        f"read {folders.tool_output}/*: allow",
        f"read {folders.tool_output}/*/*: ask",
        f"read {folders.outputs_of(root)}/*: allow",
        f"read {folders.plans}/*: allow",
        f"edit {folders.plans}/*: allow",
    )


def is_protected(permission: str, patterns: tuple[str, ...]) -> bool:
    """Tell whether these spellings of a path name settings or files of git, of which no general approval is meant."""
    return permission == "edit" and any(map(_is_protected, patterns))


def _is_protected(path: str) -> bool:
    parts = path.lower().split("/")
    if parts[-1] in SETTINGS_FILES or ".git" in parts:
        return True
    inside = [index for index, part in enumerate(parts) if part in SETTINGS_FOLDERS]
    return any(parts[index + 1 : index + 2] != ["plans"] for index in inside)
