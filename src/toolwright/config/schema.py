"""What a configuration file may say, as JSON Schema: checked here, and by editors through `$schema`."""

from typing import Any

Json = dict[str, Any]

_ACTION: Json = {"type": "string", "enum": ["allow", "ask", "deny"]}
_BY_PATTERN: Json = {"anyOf": [_ACTION, {"type": "object", "additionalProperties": _ACTION}]}
_PERMISSION: Json = {"anyOf": [_ACTION, {"type": "object", "additionalProperties": _BY_PATTERN}]}
_TOOLS: Json = {"type": "object", "additionalProperties": {"type": "boolean"}}
_STRINGS: Json = {"type": "array", "items": {"type": "string"}}
_TEXTS: Json = {"type": "object", "additionalProperties": {"type": "string"}}
_COUNT: Json = {"type": "integer", "minimum": 1}
_LIMITS: Json = {
    "max_lines": _COUNT,
    "max_bytes": _COUNT,
    "direction": {"enum": ["head", "tail", "both"]},
}
_SECONDS: Json = {"type": "number", "exclusiveMinimum": 0}

AGENT: Json = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "description": {"type": "string"},
        "mode": {"enum": ["primary", "subagent", "all"]},
        "model": {"type": "string"},
        "variant": {"type": "string"},
        "prompt": {"type": "string"},
        "temperature": {"type": "number"},
        "top_p": {"type": "number"},
        "steps": _COUNT,
        "maxSteps": _COUNT,
        "disable": {"type": "boolean"},
        "hidden": {"type": "boolean"},
        "color": {"type": "string", "pattern": "^#[0-9a-fA-F]{6}$|^[a-z][a-z-]*$"},
        "permission": _PERMISSION,
        "tools": _TOOLS,
        "options": {"type": "object"},
    },
}

_COMMAND: Json = {
    "type": "object",
    "properties": {
        "template": {"type": "string"},
        "description": {"type": "string"},
        "agent": {"type": "string"},
        "model": {"type": "string"},
        "subtask": {"type": "boolean"},
    },
    "required": ["template"],
}

_MCP: Json = {
    "type": "object",
    "properties": {
        "type": {"enum": ["local", "remote"]},
        "command": _STRINGS,
        "environment": _TEXTS,
        "cwd": {"type": "string"},
        "url": {"type": "string"},
        "headers": _TEXTS,
        "oauth": {"anyOf": [{"type": "object"}, {"type": "boolean", "const": False}]},
        "enabled": {"type": "boolean"},
        "timeout": _COUNT,
    },
}

_PROGRAM: Json = {
    "type": "object",
    "properties": {
        "disabled": {"type": "boolean"},
        "command": _STRINGS,
        "environment": _TEXTS,
        "env": _TEXTS,
        "extensions": _STRINGS,
        "initialization": {"type": "object"},
    },
}

_PROVIDER: Json = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "api": {"type": "string"},
        "npm": {"type": "string"},
        "env": _STRINGS,
        "options": {"type": "object"},
        "models": {"type": "object", "additionalProperties": {"type": "object"}},
        "whitelist": _STRINGS,
        "blacklist": _STRINGS,
    },
}

_SANDBOX_MODE: Json = {"type": "string", "enum": ["auto", "bubblewrap", "landlock", "off"]}
_SANDBOX: Json = {
    "anyOf": [
        _SANDBOX_MODE,
        {
            "type": "object",
            "properties": {
                "mode": _SANDBOX_MODE,
                "writable": _STRINGS,
                "readable": _STRINGS,
                "network": {"type": "boolean"},
                "reveal": _STRINGS,
            },
        },
    ]
}

CONFIG: Json = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "toolwright configuration",
    "type": "object",
    "properties": {
        "$schema": {"type": "string"},
        "permission": _PERMISSION,
        "tools": _TOOLS,
        "agent": {"type": "object", "additionalProperties": AGENT},
        "mode": {"type": "object", "additionalProperties": AGENT},
        "default_agent": {"type": "string"},
        "model": {"type": "string"},
        "small_model": {"type": "string"},
        "provider": {"type": "object", "additionalProperties": _PROVIDER},
        "disabled_providers": _STRINGS,
        "enabled_providers": _STRINGS,
        "command": {"type": "object", "additionalProperties": _COMMAND},
        "mcp": {"type": "object", "additionalProperties": _MCP},
        "formatter": {"anyOf": [{"type": "boolean"}, {"type": "object", "additionalProperties": _PROGRAM}]},
        "lsp": {"anyOf": [{"type": "boolean"}, {"type": "object", "additionalProperties": _PROGRAM}]},
        "instructions": _STRINGS,
        "plugin": {"type": "array"},
        "shell": {"type": "string"},
        "sandbox": _SANDBOX,
        "environment": {"type": "object", "properties": {"allow": _STRINGS, "deny": _STRINGS}},
        "edit": {"type": "object", "properties": {"drift": {"enum": ["merge", "replace", "refuse"]}}},
        "encoding": {"type": "string"},
        "search": {
            "type": "object",
            "properties": {
                "url": {"type": "string", "pattern": "^https?://"},
                "headers": _TEXTS,
                "timeout": _COUNT,
                "backend": {"enum": ["mcp", "searxng"]},
            },
            "required": ["url"],
        },
        "truncate": {
            "type": "object",
            "properties": _LIMITS
            | {
                "agent": {"type": "object", "additionalProperties": {"type": "object", "properties": _LIMITS}},
                "tool": {"type": "object", "additionalProperties": {"type": "object", "properties": _LIMITS}},
            },
        },
        "tool_output": {"type": "object", "properties": {"max_lines": _COUNT, "max_bytes": _COUNT}},
        "batch": {"type": "object", "properties": {"max_calls": _COUNT}},
        "compaction": {
            "type": "object",
            "properties": {"auto": {"type": "boolean"}, "prune": {"type": "boolean"}, "reserved": _COUNT},
        },
        "budget": {
            "type": "object",
            "properties": {"steps": _COUNT, "tokens": _COUNT, "cost": _SECONDS, "seconds": _SECONDS},
        },
        "experimental": {
            "type": "object",
            "properties": {
                "batch_tool": {"type": "boolean"},
                "lsp_tool": {"type": "boolean"},
                "plan_mode": {"type": "boolean"},
                "web_search": {"type": "boolean"},
                "primary_tools": _STRINGS,
                "continue_loop_on_deny": {"type": "boolean"},
                "mcp_timeout": _COUNT,
                "chatMaxRetries": {"type": "integer", "minimum": 0},
                "openTelemetry": {"type": "boolean"},
                "disable_paste_summary": {"type": "boolean"},
                "hook": {"type": "object"},
            },
        },
        # Settings of the reference that mean nothing here are accepted in silence, so that a file carries over.
        **{
            name: {}
            for name in (
                "theme",
                "keybinds",
                "logLevel",
                "tui",
                "server",
                "watcher",
                "snapshot",
                "share",
                "autoshare",
                "autoupdate",
                "username",
                "layout",
                "enterprise",
                "skills",
                "references",
                "subagent_depth",
                "attachment",
            )
        },
    },
}
