"""Build the site of these pages: `make docs` puts it into `site/`, a folder for each version and a list of them.

The pages are copied with what a site wants said otherwise: a listing that has a name shows it, and the programs of
`examples/` lie beside them. A link or an anchor that leads nowhere ends it.
"""

import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGES, BUILT, SITE = ROOT / ".site" / "pages", ROOT / ".site" / "built", ROOT / "site"
GENERATOR = "zensical>=0.0.73,<1"
FENCE = re.compile(r"^( *```\w+) (.+)$", re.MULTILINE)


def main() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    shutil.rmtree(PAGES, ignore_errors=True)
    PAGES.mkdir(parents=True)
    for file in (ROOT / "docs").iterdir():
        if file.suffix == ".md":
            (PAGES / file.name).write_text(page(file.read_text("utf-8")), "utf-8")
        elif file.suffix in (".svg", ".png"):
            shutil.copy2(file, PAGES)
    shutil.copytree(ROOT / "examples", PAGES / "examples", ignore=shutil.ignore_patterns("__pycache__"))
    uv = Path(sys.executable).with_name("uv")
    command = [str(uv if uv.exists() else "uv"), "tool", "run", "--quiet", "--from", GENERATOR]
    subprocess.run([*command, "zensical", "build", "--clean", "--strict"], cwd=ROOT, check=True)
    shutil.rmtree(SITE / version, ignore_errors=True)
    shutil.copytree(BUILT, SITE / version)
    versions = sorted((file.parent.name for file in SITE.glob("*/index.html")), key=numbers, reverse=True)
    listed = [{"version": one, "title": one, "aliases": ["latest"] if one == versions[0] else []} for one in versions]
    (SITE / "versions.json").write_text(json.dumps(listed, indent=1) + "\n")
    target = f"{versions[0]}/index.html"
    (SITE / "index.html").write_text(f'<!doctype html><meta http-equiv="refresh" content="0; url={target}">\n')
    sys.stdout.write(f"open {SITE / target}\n")


def page(text: str) -> str:
    """Return a page as the generator reads it."""
    return FENCE.sub(listing, text).replace("](../examples/", "](examples/")


def listing(match: re.Match[str]) -> str:
    """Return the head of a listing with its name as a title; what only our tests read of it goes."""
    name = re.search(r"\bfile=(\S+)", match[2])
    return f'{match[1]} title="{name[1]}"' if name else match[1]


def numbers(version: str) -> list[int]:
    return [int(one) for one in re.findall(r"\d+", version)]


if __name__ == "__main__":
    main()
