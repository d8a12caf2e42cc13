"""The full screen looks for garbage whenever it rests; that takes long among the objects of all tests."""

import gc
from types import SimpleNamespace

import pytest


@pytest.fixture(autouse=True)
def garbage_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """The program itself, as `test_terminal.py` runs it, looks for it as always."""
    others = {name: getattr(gc, name) for name in ("get_threshold", "set_threshold")}
    idle = SimpleNamespace(collect=lambda: 0, freeze=lambda: None, unfreeze=lambda: None, **others)
    monkeypatch.setattr("toolwright.tui.view.gc", idle)
