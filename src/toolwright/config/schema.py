"""The JSON Schema of configuration files: checked here, and by editors through `$schema`.

Derived from the record of settings; to it come the names under which the reference knows some of them.
"""

import functools

from toolwright.config.shapes import RENAMED
from toolwright.protocols.json_types import Json
from toolwright.settings import AgentSettings, Settings
from toolwright.settings.derive import schema_of
from toolwright.settings.record import FOREIGN


@functools.cache
def config_schema() -> Json:
    """The schema of a file."""
    own = schema_of(Settings)["properties"]
    limits = {key: own["truncate"]["properties"][key] for key in ("max_lines", "max_bytes")}
    other: Json = {
        "mode": own["agent"] | {"description": "the older name for primary agents"},
        "tool_output": {
            "type": "object",
            "properties": limits,
            "description": "the reference's name for `truncate.max_lines` and `truncate.max_bytes`",
        },
    }
    other |= {
        "permissions": own["permission"] | {"description": "OpenCode 2's name for `permission`"},
        "policies": {"type": "array", "description": "OpenCode 2's policies; those that deny are followed"},
        **{name: own[ours] | {"description": f"OpenCode 2's name for `{ours}`"} for name, ours in RENAMED.items()},
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "toolwright configuration",
        "type": "object",
        "properties": {"$schema": {"type": "string"}} | own | other | {name: {} for name in FOREIGN},
    }


@functools.cache
def agent_schema() -> Json:
    """The schema of the head of an agent's file."""
    return schema_of(AgentSettings)
