"""The branch of a folder that is checked out, read from git's own files."""

from pathlib import Path

_HEAD = "ref: refs/heads/"


def branch_of(root: Path) -> str:
    """Its name; empty without git, and where no branch is checked out."""
    try:
        git = root / ".git"
        if git.is_file():  # a worktree, which says where the rest is
            git = root / git.read_text("utf-8").removeprefix("gitdir:").strip()
        head = (git / "HEAD").read_text("utf-8").strip()
    except (OSError, ValueError):
        return ""
    return head.removeprefix(_HEAD) if head.startswith(_HEAD) else ""
