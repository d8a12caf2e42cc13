"""Draws docs/demo.svg from what `tw demo` really prints: python docs/picture.py"""

import html
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
COLUMNS = 100
SIZE = 14
LINE = 19
COLOURS = {"> ": "#e6e6e6", "•": "#8a8f98", "…": "#8a8f98", "│": "#d7ba7d", "+": "#6cc26c", "-": "#e06c75"}
PLAIN = "#c9cdd3"


def main() -> None:
    lines = _shown(_printed())
    (HERE / "demo.svg").write_text(_svg(lines), "utf-8")


def _printed() -> str:
    with tempfile.TemporaryDirectory() as home:
        environment = {"HOME": home, "PATH": os.environ["PATH"], "COLUMNS": str(COLUMNS)}
        folder = Path(home, "shop")
        done = subprocess.run(
            [sys.executable, "-m", "toolwright", "demo", "--yes", "--directory", str(folder)],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=True,
        )
        return done.stdout.replace(str(folder), "~/shop")


def _shown(printed: str) -> list[str]:
    """From the prompt to the answer; the difference at the end was shown when it was made."""
    text = re.sub(r"Ran 2 tests in \S+", "Ran 2 tests in 0.001s", printed.partition("\nWhat has changed")[0])
    lines = ["$ tw demo --directory shop", ""]
    for line in text.rstrip().splitlines():
        lines += re.findall(rf".{{1,{COLUMNS}}}(?:\s|$)", line) or [""]
    return [line.rstrip() for line in lines]


def _svg(lines: list[str]) -> str:
    width, height = int(COLUMNS * SIZE * 0.62), (len(lines) + 2) * LINE
    rows = "\n".join(
        f'<text x="16" y="{(number + 1.6) * LINE:.0f}" fill="{_colour(line)}">{html.escape(line)}</text>'
        for number, line in enumerate(lines)
        if line
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" role="img" aria-label="tw demo">\n'
        f'<rect width="100%" height="100%" rx="8" fill="#1e2127"/>\n'
        f'<g font-family="ui-monospace, Menlo, Consolas, monospace" font-size="{SIZE}" xml:space="preserve">\n'
        f"{rows}\n</g>\n</svg>\n"
    )


def _colour(line: str) -> str:
    words = line.strip()
    return next((colour for mark, colour in COLOURS.items() if words.startswith(mark)), PLAIN)


if __name__ == "__main__":
    main()
