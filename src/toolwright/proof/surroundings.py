"""Files outside of a project that decide what a command runs: programs, and what they read at their start."""

import os
from collections.abc import Iterable
from pathlib import Path

STARTUP = (
    *(".bashrc", ".bash_profile", ".bash_login", ".profile", ".zshenv", ".zshrc", ".pythonrc"),
    *(".pythonstartup", ".npmrc", ".yarnrc", ".gitconfig", ".config/git/config", ".config/pip/pip.conf"),
    *(".pip/pip.conf", ".cargo/config", ".cargo/config.toml", ".config/pytest.ini", ".pytest.ini", ".mocharc"),
    *(".pydistutils.cfg", ".config/go/env", ".makerc", ".noderc", ".config/fish/config.fish"),
)
"""Files of the home folder that shells, interpreters and test runners read by themselves."""
ABOVE = (
    *("pytest.ini", ".pytest.ini", "pytest.toml", "tox.ini", "setup.cfg", "pyproject.toml", "conftest.py"),
    *("package.json", ".npmrc", ".mocharc.json", ".mocharc.js", ".mocharc.cjs", ".mocharc.yml", ".babelrc"),
    *("jest.config.js", "jest.config.ts", "jest.config.json", "vitest.config.ts", "vitest.config.js", "vite.config.ts"),
    *("tsconfig.json", "babel.config.js", "go.work", "Cargo.toml", ".cargo/config.toml", ".tool-versions"),
)
"""Files of the folders above a project that test runners read by themselves."""
_PYTHON = (
    ".local/lib/python*/site-packages/*.pth",
    ".local/lib/python*/site-packages/*customize.py",
    ".local/lib/python*/site-packages/pytest/__init__.py",
    ".local/lib/python*/site-packages/_pytest/runner.py",
    ".local/bin/*",
)

Stamp = tuple[str, int, int]


def look_around(words: Iterable[str], home: Path, root: Path) -> dict[str, Stamp]:
    """Return the programs that a check runs and what they read at their start, each with what tells a change."""
    stamps = dict[str, Stamp]()
    for word in dict.fromkeys(words):
        if word and "/" not in word and (path := _find_program(word)) is not None:
            stamps[word] = _stamp(path)
    places = [home / name for name in STARTUP]
    for pattern in _PYTHON:
        places += home.glob(pattern)
    places += [folder / name for folder in root.resolve().parents for name in ABOVE]
    for place in places:
        if (stamp := _stamp(place))[0]:
            stamps[str(place)] = stamp
    return stamps


def _find_program(word: str) -> Path | None:
    """Return where a shell would find a program, whether or not it can be run."""
    places = (Path(folder, word) for folder in os.get_exec_path() if folder.startswith("/"))
    return next((place for place in places if place.is_file()), None)


def _stamp(path: Path) -> Stamp:
    try:
        status = path.stat()
        real = path.resolve()
    except OSError:
        return "", 0, 0
    return str(real), status.st_mtime_ns, status.st_size
