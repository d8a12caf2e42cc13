"""Settings under other names and in other shapes, those of older files and of OpenCode 2, brought into ours.

What could be a restriction and cannot be said in our terms is an error, never passed over.
"""

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any

from toolwright.config.jsonc import KeyPath
from toolwright.config.merge import as_list, merged
from toolwright.config.source import written
from toolwright.errors import ConfigError
from toolwright.protocols.json_types import Json
from toolwright.record import record
from toolwright.settings import Settings
from toolwright.settings.derive import notes_of

RENAMED = {"agents": "agent", "commands": "command", "providers": "provider", "plugins": "plugin"}
_LOGIN = {
    "client_id": "clientId",
    "client_secret": "clientSecret",
    "callback_port": "callbackPort",
    "redirect_uri": "redirectUri",
}
OTHER_NAMES = ("$schema", "mode", "tool_output", "permissions", "policies", *RENAMED)
"""Keys of a file that are known and not of the record: the editor's own, and those that stand for one of ours."""


@record(slots=True)
class Shapes:
    """The translation of one source."""

    where: Callable[[KeyPath], str]
    renamed: dict[KeyPath, KeyPath] = field(default_factory=dict[KeyPath, KeyPath])
    """Paths here, and the paths they have in the text."""

    def apply(self, raw: Json) -> Json:
        """A whole file."""
        shaped = self._permissions(raw, ())
        for theirs, ours in RENAMED.items():
            if theirs in shaped:
                shaped = self._joined(shaped, theirs, ours)
        shaped = self._modes(shaped)
        shaped = self._output(shaped)
        if isinstance(agents := shaped.get("agent"), Mapping):
            shaped["agent"] = {name: self.agent(value, ("agent", name)) for name, value in agents.items()}
        if isinstance(providers := shaped.get("provider"), Mapping):
            shaped["provider"] = {name: self._provider(value, ("provider", name)) for name, value in providers.items()}
        if isinstance(shaped.get("mcp"), Mapping):
            shaped["mcp"] = self._servers(shaped["mcp"])
        return self._short(self._policies(shaped))

    def agent(self, value: Any, path: KeyPath = ()) -> Any:
        """The settings of one agent, in a file or in the head of a Markdown file."""
        if not isinstance(value, Mapping):
            return value
        shaped = self._permissions(dict(value), path)
        for theirs, ours in (("disabled", "disable"), ("system", "prompt")):
            if theirs in shaped and ours not in shaped:
                shaped[ours] = shaped.pop(theirs)
                self._rename((*path, ours), (*path, theirs))
        request = shaped.get("request")
        if isinstance(request, Mapping) and isinstance(request.get("body", {}), Mapping):
            # Its headers are the provider's matter here; what goes into the body are options.
            del shaped["request"]
            shaped["options"] = {**request.get("body", {}), **as_object(shaped.get("options"))}
        return shaped

    def _servers(self, mcp: Mapping[str, Any]) -> Json:
        """`mcp.servers` of OpenCode 2 and servers beside it, as both may stand in one file."""
        beside, limit = dict(mcp), None
        if _is_server_map(mcp):
            limit = None if _is_server(mcp.get("timeout")) else beside.pop("timeout", None)
            servers = beside.pop("servers")
            if twice := sorted(beside.keys() & servers.keys()):
                raise ConfigError(f"{self._where(('mcp', twice[0]))}: {twice[0]!r} stands under 'mcp.servers' as well.")
            for name in servers:
                self._rename(("mcp", name), ("mcp", "servers", name))
            beside |= servers
        return {name: self._server(entry, limit, ("mcp", name)) for name, entry in beside.items()}

    def _server(self, server: Any, limit: Any, path: KeyPath) -> Any:
        """A server: `disabled` in the place of `enabled`, times by phase, logins in other letters."""
        if not isinstance(server, Mapping):
            return server
        result = dict(server)
        if "disabled" in result and "enabled" not in result:
            off = result.pop("disabled")
            # What is of a wrong type stays as it is, and is refused when the file is checked.
            result["enabled"] = not off if isinstance(off, bool) else off
            self._rename((*path, "enabled"), (*self._written(path), "disabled"))
        if isinstance(limit, Mapping) and isinstance(result.get("timeout", {}), Mapping):
            result["timeout"] = {**limit, **result.get("timeout", {})}
        times = result.get("timeout")
        if isinstance(times, Mapping) and all(isinstance(one, int) for one in times.values()):
            del result["timeout"]
            result |= {"timeout": max(times.values())} if times else {}
        if isinstance(oauth := result.get("oauth"), Mapping):
            result["oauth"] = {_LOGIN.get(key, key): entry for key, entry in oauth.items()}
        return result

    def _short(self, value: Json) -> Json:
        """A plain value in the place of a section stands for one field of it."""
        result = dict(value)
        for key, note in notes_of(Settings).items():
            short = note.setting.short if note.setting else ""
            if short and key in result and not isinstance(result[key], Mapping):
                result[key] = {short: result[key]}
                self._rename((key, short), (key,))
        return result

    def _permissions(self, value: Json, path: KeyPath) -> Json:
        if "permissions" not in value:
            return dict(value)
        if "permission" in value:
            raise ConfigError(
                f"{self._where((*path, 'permissions'))}: `permission` and `permissions` stand side by side."
                " Write all rules under one of them."
            )
        self._rename((*path, "permission"), (*path, "permissions"))
        return {"permission" if key == "permissions" else key: entry for key, entry in value.items()}

    def _joined(self, value: Json, theirs: str, ours: str) -> Json:
        """Entries under both names are kept; one entry under both is a mistake."""
        here, there = value.get(ours), value[theirs]
        rest = {key: entry for key, entry in value.items() if key != theirs}
        if isinstance(here, Mapping) and isinstance(there, Mapping):
            if twice := sorted(here.keys() & there.keys()):
                raise ConfigError(f"{self._where((theirs, twice[0]))}: {twice[0]!r} stands under {ours!r} as well.")
            for name in there:
                self._rename((ours, name), (theirs, name))
            return rest | {ours: {**here, **there}}
        if isinstance(here, list) and isinstance(there, list):
            return rest | {ours: [*here, *there]}
        self._rename((ours,), (theirs,))
        return rest | {ours: there}

    def _modes(self, value: Json) -> Json:
        modes = value.get("mode")
        if not isinstance(modes, Mapping):
            return value
        agents = value.get("agent", {})
        if not isinstance(agents, Mapping):
            return value
        primary = {
            name: {**entry, "mode": "primary"} if isinstance(entry, Mapping) else entry for name, entry in modes.items()
        }
        for name in primary:
            if name not in agents:
                self._rename(("agent", name), ("mode", name))
        rest = {key: entry for key, entry in value.items() if key != "mode"}
        return rest | {"agent": merged([primary, agents])}

    def _output(self, value: Json) -> Json:
        limits, ours = value.get("tool_output"), value.get("truncate", {})
        if not isinstance(limits, Mapping) or not isinstance(ours, Mapping):
            return value
        for key in limits:
            if key not in ours:
                self._rename(("truncate", key), ("tool_output", key))
        rest = {key: entry for key, entry in value.items() if key != "tool_output"}
        return rest | {"truncate": {**limits, **ours}}

    def _provider(self, value: Any, path: KeyPath) -> Any:
        if not isinstance(value, Mapping):
            return value
        result = dict(value)
        for theirs, ours in (("package", "npm"), ("settings", "options")):
            if theirs in result and ours not in result:
                result[ours] = result.pop(theirs)
                self._rename((*path, ours), (*path, theirs))
        return result

    def _policies(self, value: Json) -> Json:
        """Denials of providers and tools have a place here; anything else in a policy is not understood."""
        said_below = value.get("experimental")
        experimental = dict(said_below) if isinstance(said_below, Mapping) else {}
        inner = experimental.get("policies")
        rest = {key: entry for key, entry in value.items() if key != "policies"}
        if inner is not None:
            rest["experimental"] = {key: entry for key, entry in experimental.items() if key != "policies"}
        for path, policies in ((("policies",), value.get("policies")), (("experimental", "policies"), inner)):
            for index, statement in enumerate(policies if isinstance(policies, list) else []):
                rest = self._policy(rest, statement, (*path, index))
            if policies is not None and not isinstance(policies, list):
                raise ConfigError(f"{self._where(path)}: expected a list of policies, got {type(policies).__name__}.")
        return rest

    def _policy(self, value: Json, statement: Any, path: KeyPath) -> Json:
        entry = statement if isinstance(statement, Mapping) else {}
        action, resource = entry.get("action"), entry.get("resource")
        if entry.get("effect") == "deny" and isinstance(resource, str) and resource:
            if action == "provider.use" and not set(resource) & set("*?"):
                disabled = value.get("disabled_providers", [])
                # What is of a wrong type stays as it is, and is refused when the file is checked.
                return value | {"disabled_providers": [*disabled, resource] if isinstance(disabled, list) else disabled}
            if action == "tool.use":
                tool, _, pattern = resource.partition(":")
                rule = {"action": tool, "resource": pattern or "*", "effect": "deny"}
                permission = value.get("permission", {})
                fine = isinstance(permission, str | list | Mapping)
                return value | {"permission": [*as_list(permission), rule] if fine else permission}
        raise ConfigError(
            f"{self._where(path)}: this policy cannot be followed here; there are `deny` of `provider.use` with a name"
            " and of `tool.use`. Say it with `permission` or `disabled_providers`."
        )

    def _where(self, path: KeyPath) -> str:
        return self.where(self._written(path))

    def _written(self, path: KeyPath) -> KeyPath:
        return written(path, self.renamed)

    def _rename(self, ours: KeyPath, theirs: KeyPath) -> None:
        self.renamed[ours] = theirs


def as_object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _is_server(value: Any) -> bool:
    return isinstance(value, Mapping) and ("command" in value or "url" in value)


def _is_server_map(mcp: Any) -> bool:
    """`mcp.servers` of OpenCode 2, and not a server that is called `servers`."""
    servers = mcp.get("servers") if isinstance(mcp, Mapping) else None
    return isinstance(servers, Mapping) and all(isinstance(entry, Mapping) for entry in servers.values())
