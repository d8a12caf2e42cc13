"""What it costs a model to see one function and add a line to it, in ten files of the standard library.

Three ways: read the whole file and edit; read the one symbol and edit; read the one symbol and replace it as a whole.
No language server runs, so that no errors of the files are counted.

python bench/symbols.py
"""

import asyncio
import json
import shutil
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

from toolwright.definition import Result
from toolwright.session.session import Session
from toolwright.testing import make_workspace

CASES = {
    "argparse.py": "parse_known_args",
    "ast.py": "literal_eval",
    "dataclasses.py": "_process_class",
    "difflib.py": "find_longest_match",
    "inspect.py": "getsourcefile",
    "tarfile.py": "TarFile.add",
    "pprint.py": "_format",
    "shutil.py": "copytree",
    "subprocess.py": "Popen.communicate",
    "textwrap.py": "dedent",
}
LETTERS = 4
"""Letters of a token, about."""

Row = tuple[int, int, int]


async def measure(folder: Path) -> list[Row]:
    """Letters that pass between model and tools, for each file and way."""
    rows = list[Row]()
    config = {"permission": "allow", "lsp": {name: {"disabled": True} for name in ("ty", "basedpyright", "pyright")}}
    async with make_workspace(folder, config=config, environment={"PATH": ""}) as workspace:
        for name, function in CASES.items():
            whole = await read_whole(workspace.session(), name)
            session = workspace.session()
            part, shown = await exchange(session, "lsp", operation="readSymbol", filePath=name, query=function)
            lines = [line.partition("| ")[2] for line in shown.output.splitlines()[1:-3]]
            old = unique_end(lines, (folder / name).read_text())
            edited, _ = await exchange(session, "edit", filePath=name, oldString=old, newString=f"{old}  # and more")
            new = "\n".join((*lines, "    # one more line"))
            replaced, _ = await exchange(
                session, "lsp", operation="replaceSymbol", filePath=name, query=function, newString=new
            )
            rows.append((whole + edited, part + edited, part + replaced))
            print_row(name, function, rows[-1])
    return rows


async def read_whole(session: Session, name: str) -> int:
    seen, offset = 0, 1
    while offset:
        size, page = await exchange(session, "read", filePath=name, offset=offset)
        seen, offset = seen + size, page.metadata["nextOffset"] or 0
    return seen


async def exchange(session: Session, tool: str, **arguments: Any) -> tuple[int, Result]:
    """Letters of a call, arguments and answer together; and the answer."""
    result = await session.call(tool, **arguments)
    assert result.error is None, result.output
    return len(json.dumps(arguments)) + len(result.output), result


def unique_end(lines: list[str], text: str) -> str:
    """As few of the last lines of a function as occur but once in the file."""
    ends = ("\n".join(lines[-count:]) for count in range(1, len(lines) + 1))
    return next(end for end in ends if text.count(end) == 1)


def print_row(name: str, function: str, row: Row) -> None:
    print(f"  {name:16}{function:22}" + "".join(f"{letters // LETTERS:14,}" for letters in row))


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve() / "project"
        folder.mkdir()
        for file in CASES:
            shutil.copy(Path(sysconfig.get_path("stdlib")) / file, folder)
        print(f"  tokens, about{'':25}{'file, edit':>14}{'symbol, edit':>14}{'symbol, new':>14}")
        rows = asyncio.run(measure(folder))
        first, second, third = (sum(column) for column in zip(*rows, strict=True))
        print_row("all ten", "", (first, second, third))


if __name__ == "__main__":
    main()
