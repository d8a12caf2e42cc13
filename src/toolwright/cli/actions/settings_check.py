"""Settings that ask for what they cannot have: names that lead nowhere, files that say nothing."""

from collections.abc import Iterator

from toolwright.errors import ToolwrightError
from toolwright.workspace import Workspace

SCRIPTED = "scripted/"
"""Models of this provider are files, and are named for one run."""


def unmet(workspace: Workspace) -> Iterator[str]:
    """A sentence for each, without its stop."""
    yield from _default_agent(workspace)
    yield from _models(workspace)
    yield from _agents(workspace)
    yield from _instructions(workspace)
    yield from _shell(workspace)
    yield from _commands(workspace)
    workspace.skills.all()
    yield from workspace.skills.warnings


def _default_agent(workspace: Workspace) -> Iterator[str]:
    try:
        workspace.agents.default()
    except ToolwrightError as error:
        yield f"default_agent: {error}"


def _models(workspace: Workspace) -> Iterator[str]:
    named_models = {"model": workspace.settings.model, "small_model": workspace.settings.small_model}
    named_models |= {f"model of the agent {one.name}": one.model for one in workspace.agents.by_name.values()}
    named_models |= {f"model of the command /{one.name}": one.model for one in workspace.commands.all()}
    for what, name in named_models.items():
        if not name or name.startswith(SCRIPTED):
            continue
        try:
            workspace.connections.catalog.find(name)
        except ToolwrightError as error:
            yield f"{what}: {error}"


def _agents(workspace: Workspace) -> Iterator[str]:
    for agent in workspace.agents.visible():
        if agent.native:
            continue
        if not agent.prompt and not agent.description:
            yield f"the agent {agent.name} has neither a description nor a prompt"
        elif not agent.description and agent.mode != "primary":
            yield f"the agent {agent.name} has no description, so that no other agent knows when to call it"


def _instructions(workspace: Workspace) -> Iterator[str]:
    from toolwright.session.turns.instructions import Instructions

    instructions = Instructions.of(workspace.config, workspace.folders)
    for entry in (*instructions.wanted, *instructions.confined):
        if "://" in entry:
            yield f"instructions: {entry} is an address; only files are read"
        elif not instructions.named(entry):
            yield f"instructions: there is no file {entry}"


def _shell(workspace: Workspace) -> Iterator[str]:
    from toolwright.process.programs.environment import choose_shell

    wanted, lookup = workspace.settings.shell, workspace.lookup
    chosen = choose_shell(lookup, workspace.environment.get("SHELL", ""), wanted)
    if wanted and lookup.find(wanted) != chosen:
        yield f"shell: {wanted} cannot be used; commands run in {chosen}"


def _commands(workspace: Workspace) -> Iterator[str]:
    for command in workspace.commands.all():
        if command.write is None and not command.template.strip():
            yield f"{command.origin}: the command /{command.name} is empty"
        if command.agent and command.agent not in workspace.agents:
            yield f"{command.origin}: the command /{command.name} is for an agent that is not there, {command.agent!r}"
