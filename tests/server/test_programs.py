"""What clients are told of language servers and formatters."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.lsp.stage import server as scripted
from tests.mcp.conftest import scripted as scripted_mcp
from tests.server.harness import Served, served
from tests.server.test_session import project
from tests.waiting import until


async def write(one: Served, name: str, text: str) -> None:
    workspace = await one.serving.projects.of("")
    result = await workspace.call("write", filePath=name, content=text)
    assert result.error is None, result.output


def config(folder: Path, mode: str = "") -> dict[str, Any]:
    return {"permission": "allow", "lsp": scripted(folder, mode)}


async def test_no_server_is_listed_before_one_is_at_work(tmp_path: Path) -> None:
    folder = project(tmp_path)
    async with served(folder, config=config(folder)) as one:
        assert await one.get("/lsp") == []


async def test_a_server_at_work_is_listed_with_its_root(tmp_path: Path) -> None:
    folder = project(tmp_path)
    async with served(folder, config=config(folder)) as one:
        await write(one, "a.scr", "fine\n")
        assert await one.get("/lsp") == [{"id": "scripted", "name": "scripted", "root": "", "status": "connected"}]


async def test_a_server_that_failed_is_listed_as_such(tmp_path: Path) -> None:
    folder = project(tmp_path)
    async with served(folder, config=config(folder, "dies")) as one:
        await write(one, "a.scr", "fine\n")
        workspace = await one.serving.projects.of("")
        [slot] = workspace.languages.pool.slots.values()
        await until(lambda: slot.client is None)
        assert [server["status"] for server in await one.get("/lsp")] == ["error"]


async def test_a_server_of_a_folder_within_names_it_by_its_path_from_the_project(tmp_path: Path) -> None:
    folder = project(tmp_path)
    async with served(folder, config=config(folder)) as one:
        await write(one, "a.scr", "fine\n")
        workspace = await one.serving.projects.of("")
        [slot] = workspace.languages.pool.slots.values()
        slot.found = replace(slot.found, root=folder / "packages" / "app")
        assert [server["root"] for server in await one.get("/lsp")] == ["packages/app"]


async def test_formatters_are_listed_with_their_files_and_whether_they_are_used(tmp_path: Path) -> None:
    folder = project(tmp_path)
    formatters = {
        "mine": {"command": ["sh", "-c", "true", "$FILE"], "extensions": [".scr"]},
        "gofmt": {"disabled": True},
    }
    async with served(folder, config={"formatter": formatters}) as one:
        listed = {entry["name"]: entry for entry in await one.get("/formatter")}
    assert listed["mine"] == {"name": "mine", "extensions": [".scr"], "enabled": True}
    assert "gofmt" not in listed
    assert ".py" in listed["ruff"]["extensions"]
    assert listed["ruff"]["enabled"] is False  # the project does not ask for it


async def test_without_formatters_none_is_listed(tmp_path: Path) -> None:
    folder = project(tmp_path)
    async with served(folder, config={"formatter": False}) as one:
        assert await one.get("/formatter") == []


async def test_mcp_servers_are_told_of_switched_off_and_on_and_their_resources_are_listed(tmp_path: Path) -> None:
    servers = {"mcp": {"s": scripted_mcp(), "off": scripted_mcp(enabled=False)}}
    async with served(project(tmp_path), config=servers) as one:
        workspace = await one.serving.projects.of("")
        await workspace.mcp.settled()
        assert await one.get("/mcp") == {"s": {"status": "connected"}, "off": {"status": "disabled"}}
        listed = await one.get("/experimental/resource")
        assert {found["client"] for found in listed.values()} == {"s"}
        assert all(name == f"s:{found['uri']}" for name, found in listed.items())
        assert await one.post("/mcp/s/disconnect") is True
        assert (await one.get("/mcp"))["s"] == {"status": "disabled"}
        assert "s_echo" not in workspace.registry
        assert await one.get("/experimental/resource") == {}
        assert await one.post("/mcp/off/connect") is True
        assert (await one.get("/mcp"))["off"] == {"status": "connected"}
        assert "off_echo" in workspace.registry
        await one.post("/mcp/none/connect", status=404)
