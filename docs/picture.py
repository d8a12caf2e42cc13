"""Draws docs/demo.svg from what `tw demo` really prints, and makes PACKAGE.md of README.md: python docs/picture.py

PACKAGE.md is the first page for a package index, which has no files beside it: words stand for the picture.
"""

import html
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
COLUMNS = 96
SIZE = 14
LINE = 19
MOST = 3
"""Lines of a program's output that are shown."""
COLOURS = {
    "$ ": "#e6e6e6",
    "> ": "#e6e6e6",
    "•": "#8a8f98",
    "…": "#8a8f98",
    "│": "#d7ba7d",
    "+": "#6cc26c",
    "-": "#e06c75",
}
PLAIN = "#c9cdd3"
PICTURE = re.compile(r"^!\[[^\]]*\]\(docs/demo\.svg\)$", re.MULTILINE)


def main() -> None:
    lines = shown(printed())
    (HERE / "demo.svg").write_text(drawn(lines), "utf-8")
    readme = (HERE.parent / "README.md").read_text("utf-8")
    (HERE.parent / "PACKAGE.md").write_text(without_picture(readme, lines), "utf-8")


def printed() -> str:
    """What the demo prints for somebody new, from the prompt to the answer."""
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
    return done.stdout.replace(str(folder), "~/shop").partition("\nWhat has changed")[0]


def shown(text: str) -> list[str]:
    """The lines of the picture: without the list of todos, without times, and of a long output only its end."""
    lines = ["$ tw demo --directory shop", ""]
    output: list[str] = []
    for line in [*text.rstrip().splitlines(), ""]:
        if line.lstrip().startswith("│"):
            output.append(line)
            continue
        lines += [line for line in output if set(line) - set("│ -=.")][-MOST:]
        output = []
        if not re.match(r"\s*(\[[ x>]\]|• todowrite)", line):
            lines.append(
                re.sub(r"(\(exit \d+), \d+ s\)|  \(\d+ s\)$", lambda found: f"{found[1]})" if found[1] else "", line)
            )
    return [re.sub(r"(Ran \d tests) in \S+", r"\1 in 0.001s", line).rstrip() for line in lines[:-1]]


def drawn(lines: list[str]) -> str:
    width, height = int(COLUMNS * SIZE * 0.62), (len(lines) + 2) * LINE
    rows = "\n".join(
        f'<text x="16" y="{(number + 1.6) * LINE:.0f}" fill="{_colour(line)}">{_kept_apart(line)}</text>'
        for number, line in enumerate(lines)
        if line
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" role="img" aria-label="tw demo">\n'
        f'<rect width="100%" height="100%" rx="8" fill="#1e2127"/>\n'
        f'<g font-family="ui-monospace, Menlo, Consolas, monospace" font-size="{SIZE}">\n'
        f"{rows}\n</g>\n</svg>\n"
    )


def without_picture(readme: str, lines: list[str]) -> str:
    words = "\n".join(["```text", *lines, "```"])
    return PICTURE.sub(lambda _: words, readme, count=1)


def _kept_apart(line: str) -> str:
    """Blanks that a drawing program does not run together."""
    return html.escape(line).replace(" ", "\N{NO-BREAK SPACE}")


def _colour(line: str) -> str:
    words = line.strip()
    return next((colour for mark, colour in COLOURS.items() if words.startswith(mark)), PLAIN)


if __name__ == "__main__":
    main()
