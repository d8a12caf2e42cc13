"""Set-ups as users of other programs have them, to be copied into a project or a home."""

import shutil
from pathlib import Path

HERE = Path(__file__).parent


def lay_out(program: str, folder: Path) -> None:
    """Copy a set-up; `dot-` in a name stands for the dot, so that nothing here takes effect by itself."""
    for file in (HERE / program).rglob("*"):
        if file.is_file():
            parts = [part.replace("dot-", ".", 1) for part in file.relative_to(HERE / program).parts]
            target = folder.joinpath(*parts)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, target)
