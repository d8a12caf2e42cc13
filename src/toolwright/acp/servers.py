"""The MCP servers that an editor brings along for a session, in the form of the settings."""

from typing import Any

from toolwright.protocols.json_types import Json
from toolwright.protocols.jsonrpc import INVALID_PARAMS, RpcError


def servers_of(given: Any) -> Json:
    """By name; RpcError for what is no server, or none that can be reached."""
    if not given:
        return {}  # some send an empty object for an empty list
    if not isinstance(given, list) or not all(isinstance(one, dict) for one in given):
        raise RpcError("mcpServers must be a list of servers.", INVALID_PARAMS)
    return {_text(one, "name"): _server(one) for one in given}


def _server(given: Json) -> Json:
    match given.get("type"):
        case "http":
            return {"type": "remote", "url": _text(given, "url"), "headers": _pairs(given.get("headers"))}
        case None | "stdio":
            arguments = given.get("args") or []
            if not isinstance(arguments, list) or not all(isinstance(one, str) for one in arguments):
                raise RpcError("args of an MCP server must be a list of texts.", INVALID_PARAMS)
            command = [_text(given, "command"), *arguments]
            return {"type": "local", "command": command, "environment": _pairs(given.get("env"))}
        case other:
            raise RpcError(f"MCP servers of type {str(other)[:40]!r} are not supported: stdio or http.", INVALID_PARAMS)


def _text(given: Json, key: str) -> str:
    value = given.get(key)
    if not isinstance(value, str) or not value:
        raise RpcError(f"An MCP server has no {key}.", INVALID_PARAMS)
    return value


def _pairs(given: Any) -> Json:
    """A list of names and values as one object."""
    listed = given or []
    if not isinstance(listed, list) or not all(isinstance(one, dict) for one in listed):
        raise RpcError("env and headers of an MCP server must be lists of name and value.", INVALID_PARAMS)
    return {_text(one, "name"): str(one.get("value", "")) for one in listed}
