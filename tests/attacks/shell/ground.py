"""The project that is attacked, and what becomes of a command line in it under given rules."""

import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from toolwright.calls.request import Request
from toolwright.definition import Action
from toolwright.files.paths import Tree
from toolwright.machine.folders import Folders
from toolwright.permission.approvals import Approval
from toolwright.permission.defaults import default_rules, rules
from toolwright.permission.judge import judged
from toolwright.permission.rules import Layer, Policy, Rule, strictest
from toolwright.shell import Analysis, analyse, checks_for, requests_for
from toolwright.shell.state.findings import OPEN, Confinement

BOX = Confinement(complete=True, private_tmp=True)
HAS_GIT = shutil.which("git") is not None


@dataclass(frozen=True, kw_only=True)
class Ground:
    """A project with things worth protecting, and a folder outside of it."""

    tree: Tree
    outside: Path
    home: Path

    def analysis(
        self, command: str, *, confinement: Confinement = OPEN, shell: str = "bash", cwd: str = ""
    ) -> Analysis:
        folder = str(self.tree.directory / cwd)
        command = command.replace("/outside", str(self.outside))
        top = str(self.tree.root)
        return analyse(command, cwd=folder, home=str(self.home), shell=shell, confinement=confinement, top=top)

    def requests(self, command: str, *, cwd: str = "") -> list[Request]:
        return requests_for(self.analysis(command, cwd=cwd), self.tree.place)

    def verdict(
        self,
        command: str,
        policy: Policy,
        *,
        approvals: Sequence[Approval] = (),
        confinement: Confinement = OPEN,
        shell: str = "bash",
        cwd: str = "",
    ) -> Action:
        """The strictest answer to anything that the line needs."""
        analysis = self.analysis(command, confinement=confinement, shell=shell, cwd=cwd)
        found = checks_for(analysis, self.tree.place)
        checks = [policy.decide(check.permission, one) for check in found for one in check.patterns]
        if any(decision.action == "deny" for decision in checks):
            return "deny"
        requests = requests_for(analysis, self.tree.place)
        decisions = [judged(policy, request, approvals).decision for request in requests]
        return strictest(decisions).action if decisions else "allow"


def make_ground(base: Path) -> Ground:
    project, outside, home = base / "work" / "proj", base / "outside", base / "home"
    for folder in (project / "sub", project / "migrations", project / "secrets", outside, home, project / "src"):
        folder.mkdir(parents=True)
    for name in (
        "victim",
        "README.md",
        "f",
        "a.json",
        "a.c",
        "k",
        "rc",
        "m.mk",
        "app.py",
        "sub/a",
        "src/app.py",
        "Makefile",
    ):
        (project / name).write_text("one\ntwo\n")
    for name in ("migrations/1.sql", "secrets/key", "prod.env", ".env", ".env.example"):
        (project / name).write_text("API=secret\n")
    (outside / "x").write_text("far\n")
    (project / "link").symlink_to(outside)
    (project / "lx").symlink_to(outside / "x")
    if HAS_GIT:
        environment = {"PATH": os.environ["PATH"], "HOME": str(home), "GIT_CONFIG_NOSYSTEM": "1"}
        for command in (["init", "-q"], ["add", "-f", "README.md", "app.py", "prod.env", "migrations", "src"]):
            subprocess.run(["git", *command], cwd=project, env=environment, check=True, capture_output=True)
    else:
        (project / ".git").mkdir()
    return Ground(tree=Tree(project), outside=outside, home=home)


def policy(*lines: str) -> Policy:
    """The rules alone, over an allowance of everything."""
    return Policy("build", (Layer("user", (Rule("*", "*", "allow"), *rules(*lines))),))


def default_policy(home: Path, *lines: str) -> Policy:
    """The rules that hold before anything is said, and then these."""
    folders = Folders.of({"HOME": str(home)})
    return Policy("build", (Layer("defaults", default_rules(folders)), Layer("user", rules(*lines))))
