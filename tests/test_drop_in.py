"""The page of what is the same as elsewhere is the one that its script makes of what was counted."""

import json
import sys
from importlib import import_module
from types import ModuleType

from tests.pages import ROOT


def test_the_page_is_made_of_what_was_counted() -> None:
    script = _script()
    assert script.page(json.loads((ROOT / "bench" / "drop_in.json").read_text("utf-8"))) == (
        ROOT / "docs" / "drop-in.md"
    ).read_text("utf-8"), "python bench/drop_in.py makes it anew"


def _script() -> ModuleType:
    sys.path.insert(0, str(ROOT / "bench"))
    try:
        return import_module("drop_in")
    finally:
        sys.path.remove(str(ROOT / "bench"))
