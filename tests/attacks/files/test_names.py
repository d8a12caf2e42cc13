"""Names and files that are no ordinary ones: each tool answers in a sentence, whatever the system says to them."""

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from toolwright.definition import Call, Result
from toolwright.protocols.json_types import Json
from toolwright.testing import make_session

TOOLS: dict[str, Json] = {
    "read": {"filePath": "{}"},
    "write": {"filePath": "{}", "content": "x"},
    "edit": {"filePath": "{}", "oldString": "a", "newString": "b"},
    "multiedit": {"filePath": "{}", "edits": [{"oldString": "a", "newString": "b"}]},
    "glob": {"pattern": "*", "path": "{}"},
    "grep": {"pattern": "x", "path": "{}"},
    "list": {"path": "{}"},
}
PATCHES = {
    "add": "*** Begin Patch\n*** Add File: {}\n+x\n*** End Patch",
    "update": "*** Begin Patch\n*** Update File: {}\n@@\n+x\n*** End Patch",
    "delete": "*** Begin Patch\n*** Delete File: {}\n*** End Patch",
    "move": "*** Begin Patch\n*** Update File: a.txt\n*** Move to: {}\n@@\n+x\n*** End Patch",
}
CALLS: list[tuple[str, Json]] = [
    *TOOLS.items(),
    *(("apply_patch", {"patchText": text}) for text in PATCHES.values()),
]
NAMES = {
    "a name of 300 bytes": "n" * 300,
    "umlauts that are 256 bytes": "ä" * 128,
    "a path of 5000 bytes": "/".join(["d" * 99] * 50),
    "half a character": "a\ud800b",
    "a file as a folder": "a.txt/b/c",
    "a link to itself": "loop",
    "a link to itself as a folder": "loop/a",
}
SPECIAL = {
    "a pipe": "pipe",
    "a folder": "folder",
    "a file that the system makes up": "/proc/self/mem",
    "a device": "/dev/zero",
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    (root / "folder").mkdir(parents=True)
    (root / "a.txt").write_text("a\n")
    (root / "loop").symlink_to("loop")
    os.mkfifo(root / "pipe")
    return root


def _filled(value: object, name: str) -> object:
    if isinstance(value, str):
        return value.replace("{}", name)
    return value


async def _run(project: Path, tool: str, arguments: Json) -> Result:
    # Everything outside is allowed here: it is not the rules that must refuse.
    config = {"permission": {"external_directory": "allow"}}
    return await make_session(project, config=config).run_call(Call(id="c1", tool=tool, arguments=arguments))


@pytest.mark.parametrize("name", [*NAMES.values(), *SPECIAL.values()], ids=[*NAMES, *SPECIAL])
@pytest.mark.parametrize("number", range(len(CALLS)), ids=[*TOOLS, *PATCHES])
async def test_no_name_breaks_a_tool(project: Path, number: int, name: str) -> None:
    tool, template = CALLS[number]
    arguments = {key: _filled(value, name) for key, value in template.items()}
    result = await _run(project, tool, arguments)
    assert " broke:" not in result.output
    assert "Traceback" not in result.output


ARGUMENTS: list[tuple[str, Json]] = [
    ("glob", {"pattern": "n" * 5000}),
    ("glob", {"pattern": "(?:" * 300}),
    ("glob", {"pattern": "d/" * 3000}),
    ("read", {"filePath": "a.txt", "pages": "9" * 5000}),
    ("read", {"filePath": "a.txt", "pages": "1-" + "9" * 5000}),
    ("read", {"filePath": "a.txt", "offset": 10**30}),
]


@pytest.mark.parametrize(("tool", "arguments"), ARGUMENTS)
async def test_nor_does_any_other_argument(project: Path, tool: str, arguments: Json) -> None:
    result = await _run(project, tool, arguments)
    assert "broke" not in result.output
    assert len(result.output) < 12_000


async def test_a_name_that_is_too_long_is_told_as_such(project: Path) -> None:
    result = await _run(project, "write", {"filePath": "n" * 300, "content": "x"})
    assert result.error is not None
    assert result.error.kind == "schema"
    assert "300 bytes; 255 is the most" in result.output


@pytest.mark.skipif(not Path("/proc/kmsg").exists() or os.geteuid() != 0, reason="needs /proc/kmsg and root")
@pytest.mark.parametrize("tool", ["read", "grep"])
async def test_a_file_that_only_waits_for_more_holds_nobody_up(project: Path, tool: str) -> None:
    arguments = {"read": {"filePath": "/proc/kmsg"}, "grep": {"path": "/proc/kmsg", "pattern": "x"}}[tool]
    result = await _run(project, tool, dict(arguments))
    assert " broke:" not in result.output


_MANY = """
import asyncio, sys
from pathlib import Path
from toolwright.testing import make_session
from toolwright.definition import Call

project = Path(sys.argv[1])
sections = "\\n".join(f"*** Add File: d{number}/f{number}\\n+x" for number in range(400))
patch = f"*** Begin Patch\\n{sections}\\n*** End Patch"
result = asyncio.run(make_session(project).run_call(Call(id="c", tool="apply_patch", arguments={"patchText": patch})))
assert result.error is None, result.output
"""


def test_a_patch_of_400_files_in_400_folders_needs_few_descriptors(project: Path) -> None:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (128, 128))

    done = subprocess.run(
        [sys.executable, "-c", _MANY, project], preexec_fn=limit, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert len(list(project.glob("d*/f*"))) == 400


_FULL = """
import asyncio, resource, signal, sys
from pathlib import Path
from toolwright.testing import make_session
from toolwright.definition import Call

project = Path(sys.argv[1])
session = make_session(project)
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))
call = Call(id="c", tool="write", arguments={"filePath": "new", "content": "x" * 10_000})
result = asyncio.run(session.run_call(call))
print(result.error.kind if result.error else None, result.output)
"""


def test_a_file_that_does_not_fit_on_the_disk_is_told_and_leaves_nothing(project: Path) -> None:
    done = subprocess.run([sys.executable, "-c", _FULL, project], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "cannot be used: File too large." in done.stdout
    assert sorted(path.name for path in project.iterdir()) == ["a.txt", "folder", "loop", "pipe"]


@pytest.mark.parametrize("part", ["undo", "pending", "locks", "undo/images", "undo/sessions"])
async def test_a_data_folder_that_cannot_be_written_is_told_in_a_sentence(project: Path, part: str) -> None:
    blocked = project.parent / "project.home" / ".local" / "share" / "toolwright" / part
    blocked.parent.mkdir(parents=True)
    blocked.touch()
    await _run(project, "read", {"filePath": "a.txt"})
    result = await _run(project, "apply_patch", {"patchText": PATCHES["update"].replace("{}", "a.txt")})
    assert result.error is not None
    assert " broke:" not in result.output
    assert (project / "a.txt").read_text() == "a\n"
