"""Records of the program in the shapes that clients read."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from toolwright.agents import Agent
from toolwright.commands import Command
from toolwright.errors import ToolwrightError
from toolwright.inbox import Question
from toolwright.jsontypes import Json
from toolwright.messages import Message
from toolwright.models.catalog import Catalog, ProviderInfo
from toolwright.models.connect import find_key
from toolwright.models.families import variants
from toolwright.models.info import ModelInfo
from toolwright.models.model import ModelError
from toolwright.server.frames import shown_metadata
from toolwright.wire import to_json
from toolwright.workspace import Workspace

if TYPE_CHECKING:
    from toolwright.models.connect import Connections


_MEDIA = ("text", "audio", "image", "video", "pdf")
_PACKAGES = {
    "anthropic": "@ai-sdk/anthropic",
    "gemini": "@ai-sdk/google",
    "openai-responses": "@ai-sdk/openai",
}


def message_json(message: Message) -> Json:
    """A message with its parts, both in the order of their ids."""
    parts = sorted(message.parts.values(), key=lambda part: part.id)
    return {"info": message.info, "parts": parts}


def question_json(question: Question) -> Json:
    """A question that waits, as its event told of it."""
    tool = {"messageID": question.message_id, "callID": question.call_id}
    if question.kind == "choice":
        return {
            "id": question.id,
            "sessionID": question.session_id,
            "questions": to_json(question.choices),
            "tool": tool,
        }
    return {
        "id": question.id,
        "sessionID": question.session_id,
        "permission": question.permission,
        "patterns": list(question.patterns),
        "always": list(question.always),
        "metadata": shown_metadata(question.permission, question.patterns, to_json(dict(question.metadata))),
        "tool": tool,
        "call": {
            "tool": question.tool,
            "arguments": to_json(dict(question.arguments)),
            "title": question.title,
            "agent": question.agent,
        },
        **({"callers": list(question.callers)} if question.callers else {}),
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
    """An agent and all rules it stands under, from weak to strong."""
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
        ready, source = _readiness(workspace, connections, provider)
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


def _readiness(workspace: Workspace, connections: "Connections", provider: ProviderInfo) -> tuple[bool, str]:
    configured = provider.id in workspace.settings.provider
    try:
        key = find_key(provider, workspace.environment, connections.auth_of(provider.id))
    except ModelError:
        return False, "config" if configured else "custom"
    in_environment = any(workspace.environment.get(name) for name in provider.env)
    ready = configured or key is not None
    return ready, "config" if configured else "env" if in_environment else "api" if key else "custom"


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
    """What the model says of itself, under the name it was chosen by."""
    try:
        info = workspace.connections.open(f"{provider}/{model}").info
    except ToolwrightError:
        info = ModelInfo(provider=provider, id=model)
    return replace(info, provider=provider, id=model)


def provider_json(provider: ProviderInfo, models: list[ModelInfo], source: str) -> Json:
    options = {"baseURL": provider.base_url} if provider.base_url else {}
    return {
        "id": provider.id,
        "name": provider.name,
        "source": source,
        "env": list(provider.env),
        "options": options,
        "models": {info.id: model_json(info, provider) for info in models},
    }


def model_json(info: ModelInfo, provider: ProviderInfo) -> Json:
    accepts = {kind: kind in info.accepts for kind in _MEDIA}
    return {
        "id": info.id,
        "providerID": info.provider,
        "name": info.name,
        "family": info.family,
        "api": {
            "id": info.api_id,
            "url": provider.base_url,
            "npm": _PACKAGES.get(info.api, "@ai-sdk/openai-compatible"),
        },
        "capabilities": {
            "temperature": info.temperature,
            "reasoning": info.reasoning,
            "attachment": "image" in info.accepts or "pdf" in info.accepts,
            "toolcall": info.tools,
            "interleaved": {"field": info.reasoning_field} if info.reasoning_field else False,
            "input": accepts,
            "output": {kind: kind == "text" for kind in _MEDIA},
        },
        "cost": {
            "input": info.prices.input,
            "output": info.prices.output,
            "cache": {"read": info.prices.cache_read, "write": info.prices.cache_write},
        },
        "limit": {"context": info.limits.context, "output": info.limits.output},
        "status": info.status or "active",
        "options": {},
        "headers": {},
        "release_date": info.released,
        "variants": {name: {} for name in variants(info)},
    }


_SECRET_KEYS = ("apikey", "headers", "token", "secret", "password", "passwd", "authorization", "credential", "cookie")
_HOLDERS = ("environment", "env", "oauth")


def without_secrets(value: Any, secrets: frozenset[str]) -> Any:
    """The same without keys, headers and what came from variables of the environment."""
    if isinstance(value, Mapping):
        return {name: without_secrets(entry, secrets) for name, entry in value.items() if not _hides(str(name), entry)}
    if isinstance(value, list | tuple):
        return [without_secrets(entry, secrets) for entry in value]
    if isinstance(value, str):
        for secret in secrets:
            if secret and secret in value:
                value = value.replace(secret, "")
    return value


def _hides(name: str, entry: Any) -> bool:
    plain = name.lower().replace("_", "").replace("-", "")
    if plain in _HOLDERS and isinstance(entry, Mapping):
        return True
    return any(word in plain for word in _SECRET_KEYS) and isinstance(entry, str | Mapping)
