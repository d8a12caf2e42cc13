"""Ids: in the order they were made, never twice, and nothing else passes for one."""

import subprocess
import sys

import pytest

from toolwright.text.ids import is_id, new_id


def test_ids_sort_in_the_order_they_were_made() -> None:
    ids = [new_id("msg") for _ in range(5000)]
    assert ids == sorted(ids)
    assert len(set(ids)) == len(ids)


def test_an_id_knows_its_kind() -> None:
    made = new_id("ses")
    assert is_id(made, "ses")
    assert not is_id(made, "msg")


def test_two_processes_make_different_ids() -> None:
    code = "from toolwright.text.ids import new_id; print(new_id('prt'))"
    made = {subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout for _ in range(2)}
    assert len(made) == 2


@pytest.mark.parametrize(
    "text", ["", "ses_", "ses", "ses_../../etc", "ses_a/b", "ses_a\n", "SES_abc", "ses_" + "a" * 65, "ses_ä", "x_abc"]
)
def test_what_only_looks_like_an_id_is_none(text: str) -> None:
    assert not is_id(text, "ses")
