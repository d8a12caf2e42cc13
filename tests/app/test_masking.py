"""Settings as people and programs may see them: the same at every door."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Tw, home, tw
from toolwright.testing import make_workspace

__all__ = ["home", "tw"]

SETTINGS: dict[str, Any] = {
    "mcp": {
        "a": {"type": "local", "command": ["true", "--api-key", "hush1", "--verbose"]},
        "b": {"type": "remote", "url": "https://user:hush2@host.example/mcp?token=hush3&page=2"},
        "c": {"type": "local", "command": ["true"], "environment": {"LOGIN": "hush4"}},
        "d": {"type": "remote", "url": "https://host.example", "oauth": {"clientSecret": "hush5"}},
    },
    "instructions": ["docs/sk-hush6-0123456789.md"],
    "provider": {"mine": {"options": {"apiKey": "hush7", "headers": {"X-Team": "hush8"}, "apiKeys": ["hush9"]}}},
}


def _write(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "toolwright.json").write_text(json.dumps(SETTINGS))


def test_the_command_line_shows_no_secret(tw: Tw, home: Path) -> None:
    _write(home / ".config" / "toolwright")
    shown = tw("config", "--json").out
    assert "hush" not in shown
    assert "page=2" in shown


async def test_neither_a_client_nor_a_plugin_is_shown_one(tmp_path: Path) -> None:
    pytest.importorskip("starlette", reason="the server's parts are an extra")
    from tests.server.harness import served
    from toolwright.server.inside import answers_of

    async with served(tmp_path / "p", config=SETTINGS) as server:
        shown = json.dumps(await server.get("/config"))
    async with make_workspace(tmp_path / "p", config=SETTINGS) as workspace:
        told = json.dumps(await answers_of(workspace)("config.get", {}))
    for text in (shown, told):
        assert "hush" not in text
        assert "--verbose" in text
        assert "page=2" in text


async def test_a_client_that_sends_back_what_it_was_shown_changes_no_secret(tmp_path: Path) -> None:
    pytest.importorskip("starlette", reason="the server's parts are an extra")
    from tests.server.harness import served

    folder = tmp_path / "p"
    _write(folder)
    async with served(folder) as server:
        shown = {name: entry for name, entry in (await server.get("/config")).items() if name in SETTINGS}
        assert "hush" not in json.dumps(shown)
        shown["provider"]["new"] = {"options": {"apiKey": "********"}}
        await server.send("PATCH", "/config", json={**shown, "model": "a/b"})
    written = json.loads((folder / "toolwright.json").read_text())
    assert written["mcp"] == SETTINGS["mcp"]
    assert written["provider"]["mine"] == SETTINGS["provider"]["mine"]
    assert written["model"] == "a/b"
    assert "*****" not in json.dumps(written)
