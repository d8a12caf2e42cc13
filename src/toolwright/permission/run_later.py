"""Files that other programs run by themselves: editors, shells, git, package managers, other agents, CI.

Whoever writes one of them decides what runs later, outside of every sandbox; so a change is asked about.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from toolwright.permission.rules import Rule

RUN_LATER: Final = (
    # Editors and development containers: tasks, settings, launchers.
    *(".vscode/", ".idea/", ".vs/", ".zed/", ".nvim.lua", ".nvimrc", ".exrc", ".vimrc", ".dir-locals.el"),
    *(".devcontainer/", ".devcontainer.json", ".gitpod.yml"),
    # Shells, and what sets up the surroundings of one that enters the folder.
    *(".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".profile"),
    *(".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout", ".config/fish/"),
    *(".envrc", ".mise/", ".mise.toml", "mise.toml"),
    # Other agents: settings, hooks, servers.
    *(".mcp.json", ".claude/", ".claude.json", ".codex/", ".cursor/", ".gemini/", ".windsurf/", ".amazonq/", ".kiro/"),
    # Git, and what is hung on its hooks.
    *(".gitmodules", ".gitconfig", ".husky/", ".pre-commit-config.yaml", "lefthook.yml", ".lefthook.yml"),
    # Package managers and builds, which take programs and sources from here.
    *(".npmrc", ".yarnrc", ".yarnrc.yml", ".pnpmfile.cjs", ".cargo/"),
    # CI.
    *(".github/workflows/", ".github/actions/", ".gitlab-ci.yml", ".circleci/"),
)
"""Names of files, and of folders with a slash at their end; the setting `run_later` adds to them and takes away."""


def run_later_rules(chosen: Mapping[str, bool], root: Path) -> tuple[Rule, ...]:
    """Return the rules that have a change of these files asked about, wherever they lie.

    A project that lies in such a folder itself, such as a work tree of another agent, is not meant as a whole.
    """
    names = dict.fromkeys((*RUN_LATER, *(name for name, on in chosen.items() if on)))
    wanted = (name for name in names if chosen.get(name, True) and chosen.get(name.rstrip("/"), True))
    return tuple(Rule("edit", pattern, "ask", "built in") for name in wanted for pattern in _patterns(name, root))


def _patterns(name: str, root: Path) -> Iterable[str]:
    anywhere = () if name.endswith("/") and f"/{name}" in f"{root}/" else ("*/",)
    for start in ("", *anywhere):
        yield f"{start}{name.rstrip('/')}"
        if name.endswith("/"):
            yield f"{start}{name}*"
