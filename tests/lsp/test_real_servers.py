"""Real servers, where they are installed: on the PATH, beside the Python that runs the tests, or in node_modules."""

import asyncio
import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.lsp.stage import warmed
from tests.outside import is_seen
from tests.waiting import patience
from toolwright.testing import make_workspace
from toolwright.workspace import Workspace

PATH = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
MODULES = next((one for one in Path(__file__).parents if (one / "node_modules").is_dir()), Path("/")) / "node_modules"


OF_NODE = ("bash", "typescript", "typescript-native")


@dataclass(frozen=True, kw_only=True)
class Case:
    """A project of two files in one language, and an edit of the first that breaks both."""

    server: str
    files: Mapping[str, str]
    old: str
    new: str
    at: tuple[int, int]
    """Where the second file uses what the first defines."""
    breaks: tuple[str, ...]
    says: str = ""
    """What the model must be told of it."""
    name: str = "double"
    """What the first file defines."""
    marks: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def names(self) -> list[str]:
        return list(self.files)


PYTHON = {"a.py": "def double(x: int) -> int:\n    return x\n", "b.py": "from a import double\n\ndouble(1)\n"}
TYPESCRIPT = {
    "a.ts": "export function double(x: number): number {\n  return x;\n}\n",
    "b.ts": 'import { double } from "./a";\n\ndouble(1);\n',
}
STRICT = {"tsconfig.json": '{"compilerOptions": {"strict": true}}', "package-lock.json": "{}"}
CASES = [
    Case(server="ty", files=PYTHON, old="x: int", new="x: str", at=(3, 1), breaks=("a.py", "b.py")),
    Case(server="basedpyright", files=PYTHON, old="x: int", new="x: str", at=(3, 1), breaks=("a.py", "b.py")),
    *(
        Case(
            server=server,
            files=TYPESCRIPT,
            old="x: number",
            new="x: string",
            at=(3, 1),
            breaks=("a.ts", "b.ts"),
            marks=STRICT,
        )
        for server in ("typescript", "typescript-native")
    ),
    Case(
        server="clangd",
        files={
            "a.c": "int doubled(int x) {\n  return x;\n}\n",
            "b.c": "int doubled(int x);\nint main(void) {\n  return doubled(1);\n}\n",
        },
        old="return x",
        new="return doubled()",
        at=(3, 10),
        breaks=("a.c",),
        says="note: 'doubled' declared here",
        name="doubled",
    ),
    Case(
        server="bash",
        files={"a.sh": "#!/bin/bash\ndouble() {\n  echo hi\n}\n", "b.sh": "#!/bin/bash\n. ./a.sh\ndouble\n"},
        old="echo hi",
        new="echo ho",
        at=(3, 1),
        breaks=(),
    ),
]


def link_modules(place: Path, case: Case) -> None:
    """Put the packages there. TypeScript 7 is installed as `typescript7`, beside the version that the others need."""
    seven = MODULES / "typescript7"
    if case.server == "typescript-native" and seven.is_dir():
        (place / ".bin").mkdir(parents=True)
        (place / "typescript").symlink_to(seven)
        (place / ".bin" / "tsc").symlink_to(seven / "bin" / "tsc")
    elif MODULES.is_dir():
        place.symlink_to(MODULES)


def opened(project: Path, case: Case, **more: Any) -> Workspace:
    for name, text in {**case.marks, **case.files}.items():
        (project / name).write_text(text)
    link_modules(project / "node_modules", case)
    others: dict[str, Any] = {"ty": {"disabled": True}} if case.server == "basedpyright" else {}
    config = {"permission": "allow", "lsp": others or True, **more}
    workspace = make_workspace(project, config=config, environment={"PATH": PATH})
    found = [one.server.id for one in workspace.languages.finder.for_file(project / case.names[0])]
    if case.server not in found:
        pytest.skip(f"the language server {case.server} is not installed")
    if case.server in OF_NODE and not is_seen(MODULES):
        pytest.skip("the packages lie in a temporary folder, which a box replaces")
    return workspace


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.server)
async def test_a_real_server_answers_and_tells_of_errors_here_and_elsewhere(project: Path, case: Case) -> None:
    first, second = case.names
    line, character = case.at
    where = {"filePath": second, "line": line, "character": character}
    async with opened(project, case) as workspace, workspace.session() as session:
        await session.call("read", filePath=first)
        await session.call("read", filePath=second)
        await warmed(workspace, first, second)
        async with patience():
            # clangd knows of another file once it has looked through it, and tells nobody when that is.
            while not (await session.call("lsp", operation="goToDefinition", **where)).output.startswith(f"{first}:"):
                pass
        references = await session.call("lsp", operation="findReferences", **where)
        assert f"{second}:{line}:" in references.output
        assert f"{first}:" in references.output
        hover = await session.call("lsp", operation="hover", **where)
        assert "double" in hover.output
        symbols = await session.call("lsp", operation="documentSymbol", filePath=first)
        assert "double" in symbols.output
        broken = await session.call("edit", filePath=first, oldString=case.old, newString=case.new)
        for name in case.breaks:
            assert f'<diagnostics file="{name}">' in broken.output, broken.output
        assert case.says in broken.output
        fixed = await session.call("edit", filePath=first, oldString=case.new, newString=case.old)
        assert "<diagnostics" not in fixed.output
        shown = await session.call("lsp", operation="readSymbol", filePath=first, query=case.name)
        lines = [line.partition("| ")[2] for line in shown.output.splitlines()[1:-3]]
        assert "\n".join(lines) in case.files[first]
        symbol = {"operation": "replaceSymbol", "filePath": first, "query": case.name}
        replaced = await session.call("lsp", **symbol, newString="\n".join(lines).replace(case.old, case.new))
        for name in case.breaks:
            assert f'<diagnostics file="{name}">' in replaced.output, replaced.output
        assert (project / first).read_text() == case.files[first].replace(case.old, case.new)
        await session.call("lsp", **symbol, newString="\n".join(lines))
        assert (project / first).read_text() == case.files[first]
        renamed = await session.call("lsp", operation="rename", newName="twice", **where)
        assert "Renamed in 2 files" in renamed.output, renamed.output
        assert "twice" in (project / first).read_text()
        assert "twice" in (project / second).read_text()
        assert "<diagnostics" not in renamed.output


@pytest.mark.slow
async def test_a_file_made_together_with_its_user_is_known_to_it(project: Path) -> None:
    case = CASES[0]
    patch = (
        "*** Begin Patch\n*** Add File: use.py\n+from made import f\n+f()\n"
        "*** Add File: made.py\n+def f() -> int:\n+    return 1\n*** End Patch"
    )
    async with opened(project, case) as workspace:
        await workspace.call("write", filePath="first.py", content="x = 1\n")
        result = await workspace.call("apply_patch", patchText=patch)
    assert "<diagnostics" not in result.output, result.output


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("ty", path=PATH) is None, reason="the language server ty is not installed")
async def test_old_errors_of_the_project_are_not_told_as_new(project: Path) -> None:
    (project / "old.py").write_text("x: int = 'no'\n")
    async with opened(project, CASES[0]) as workspace:
        first = await workspace.call("write", filePath="c.py", content="y = 1\n")
        assert "<diagnostics" not in first.output, first.output


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("ty", path=PATH) is None, reason="the language server ty is not installed")
@pytest.mark.parametrize("operation", ["hover", "codeAction"])
async def test_a_question_before_the_first_change_makes_no_old_error_a_new_one(project: Path, operation: str) -> None:
    (project / "old.py").write_text("x: int = 'no'\n")
    async with opened(project, CASES[0]) as workspace:
        await workspace.call("lsp", operation=operation, filePath="a.py", line=1, character=5)
        renamed = await workspace.call("lsp", operation="rename", filePath="a.py", line=1, character=5, newName="two")
        assert "Renamed in 2 files" in renamed.output
        assert "<diagnostics" not in renamed.output, renamed.output


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("ty", path=PATH) is None, reason="the language server ty is not installed")
async def test_changes_made_side_by_side_are_each_told_their_own_errors(project: Path) -> None:
    async with opened(project, CASES[0], edit={"gate": True}) as workspace, workspace.session() as session:
        for name in "cdef":
            texts = {f"{name}_bad.py": "x: int = 'no'\n", f"{name}_good.py": "y = 1\n"}
            written = [session.call("write", filePath=one, content=text) for one, text in texts.items()]
            bad, good = await asyncio.gather(*written)
            assert bad.output.startswith("The change is made, but it brought 1 new error"), bad.output
            assert "<diagnostics" not in good.output, good.output


def environment(folder: Path, *modules: str) -> Path:
    """Make a virtual environment in which these modules are installed."""
    packages = folder / "lib" / "python3.11" / "site-packages"
    packages.mkdir(parents=True)
    (folder / "pyvenv.cfg").write_text("home = /nonexistent\n")
    for name in modules:
        (packages / f"{name}.py").write_text("x = 1\n")
    return folder


@pytest.mark.slow
@pytest.mark.parametrize(
    ("there", "active", "known"),
    [
        ((), (), set[str]()),
        (("mine",), (), {"mine"}),
        ((), ("other",), {"other"}),
        (("mine",), ("other",), {"mine"}),
    ],
)
async def test_ty_takes_the_packages_of_the_project_and_never_those_installed_beside_it(
    project: Path, tmp_path: Path, there: tuple[str, ...], active: tuple[str, ...], known: set[str]
) -> None:
    if shutil.which("ty", path=PATH) is None:
        pytest.skip("ty is not installed")
    variables = {"VIRTUAL_ENV": str(environment(tmp_path / "active", *active))} if active else {}
    if there:
        environment(project / ".venv", *there)
    names = ("mine", "other", "pytest")
    (project / "a.py").write_text("".join(f"import {name}\n" for name in names))
    config = {"permission": "allow", "lsp": True}
    async with make_workspace(project, config=config, environment={"PATH": PATH, **variables}) as workspace:
        found, problems = await workspace.languages.check(project / "a.py")
    missing = {name for name in names if any(name in one.message for one in found)}
    assert (set(names) - missing, problems) == (known, [])


@pytest.mark.slow
@pytest.mark.parametrize("is_read", [True, False])
@pytest.mark.parametrize("case", CASES[:3], ids=lambda case: case.server)
async def test_of_a_file_with_many_errors_a_real_server_shows_the_new_one(
    project: Path, case: Case, is_read: bool
) -> None:
    name, wrong = ("old.py", "a{}: int = 'x'\n") if case.names[0] == "a.py" else ("old.ts", "const a{}: number = 'x'\n")
    old = "".join(wrong.format(number) for number in range(22))
    async with opened(project, case) as workspace, workspace.session() as session:
        (project / name).write_text(f"{old}last = 1\n" if name == "old.py" else f"{old}const last = 1\n")
        if is_read:
            await session.call("read", filePath=name)
            await warmed(workspace, name)
        patch = f"*** Begin Patch\n*** Update File: {name}\n@@\n-{{}}\n+{{}}\n*** End Patch"
        last = (project / name).read_text().splitlines()[-1]
        broken = await session.call("apply_patch", patchText=patch.format(last, f"{last[:-1]}nosuch"))
        assert broken.output.count("ERROR [") == 1, broken.output
        assert "nosuch" in broken.output
        assert f"22 older errors in {name} are not shown." in broken.output
        mended = await session.call("apply_patch", patchText=patch.format(f"{last[:-1]}nosuch", last))
        assert "ERROR [" not in mended.output
        assert f"22 older errors in {name} are not shown." in mended.output
