"""What it costs a model to see one function: its lines found by documentSymbol, beside the whole file; ten files.

python bench/symbols.py
"""

import asyncio
import os
import re
import shutil
import sys
import sysconfig
import tempfile
from pathlib import Path

from toolwright.testing import make_workspace

PATH = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
CASES = {
    "argparse.py": "parse_known_args",
    "ast.py": "literal_eval",
    "dataclasses.py": "_process_class",
    "difflib.py": "find_longest_match",
    "inspect.py": "getsourcefile",
    "pathlib.py": "relative_to",
    "pprint.py": "_format",
    "shutil.py": "copytree",
    "subprocess.py": "communicate",
    "textwrap.py": "dedent",
}
LETTERS = 4
"""Letters of a token, about."""


async def measure(folder: Path) -> None:
    config = {"permission": "allow", "lsp": True}
    everything = narrowed = 0
    async with make_workspace(folder, config=config, environment={"PATH": PATH}) as workspace:
        for name, function in CASES.items():
            whole, offset = 0, 1
            while offset:
                page = await workspace.call("read", filePath=name, offset=offset)
                whole += len(page.output)
                offset = page.metadata["nextOffset"] or 0
            symbols = await workspace.call("lsp", operation="documentSymbol", filePath=name, query=function)
            first, last = re.findall(rf" {function} \(lines (\d+)-(\d+)\)", symbols.output)[0]
            lines = int(last) - int(first) + 1
            part = await workspace.call("read", filePath=name, offset=int(first), limit=lines)
            seen = len(symbols.output) + len(part.output)
            everything, narrowed = everything + whole, narrowed + seen
            print(f"  {name:16}{function:20}{whole // LETTERS:8,} tokens whole{seen // LETTERS:8,} by symbol")
    print(f"  {'all ten':36}{everything // LETTERS:8,} tokens whole{narrowed // LETTERS:8,} by symbol")


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve() / "project"
        folder.mkdir()
        for file in CASES:
            shutil.copy(Path(sysconfig.get_path("stdlib")) / file, folder)
        asyncio.run(measure(folder))


if __name__ == "__main__":
    main()
