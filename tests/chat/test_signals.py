"""Signals while a line is read."""

import os
import signal

import pytest

from toolwright.chat import signals


def sent_again(heard: bytes, places: list[int], monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The signals that are sent again after these were heard, while the line that is read has these numbers."""
    ears, mouth = os.pipe()
    os.write(mouth, heard)
    os.close(mouth)
    sent: list[int] = []
    monkeypatch.setattr(signals, "AGAIN", 0)
    monkeypatch.setattr(signal, "pthread_kill", lambda _, number: sent.append(number))
    signals._repeat(ears, 0, lambda: places.pop(0) if len(places) > 1 else places[0])
    return sent


def test_a_signal_that_was_handled_is_not_sent_again_however_late_it_is_heard_of(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert sent_again(bytes([signal.SIGINT]) + signals.HANDLED, [7], monkeypatch) == []


def test_a_signal_that_the_line_editor_has_overslept_is_sent_again(monkeypatch: pytest.MonkeyPatch) -> None:
    assert sent_again(bytes([signal.SIGINT]), [7, 7, 7, 8], monkeypatch) == [signal.SIGINT]


def test_a_signal_that_comes_while_no_line_is_read_is_not_sent_again(monkeypatch: pytest.MonkeyPatch) -> None:
    assert sent_again(bytes([signal.SIGINT]), [0], monkeypatch) == []
