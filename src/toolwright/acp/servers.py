"""The MCP servers that an editor brings along for a session, in the form of the settings."""

from typing import Any

from toolwright.protocols.json_types import Json
from toolwright.protocols.jsonrpc import INVALID_PARAMS, RpcError


def servers_of(value: Any) -> Json:
    """By name; RpcError for what is no server, or none that can be reached."""
    if not value:
        return {}  # some send an empty object for an empty list
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        raise RpcError("mcpServers must be a list of servers.", INVALID_PARAMS)
    return {_text_field(one, "name"): _server(one) for one in value}


def _server(server: Json) -> Json:
    match server.get("type"):
        case "http":
            return {"type": "remote", "url": _text_field(server, "url"), "headers": _pairs(server.get("headers"))}
        case None | "stdio":
            arguments = server.get("args") or []
            if not isinstance(arguments, list) or not all(isinstance(one, str) for one in arguments):
                raise RpcError("args of an MCP server must be a list of texts.", INVALID_PARAMS)
            command = [_text_field(server, "command"), *arguments]
            return {"type": "local", "command": command, "environment": _pairs(server.get("env"))}
        case other:
            raise RpcError(f"MCP servers of type {str(other)[:40]!r} are not supported: stdio or http.", INVALID_PARAMS)


def _text_field(fields: Json, key: str) -> str:
    value = fields.get(key)
    if not isinstance(value, str) or not value:
        raise RpcError(f"An MCP server has no {key}.", INVALID_PARAMS)
    return value


def _pairs(value: Any) -> Json:
    """A list of names and values as one object."""
    listed = value or []
    if not isinstance(listed, list) or not all(isinstance(one, dict) for one in listed):
        raise RpcError("env and headers of an MCP server must be lists of name and value.", INVALID_PARAMS)
    return {_text_field(one, "name"): str(one.get("value", "")) for one in listed}
