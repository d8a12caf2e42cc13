"""The small form of `make replay`: the sessions of some tests are recorded and played again."""

from pathlib import Path

import pytest

from tests.replay.every_session import play, record

TESTS = "tests/session/subagents/test_subagents.py"


@pytest.mark.slow
def test_the_sessions_of_other_tests_are_the_same_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record(tmp_path, [TESTS], "-n", "0")
    code = play(tmp_path)
    told = capsys.readouterr().out
    assert code == 0, told
    assert int(told.splitlines()[-1].split()[0]) > 15
