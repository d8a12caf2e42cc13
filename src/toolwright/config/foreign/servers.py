"""MCP servers as Claude Code, Codex and Gemini CLI write them, each brought into our form or left out with a reason."""

import re
from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any

from toolwright.config.foreign.found import NotUnderstood, require_known
from toolwright.protocols.json_types import Json
from toolwright.record import record

_BRACED = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")
_PLAIN = re.compile(r"\$(?:\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}|([A-Za-z_][A-Za-z0-9_]*))")

_CLAUDE = ("type", "command", "args", "env", "cwd", "url", "headers", "timeout", "oauth", "disabled")
_CLAUDE_HARMLESS = ("description", "title", "alwaysLoad", "alwaysAllow", "autoApprove")
_CODEX = (
    *("command", "args", "env", "env_vars", "cwd", "url", "bearer_token_env_var", "http_headers", "env_http_headers"),
    *("enabled", "startup_timeout_sec", "startup_timeout_ms", "tool_timeout_sec", "enabled_tools", "disabled_tools"),
    *("scopes", "tools", "default_tools_approval_mode"),
)
_CODEX_HARMLESS = ("name", "description", "required", "supports_parallel_tool_calls")
_CODEX_FREE = ("auto", "approve")
"""Ways of approving calls that ask no more than we do."""
_GEMINI = (
    *("type", "command", "args", "env", "cwd", "url", "httpUrl", "headers", "timeout", "oauth"),
    *("includeTools", "excludeTools"),
)
_GEMINI_HARMLESS = ("trust", "description", "extension", "extensionName")
_LOGIN = {
    "clientId": "clientId",
    "clientSecret": "clientSecret",
    "callbackPort": "callbackPort",
    "redirectUri": "redirectUri",
    "scope": "scope",
    "scopes": "scope",
}
_LOGIN_HARMLESS = ("enabled", "authorizationUrl", "tokenUrl", "authServerMetadataUrl")
"""Addresses that are found out by asking the server."""

Server = Callable[[Json, "Variables"], Json]


@record(slots=True, kw_only=True)
class Variables:
    """The environment that a file's variables are filled in from."""

    environment: Mapping[str, str]
    secrets: set[str] = field(default_factory=set[str])
    """Values that were filled in, so that they are not shown."""

    def get(self, name: str) -> str:
        if name not in self.environment:
            raise NotUnderstood(f"the variable {name} is not set")
        value = self.environment[name]
        self.secrets.add(value)
        return value

    def fill(self, value: Any, pattern: re.Pattern[str]) -> Any:
        """Every text within a value, with its variables filled in."""
        if isinstance(value, str):
            return pattern.sub(self._replacement, value)
        if isinstance(value, list):
            return [self.fill(entry, pattern) for entry in value]
        if isinstance(value, dict):
            return {key: self.fill(entry, pattern) for key, entry in value.items()}
        return value

    def _replacement(self, match: re.Match[str]) -> str:
        name = match[1] or match[3] if match.re is _PLAIN else match[1]
        default = match[2]
        return default if default is not None and not self.environment.get(name) else self.get(name)


def claude_server(entry: Json, variables: Variables) -> Json:
    """An entry of `.mcp.json`."""
    require_known(entry, (*_CLAUDE, *_CLAUDE_HARMLESS))
    entry = variables.fill(entry, _BRACED)
    way = entry.get("type", "http" if "url" in entry else "stdio")
    if way not in ("stdio", "http", "sse", "streamable-http", "streamableHttp"):
        raise NotUnderstood(f"it is reached by {way!r}, which is not spoken here")
    server = _local(entry) if way == "stdio" else _remote(entry, entry.get("url"))
    if entry.get("disabled") is True:
        server["enabled"] = False
    return server | _times(entry.get("timeout"))


def codex_server(table: Json, variables: Variables) -> Json:
    """A table `[mcp_servers.NAME]` of Codex."""
    require_known(table, (*_CODEX, *_CODEX_HARMLESS))
    _require_free_approval(table)
    server = _remote(table, table["url"]) if "url" in table else _local(table)
    handed = table.get("env_vars", [])
    named = [one for one in handed if isinstance(one, str)] if isinstance(handed, list) else []
    if "url" not in table and named:
        server["environment"] = {name: variables.get(name) for name in named} | server.get("environment", {})
    headers = dict(table.get("http_headers") or {})
    headers |= {name: variables.get(str(one)) for name, one in dict(table.get("env_http_headers") or {}).items()}
    if token := table.get("bearer_token_env_var"):
        headers["Authorization"] = f"Bearer {variables.get(str(token))}"
    server |= {"headers": headers} if headers else {}
    server |= {"oauth": {"scope": " ".join(map(str, table["scopes"]))}} if isinstance(table.get("scopes"), list) else {}
    server |= {key: table[key] for key in ("enabled", "enabled_tools", "disabled_tools") if key in table}
    seconds = [table.get(key) for key in ("tool_timeout_sec", "startup_timeout_sec")]
    limits = [int(one * 1000) for one in seconds if isinstance(one, int | float)]
    return server | _times(max([*limits, *filter(None, [table.get("startup_timeout_ms")])], default=None))


def gemini_server(entry: Json, variables: Variables) -> Json:
    """An entry of `mcpServers` of Gemini CLI."""
    require_known(entry, (*_GEMINI, *_GEMINI_HARMLESS))
    entry = variables.fill(entry, _PLAIN)
    address = entry.get("httpUrl") or entry.get("url")
    server = _remote(entry, address) if address else _local(entry)
    server |= {ours: entry[theirs] for theirs, ours in _GEMINI_TOOLS.items() if theirs in entry}
    return server | _times(entry.get("timeout"))


_GEMINI_TOOLS = {"includeTools": "enabled_tools", "excludeTools": "disabled_tools"}


def _local(entry: Json) -> Json:
    command, arguments = entry.get("command"), entry.get("args", [])
    if not isinstance(command, str) or not command or not isinstance(arguments, list):
        raise NotUnderstood("it names neither a program nor an address")
    server: Json = {"type": "local", "command": [command, *arguments]}
    server |= {"environment": entry["env"]} if entry.get("env") else {}
    return server | ({"cwd": entry["cwd"]} if entry.get("cwd") else {})


def _remote(entry: Json, address: Any) -> Json:
    server: Json = {"type": "remote", "url": address}
    server |= {"headers": entry["headers"]} if entry.get("headers") else {}
    return server | ({"oauth": _login(entry["oauth"])} if "oauth" in entry else {})


def _login(login_entry: Any) -> Any:
    if not isinstance(login_entry, Mapping):
        return login_entry
    require_known(login_entry, (*_LOGIN, *_LOGIN_HARMLESS))
    if login_entry.get("enabled") is False:
        return False
    login = {_LOGIN[key]: value for key, value in login_entry.items() if key in _LOGIN}
    return {key: " ".join(map(str, value)) if isinstance(value, list) else value for key, value in login.items()}


def _times(milliseconds: Any) -> Json:
    return {} if milliseconds is None else {"timeout": milliseconds}


def _require_free_approval(table: Json) -> None:
    ways = [table.get("default_tools_approval_mode", "auto")]
    tools = table.get("tools", {})
    if not isinstance(tools, Mapping):
        raise NotUnderstood("its 'tools' is not understood here and might restrict it")
    for tool in tools.values():
        require_known(tool if isinstance(tool, Mapping) else {"tools": tool}, ("approval_mode",))
        ways.append(tool.get("approval_mode", "auto"))
    strict = [way for way in ways if way not in _CODEX_FREE]
    if strict:
        raise NotUnderstood(
            f"its calls need an approval ({strict[0]!r}); say it as a rule, with the server under `mcp`"
        )
