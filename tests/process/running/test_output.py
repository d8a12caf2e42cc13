"""What a program prints: kept whole while it is short, at both ends and in a file when it is long."""

import asyncio
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.waiting import until
from toolwright.process.running import output as module
from toolwright.process.running.output import MEMORY, TAIL, OutputReader, ProgramOutput


def file_in(folder: Path) -> Callable[[], Path]:
    return lambda: folder / "whole"


def test_a_short_output_is_simply_kept(tmp_path: Path) -> None:
    output = ProgramOutput(file_in(tmp_path))
    output.feed(b"one ")
    output.feed(b"two")
    output.close()
    assert (output.head, output.tail, output.size, output.path) == (b"one two", b"", 7, None)
    assert list(tmp_path.iterdir()) == []


def test_a_long_output_keeps_both_ends_and_goes_to_a_file(tmp_path: Path) -> None:
    output = ProgramOutput(file_in(tmp_path))
    whole = b"".join(b"%08d\n" % number for number in range(100_000))
    for start in range(0, len(whole), 50_000):
        output.feed(whole[start : start + 50_000])
    output.close()
    assert output.head == whole[:MEMORY]
    assert output.tail == whole[-TAIL:]
    assert output.missing == len(whole) - MEMORY - TAIL
    assert output.path is not None
    assert output.path.read_bytes() == whole
    assert output.path.stat().st_mode & 0o777 == 0o600


def test_a_file_takes_no_more_than_its_cap_and_says_what_it_left_out(tmp_path: Path) -> None:
    output = ProgramOutput(file_in(tmp_path), cap=MEMORY + 1000)
    whole = os.urandom(3 * MEMORY)
    for start in range(0, len(whole), 10_000):
        output.feed(whole[start : start + 10_000])
    output.close()
    assert output.path is not None
    kept = output.path.read_bytes()
    assert kept.startswith(whole[: MEMORY + 1000])
    assert kept.endswith(whole[-TAIL:])
    left_out = 2 * MEMORY - 1000 - TAIL
    assert f"[{left_out} bytes of output were not kept here]".encode() in kept
    assert len(kept) < MEMORY + 1000 + TAIL + 100


@settings(max_examples=60, deadline=None)
@given(st.lists(st.binary(max_size=40), max_size=40), st.integers(0, 200))
def test_however_it_comes_both_ends_and_the_file_are_right(pieces: list[bytes], cap: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "MEMORY", 64)
        patch.setattr(module, "TAIL", 16)
        files: list[Path] = []
        output = ProgramOutput(lambda: _new(files), cap=cap)
        for piece in pieces:
            output.feed(piece)
        output.close()
        whole = b"".join(pieces)
        assert output.size == len(whole)
        assert output.head == whole[:64]
        assert output.tail == whole[64:][-16:]
        if len(whole) <= 64:
            assert output.path is None
            return
        [file] = files
        kept = file.read_bytes()
        shutil.rmtree(file.parent)
        if cap >= len(whole):
            assert kept == whole
        else:
            assert kept.startswith(whole[:cap])
            assert kept.endswith(whole[-1:])


def _new(files: list[Path]) -> Path:
    files.append(Path(tempfile.mkdtemp()) / "whole")
    return files[-1]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.binary(min_size=1, max_size=30), max_size=10), st.integers(0, 300))
def test_what_came_since_is_what_came_since(pieces: list[bytes], start: int) -> None:
    output = ProgramOutput(lambda: Path(os.devnull))
    for piece in pieces:
        output.feed(piece)
    assert output.since(start) == b"".join(pieces)[start:]


async def test_a_pipe_is_read_to_its_end(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    reader = OutputReader(reading, ProgramOutput(file_in(tmp_path)))
    os.write(writing, b"hello ")
    await until(lambda: reader.output.head == b"hello ")
    os.write(writing, b"world")
    os.close(writing)
    reader.close()
    assert reader.output.head == b"hello world"
    os.close(reading)


async def test_a_pipe_that_stays_open_does_not_hold_up_closing(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    reader = OutputReader(reading, ProgramOutput(file_in(tmp_path)))
    os.write(writing, b"so far")
    reader.close()
    assert reader.output.head == b"so far"
    os.close(reading)
    os.close(writing)


async def test_many_small_writes_cost_few_reads(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    calls = 0

    def count() -> None:
        nonlocal calls
        calls += 1

    reader = OutputReader(reading, ProgramOutput(file_in(tmp_path)), count)

    def write() -> None:
        for _ in range(20_000):
            os.write(writing, b"x" * 10)
        os.close(writing)

    await asyncio.to_thread(write)
    reader.close()
    assert reader.output.size == 200_000
    assert calls < 2000
    os.close(reading)
