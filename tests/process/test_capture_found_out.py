"""Whether it can be seen what programs change is tried out, and told."""

from pathlib import Path

import pytest

from tests.outside import outside_folder
from tests.process.shell_session import EVERYTHING_ALLOWED, open_shell
from toolwright.process.sandbox import self_test
from toolwright.process.sandbox.sandbox import SandboxSettings


@pytest.mark.parametrize("kind", ["bubblewrap", "landlock"])
async def test_a_box_in_which_nothing_is_seen_is_found_out(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(self_test, "_has_noted", lambda *_: False)
    settings = SandboxSettings(mode="landlock" if kind == "landlock" else "bubblewrap")
    with outside_folder() as home:
        project = home / "project"
        project.mkdir()
        environment = {"HOME": str(home), "PATH": "/usr/bin:/bin"}
        async with open_shell(project, sandbox=settings, rules=EVERYTHING_ALLOWED, environment=environment) as shell:
            lines = await shell.sandbox.describe()
            assert any("only what a command's line names can be undone" in line for line in lines)
            assert (await shell.bash("touch named")).error is None
            entries = shell.workspace.files.journal.everything(shell.session.id)
            assert [Path(entry.path).name for entry in entries] == ["named"]
