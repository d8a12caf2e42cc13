"""The providers and models that ship with the program, as its catalogue has them."""

import json
from pathlib import Path
from typing import Any

SNAPSHOT = Path(__file__).parents[1] / "models" / "known" / "catalog.json"
SCRIPTED = "scripted"
"""The provider whose models are scripts of the user's."""


def shipped_snapshot() -> dict[str, Any]:
    snapshot: dict[str, Any] = json.loads(SNAPSHOT.read_text("utf-8"))
    return snapshot


def shipped_providers() -> frozenset[str]:
    """Providers that everybody has: their address is not a project's to change."""
    return frozenset({*shipped_snapshot()["providers"], SCRIPTED})
