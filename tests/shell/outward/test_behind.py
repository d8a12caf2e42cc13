"""What a line does beyond this machine by what lies in files: scripts, recipes, scripts of packages, git's aliases."""

import json
from pathlib import Path

import pytest

from toolwright.calls.acts import RANKS
from toolwright.shell.analysis.analysis import analyse
from toolwright.shell.outward import acts_behind, acts_by_text, may_run_files, with_stricter

SCRIPTS = {
    "go": "vite build && npm publish",
    "pretidy": "git push",
    "tidy": "ls",
    "build": "vite build",
    "up": "sh ship.sh",
}
MAKEFILE = """
all: lint
\tls
lint:
\truff check
out: pre
\t@for x in a; do \\
\t  kubectl delete pod $$x; done
pre:
\tgit push
"""
FILES = {
    "ship.sh": "set -e\ncd pkg && git push --force\n",
    "look.sh": "git status\nls\n",
    "outer.sh": "#!/bin/bash\n./ship.sh\n",
    "package.json": json.dumps({"scripts": SCRIPTS}),
    "Makefile": MAKEFILE,
    ".git/config": "[alias]\n  yolo = push --force\n  st = status\n  wild = !terraform destroy\n",
    ".git/HEAD": "ref: refs/heads/main\n",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    project = tmp_path_factory.mktemp("behind")
    for name, text in FILES.items():
        (project / name).parent.mkdir(exist_ok=True)
        (project / name).write_text(text)
    return project


@pytest.mark.parametrize(
    ("command", "kind"),
    [
        ("sh ship.sh", "final"),
        ("./ship.sh --now", "final"),
        ("bash -e ship.sh", "final"),
        ("source ship.sh", "final"),
        ("true && ./outer.sh", "final"),
        ("sh < ship.sh", "final"),
        ("cat ship.sh | sh", "final"),
        ("sh look.sh", ""),
        ("cat ship.sh", ""),
        ("chmod +x ship.sh", ""),
        ("npm run go", "final"),
        ("pnpm go", "final"),
        ("npm run tidy", "changes"),
        ("npm run up", "final"),
        ("npm run build", ""),
        ("yarn build --watch", ""),
        ("make", ""),
        ("make lint", ""),
        ("make out", "final"),
        ("make -j4 pre", "changes"),
        ("make -n out", ""),
        ("git yolo", "final"),
        ("git wild", "final"),
        ("git st", ""),
        ("python3 -c 'import os; os.system(\"git push --force\")'", "final"),
        ('node -e \'require("child_process").execFileSync("git", ["push"])\'', "changes"),
        ('python3 -c \'import subprocess; subprocess.run(["git", "push"])\'', "changes"),
        ("python3 -c 'print(1)'", ""),
        ("bash -c \"$(printf 'git push --force')\"", "final"),
        ("awk 'BEGIN{system(\"npm publish\")}'", "final"),
        ("awk '{print $1, \"git push\"}' a", "changes"),
        ("vim -c '!npm publish' -c q", "final"),
        ("tar cf x --checkpoint-action=exec='npm publish' y", "final"),
        ("tar cf x 'git status'", ""),
        ("bash -c \"echo 'git push --force'\"", ""),
        ('eval "$(echo git push)"', "changes"),
    ],
)
def test_a_line_does_what_its_files_do(folder: Path, command: str, kind: str) -> None:
    analysis = analyse(command, cwd=str(folder), home="/home/u", top=str(folder))
    behind = acts_behind(analysis) if may_run_files(analysis) else {}
    acts = with_stricter(acts_by_text(analysis), behind)
    kinds = [act.kind for act in acts.values() if act.kind in ("changes", "final")]
    assert max(kinds, key=RANKS.__getitem__, default="") == kind


def test_scripts_that_run_each_other_come_to_an_end(folder: Path) -> None:
    (folder / "one.sh").write_text("sh two.sh\n")
    (folder / "two.sh").write_text("sh one.sh\nsh two.sh\n")
    analysis = analyse("sh one.sh", cwd=str(folder), home="/home/u", top=str(folder))
    assert acts_behind(analysis) == {}
