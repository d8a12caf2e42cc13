"""What a program is told about on its command line."""

import pytest

from toolwright.shell import analyse


@pytest.mark.parametrize(
    ("command", "reads"),
    [
        ("python3 t.py /outside/x", ("/outside/x", "/p/t.py")),
        ("python3 -m pytest /outside/x", ("/outside/x",)),
        ("node run.js --in=/outside/x plain", ("/outside/x", "/p/run.js")),
        ("unknown /outside/x", ("/outside/x",)),
    ],
)
def test_paths_handed_to_a_script_count_as_read(command: str, reads: tuple[str, ...]) -> None:
    assert set(analyse(command, cwd="/p", home="/h").reads) == set(reads)
