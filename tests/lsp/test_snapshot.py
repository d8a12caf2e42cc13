"""The text of a file as servers are told of it."""

import os
from pathlib import Path

from toolwright.lsp.snapshot import LARGEST, snapshot


def test_what_is_no_file_of_text_has_none_and_is_not_waited_for(tmp_path: Path) -> None:
    pipe, image, large = tmp_path / "a.py", tmp_path / "b.py", tmp_path / "c.py"
    os.mkfifo(pipe)
    image.write_bytes(bytes(range(256)))
    large.touch()
    os.truncate(large, LARGEST + 1)
    assert [snapshot(one) for one in (pipe, image, large, tmp_path, tmp_path / "none.py")] == [None] * 5


def test_a_text_comes_with_when_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_bytes("\ufeffx = 'é'\r\n".encode())
    taken, status = snapshot(path), path.stat()
    assert taken is not None
    assert (taken.text, taken.stamp) == ("x = 'é'\r\n", (status.st_mtime_ns, status.st_size))
