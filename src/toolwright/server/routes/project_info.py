"""A project for clients that begin: settings, providers, agents, commands, paths."""

import asyncio
import json
from pathlib import Path
from typing import Any

from toolwright.app.masking import is_masked, masked
from toolwright.http_server.refusal import HttpRefusal, bad_request, forbidden
from toolwright.machine.plain_files import read_start
from toolwright.protocols.json_types import Json
from toolwright.server.asking import RouteCall, Routes
from toolwright.server.frames import project_name
from toolwright.server.shapes import agent_json, command_json, providers_json
from toolwright.version import VERSION
from toolwright.workspace import Workspace

routes = Routes()

CONTRACT = "1.1.31"
"""The version of the reference whose contract this is."""
_KEYBINDS = Path(__file__).parent.parent / "keybinds.json"


@routes.get("/global/health", "global.health")
async def health(_: RouteCall) -> Any:
    """Tell that the server is there, and its version."""
    return {"healthy": True, "version": f"{CONTRACT}-toolwright.{VERSION}"}


@routes.get("/api/health", "api.health")
async def api_health(ask: RouteCall) -> Any:
    """The same for clients of the newer family."""
    return await health(ask)


@routes.get("/global/config", "global.config.get")
async def global_config(ask: RouteCall) -> Any:
    """The settings that hold where the server was started."""
    return config_json(await ask.serving.projects.of(""))


@routes.get("/pty/shells", "pty.shells")
async def shells(ask: RouteCall) -> Any:
    """The shells of this machine."""
    await ask.workspace()
    names = [line.strip() for line in read_start(Path("/etc/shells"), 64_000).decode("utf-8", "replace").splitlines()]
    programs = [Path(name) for name in names if name.startswith("/") and Path(name).is_file()]
    return [{"path": str(one), "name": one.name, "acceptable": True} for one in programs]


@routes.get("/config", "config.get")
async def config(ask: RouteCall) -> Any:
    """The settings that hold in the folder, without secrets, with the key bindings terminal clients need."""
    return config_json(await ask.workspace())


def config_json(workspace: Workspace) -> Json:
    data = masked(workspace.config.data, workspace.config.secrets)
    settings: Json = {
        "agent": {},
        "mode": {},
        "command": {},
        "plugin": [],
        "mcp": {},
        "experimental": {},
        "username": workspace.environment.get("USER", "user"),
        **data,
        "share": "disabled",
        "autoupdate": False,
    }
    if workspace.default_model:
        settings["model"] = workspace.default_model.partition(",")[0].strip()
    own = data.get("keybinds")
    settings["keybinds"] = {**json.loads(_KEYBINDS.read_text()), **(own if isinstance(own, dict) else {})}
    return settings


@routes.at("PATCH", "/config", "config.update", {"type": "object"})
async def change_config(ask: RouteCall) -> Any:
    """Write settings into the project's own file, and answer what holds then; those that cannot hold are refused."""
    workspace = await ask.workspace()
    body = await ask.body()
    ask.require_secret("Settings are written")
    if not workspace.trusted:
        raise forbidden("This project is not trusted, so its settings would not hold. Run `tw trust` in it first.")
    file = workspace.config.directory / "toolwright.json"
    before = await asyncio.to_thread(_merge_into, file, body)
    directory = str(workspace.directory)
    await ask.serving.dispose(workspace)
    try:
        return config_json(await ask.serving.projects.of(directory))
    except HttpRefusal as refusal:
        await asyncio.to_thread(_restore, file, before)
        raise bad_request(f"Nothing was written: {refusal}") from refusal


def _merge_into(file: Path, change: Json) -> str | None:
    """Write the change into a file; what was in it before, None if there was none."""
    from toolwright.config.jsonc import parse

    try:
        before = file.read_text("utf-8") if file.exists() else None
        merged = _merged(_object(parse(before, str(file)) if before else {}), change)
        fresh = file.with_name(f".{file.name}.new")
        fresh.write_text(json.dumps(merged, indent=2) + "\n", "utf-8")
        fresh.replace(file)
    except (OSError, UnicodeError) as error:
        raise bad_request(f"{file.name} cannot be written: {getattr(error, 'strerror', error)}.") from error
    return before


def _object(value: Any) -> Json:
    return value if isinstance(value, dict) else {}


def _restore(file: Path, before: str | None) -> None:
    if before is None:
        file.unlink(missing_ok=True)
    else:
        file.write_text(before, "utf-8")


def _merged(under: Json, over: Json) -> Json:
    """Lay settings over others. A mask is nobody's setting."""
    both = dict(under)
    for name, value in over.items():
        present = both.get(name)
        if isinstance(value, dict):
            both[name] = _merged(_object(present), value)
        elif not is_masked(value):  # what a client was shown masked and sends back stays what it is
            both[name] = value
    return both


@routes.get("/config/providers", "config.providers")
async def usable_providers(ask: RouteCall) -> Any:
    """The providers that can be used, and the model each would use."""
    listed = await _providers(ask)
    ready = [one for one in listed["all"] if one["id"] in listed["connected"]]
    names = {one["id"] for one in ready}
    return {"providers": ready, "default": {name: model for name, model in listed["default"].items() if name in names}}


@routes.get("/provider", "provider.list")
async def all_providers(ask: RouteCall) -> Any:
    """All providers that are known, and which of them have a key."""
    return await _providers(ask)


async def _providers(ask: RouteCall) -> Json:
    workspace = await ask.workspace()
    return await asyncio.to_thread(providers_json, workspace)


@routes.get("/agent", "app.agents")
async def agents(ask: RouteCall) -> Any:
    """All agents, with the rules they stand under."""
    workspace = await ask.workspace()
    return [agent_json(workspace, agent) for agent in workspace.agents.by_name.values()]


@routes.get("/command", "command.list")
async def commands(ask: RouteCall) -> Any:
    """The prompts that have a name."""
    return [command_json(command) for command in (await ask.workspace()).commands.all()]


@routes.get("/skill", "app.skills")
async def skills(ask: RouteCall) -> Any:
    """The skills that agents can use."""
    workspace = await ask.workspace()
    by_name = await asyncio.to_thread(workspace.skills.all)
    return [
        {"name": skill.name, "description": skill.description, "location": str(skill.file)}
        for skill in by_name.values()
    ]


@routes.get("/path", "path.get")
async def paths(ask: RouteCall) -> Any:
    """List the folders of the project and of the user."""
    workspace = await ask.workspace()
    return {
        "home": str(workspace.folders.home),
        "state": str(workspace.folders.data),
        "config": str(workspace.folders.config),
        "worktree": str(workspace.config.root),
        "directory": str(workspace.directory),
    }


@routes.get("/project", "project.list")
async def projects(ask: RouteCall) -> Any:
    """The projects that are open."""
    await ask.workspace()
    by_id = {one["id"]: one for one in map(project_json, ask.serving.projects.workspaces.values())}
    return list(by_id.values())


@routes.get("/project/current", "project.current")
async def project(ask: RouteCall) -> Any:
    """The project of the folder."""
    return project_json(await ask.workspace())


@routes.at("PATCH", "/project/{projectID}", "project.update", {"type": "object"})
async def change_project(ask: RouteCall) -> Any:
    """Accepted, since clients name and colour projects; nothing of it is kept."""
    workspace = await ask.workspace()
    await ask.body()
    return project_json(workspace)


@routes.get("/project/{projectID}/directories", "project.directories")
async def project_folders(ask: RouteCall) -> Any:
    """The folders of a project."""
    workspace = await ask.workspace()
    return [{"directory": str(workspace.config.root)}]


def project_id(workspace: Workspace) -> str:
    """The same that its sessions name."""
    return project_name(workspace.sessions.project_id)


def project_json(workspace: Workspace) -> Json:
    root = workspace.config.root
    try:
        created = int(root.stat().st_ctime * 1000)
    except OSError:
        created = 0
    vcs = {"vcs": "git"} if (root / ".git").exists() else {}
    return {
        "id": project_id(workspace),
        "worktree": str(root),
        **vcs,
        "sandboxes": [],
        "time": {"created": created, "updated": created},
    }


@routes.get("/experimental/tool/ids", "tool.ids")
async def tool_ids(ask: RouteCall) -> Any:
    """The names of all tools, those of files and plugins too."""
    registry = (await ask.workspace()).registry
    if registry.refresh is not None:
        await registry.refresh("")
    return registry.ids()


@routes.get("/experimental/tool", "tool.list")
async def tools(ask: RouteCall) -> Any:
    """The tools a model is offered, with their parameters; those of `agent`, or of the usual one."""
    workspace = await ask.workspace()
    named = ask.query("agent")
    agent = workspace.agents.ruled(workspace.agents[named] if named else workspace.agents.default())
    offered = await workspace.registry.tools(ask.query("provider"), ask.query("model"), agent)
    return [{"id": tool.id, "description": tool.description, "parameters": tool.parameters} for tool in offered]


@routes.post("/log", "app.log", {"type": "object", "required": ["service", "level", "message"]})
async def write_log(ask: RouteCall) -> Any:
    """A line for the log, from a client."""
    import logging

    body = await ask.body()
    logging.getLogger("toolwright.client").info("%s: %s", str(body["service"])[:80], str(body["message"])[:2000])
    return True


@routes.post("/instance/dispose", "instance.dispose")
async def dispose(ask: RouteCall) -> Any:
    """Close the folder; the next request opens it again."""
    await ask.serving.dispose(await ask.workspace())
    return True


@routes.post("/global/dispose", "global.dispose")
async def dispose_all(ask: RouteCall) -> Any:
    """Close all folders."""
    for workspace in list(ask.serving.projects.workspaces.values()):
        await ask.serving.dispose(workspace)
    ask.serving.tell("", "global.disposed", {})
    return True
