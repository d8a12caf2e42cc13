"""The branch of a folder that is checked out, read from git's own files."""

from pathlib import Path

from toolwright.machine.plain_files import read_start

_HEAD = "ref: refs/heads/"
_LONGEST = 64 * 1024


def branch_of(root: Path) -> str:
    """Its name; empty without git, and where no branch is checked out."""
    git = root / ".git"
    if git.is_file():  # a worktree, which says where the rest is
        git = root / _read_head(git).removeprefix("gitdir:").strip()
    head = _read_head(git / "HEAD").strip()
    return head.removeprefix(_HEAD) if head.startswith(_HEAD) else ""


def _read_head(path: Path) -> str:
    return read_start(path, _LONGEST).decode("utf-8", "replace")
