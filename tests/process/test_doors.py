"""The doors out of every box that are found among the sockets of the machine."""

import socket
from contextlib import ExitStack
from pathlib import Path

import pytest

from toolwright.process.box import hidden_paths


@pytest.mark.skipif(not hidden_paths.UNIX_SOCKETS.exists(), reason="this machine has no list of its sockets")
def test_no_number_of_sockets_that_a_job_makes_opens_one_that_was_there_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(hidden_paths, "MANY", 3 + len(hidden_paths.Sockets().elsewhere([])))
    sockets = hidden_paths.Sockets()
    with ExitStack() as stack:

        def listen(name: str) -> Path:
            door = stack.enter_context(socket.socket(socket.AF_UNIX))
            door.bind(str(tmp_path / name))
            door.listen()
            return tmp_path / name

        there = listen("there")
        assert there in sockets.elsewhere([])
        for number in range(300):
            listen(f"of-a-job-{number}")
        assert there in sockets.elsewhere([])
