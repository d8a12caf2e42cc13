"""Records of the program in the shapes that clients read."""

from dataclasses import replace

from toolwright.agents import Agent
from toolwright.app.models import readiness
from toolwright.app.shown import Looks, looks_of
from toolwright.commands import Command
from toolwright.errors import ToolwrightError
from toolwright.inbox import Question
from toolwright.messages import Message
from toolwright.models.info import ModelInfo
from toolwright.models.known.catalog import Catalog, ProviderInfo
from toolwright.models.known.described import model_json, provider_json
from toolwright.permission.asking import named
from toolwright.protocols.client_json import to_json
from toolwright.protocols.json_types import Json
from toolwright.server.frames import shown_metadata
from toolwright.workspace import Workspace


def message_json(message: Message, workspace: Workspace) -> Json:
    """A message with its parts, both in the order of their ids; of calls it is told how they are shown."""
    parts = sorted(looks_of(workspace).message(message).parts.values(), key=lambda part: part.id)
    return {"info": message.info, "parts": parts}


def question_json(question: Question, looks: Looks) -> Json:
    """A question that waits, as its event told of it."""
    tool = {"messageID": question.message_id, "callID": question.call_id}
    if question.kind == "choice":
        return {
            "id": question.id,
            "sessionID": question.session_id,
            "questions": to_json(question.choices),
            "tool": tool,
        }
    call: Json = {
        "tool": question.tool,
        "arguments": to_json(dict(question.arguments)),
        "title": question.title,
        "agent": question.agent,
    } | named(question)
    return {
        "id": question.id,
        "sessionID": question.session_id,
        "permission": question.permission,
        "patterns": list(question.patterns),
        "always": list(question.always),
        "metadata": shown_metadata(question.permission, question.patterns, to_json(dict(question.metadata))),
        "tool": tool,
        "call": call | looks.asked(call, question.permission),
        **({"callers": list(question.callers)} if question.callers else {}),
        **({"also": to_json(question.also)} if question.also else {}),
    }


def command_json(command: Command) -> Json:
    """A prompt with a name."""
    optional = {
        "description": command.description,
        "agent": command.agent,
        "model": command.model,
        "subtask": command.subtask,
    }
    value = {"name": command.name, "template": command.template, "hints": command.hints, "source": "command"}
    return value | {name: entry for name, entry in optional.items() if entry not in ("", None)}


def agent_json(workspace: Workspace, agent: Agent) -> Json:
    """Return an agent and all its rules, from weak to strong."""
    layers = workspace.agents.ruled(agent).policy.layers
    rules = [
        {"permission": rule.permission, "pattern": rule.pattern, "action": rule.action}
        for layer in layers
        for rule in layer.rules
    ]
    value: Json = {
        "name": agent.name,
        "mode": agent.mode,
        "native": agent.native,
        "permission": rules,
        "options": agent.options,
    }
    optional = {
        "description": agent.description,
        "hidden": agent.hidden,
        "color": agent.color,
        "prompt": agent.prompt,
        "steps": agent.steps,
        "temperature": agent.temperature,
        "topP": agent.top_p,
        "model": _model_ref(agent.model) if agent.model else None,
    }
    return value | {name: entry for name, entry in optional.items() if entry not in (None, "", False)}


def _model_ref(name: str) -> Json:
    provider, _, model = name.partition(",")[0].strip().partition("/")
    return {"providerID": provider, "modelID": model}


def providers_json(workspace: Workspace) -> Json:
    """All providers, the model each would use, and those that have a key."""
    connections = workspace.connections
    every: list[Json] = []
    connected: list[str] = []
    default: Json = {}
    for provider in connections.catalog.providers():
        models = [info for info in connections.catalog.models(provider.id) if info.status != "deprecated"]
        ready, source = readiness(workspace, provider)
        every.append(provider_json(provider, models, source))
        if ready and models:
            connected.append(provider.id)
        if models:
            default[provider.id] = max(models, key=lambda info: (info.released, info.id)).id
    _add_chosen(workspace, connections.catalog, every, connected)
    chosen = _model_ref(workspace.default_model) if workspace.default_model else {}
    if chosen.get("providerID") in {one["id"] for one in every}:
        default[chosen["providerID"]] = chosen["modelID"]
    return {"all": every, "default": default, "connected": connected}


def _add_chosen(workspace: Workspace, catalog: Catalog, every: list[Json], connected: list[str]) -> None:
    """The model that prompts go to must be in the lists, also where no catalogue has it."""
    chosen = _model_ref(workspace.default_model) if workspace.default_model else {}
    name = chosen.get("providerID", "")
    if not name:
        return
    known = next((one for one in every if one["id"] == name), None)
    if known is None:
        provider = ProviderInfo(id=name, name=name)
        every.insert(0, provider_json(provider, [_chosen_info(workspace, name, chosen["modelID"])], "config"))
        connected.append(name)
    elif chosen["modelID"] not in known["models"] and name in connected:
        info = _chosen_info(workspace, name, chosen["modelID"])
        known["models"][info.id] = model_json(info, catalog.provider(name))


def _chosen_info(workspace: Workspace, provider: str, model: str) -> ModelInfo:
    """Return what the model says of itself, under the name it was chosen by."""
    try:
        info = workspace.connections.open(f"{provider}/{model}").info
    except ToolwrightError:
        info = ModelInfo(provider=provider, id=model)
    return replace(info, provider=provider, id=model)
