"""The contract as OpenAPI 3.1, made from the routes themselves."""

import re
from typing import Any

from toolwright.protocols.json_types import Json
from toolwright.server.asking import Route, RouteCall, Routes
from toolwright.version import VERSION

routes = Routes()

_PLACE = re.compile(r"\{(\w+)\}")
_ERROR = {
    "type": "object",
    "required": ["name", "data"],
    "properties": {
        "name": {"type": "string"},
        "data": {"type": "object", "required": ["message"], "properties": {"message": {"type": "string"}}},
    },
}


@routes.get("/doc", "doc.get")
async def document(_: RouteCall) -> Any:
    """This document."""
    from toolwright.server.routes.all import TABLE

    paths: dict[str, Json] = {}
    for route in TABLE.routes:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route)
    return {
        "openapi": "3.1.0",
        "info": {"title": "toolwright", "version": VERSION},
        "paths": paths,
        "components": {"schemas": {"Error": _ERROR}},
    }


def _operation(route: Route) -> Json:
    places = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
        for name in _PLACE.findall(route.path)
    ]
    folder = {"name": "directory", "in": "query", "schema": {"type": "string"}}
    answer = {"description": "as asked", "content": {"application/json": {"schema": {}}}}
    refusal = {
        "description": "not carried out",
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
    }
    operation: Json = {
        "operationId": route.name,
        "summary": route.summary,
        "parameters": [folder, *places],
        "responses": {"200": answer, "default": refusal},
    }
    if route.body is not None:
        operation["requestBody"] = {"content": {"application/json": {"schema": route.body}}}
    return operation
