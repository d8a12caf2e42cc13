"""The resources of extensions for clients of ours: listed, read by their addresses, and followed."""

import base64
import re
from collections.abc import Callable, Sequence
from dataclasses import field
from inspect import isawaitable
from urllib.parse import unquote

from toolwright.extension import Resource
from toolwright.mcp.protocol import RESOURCE_MISSING
from toolwright.protocols.json_types import Json
from toolwright.protocols.jsonrpc import INTERNAL_ERROR, RpcError
from toolwright.record import record

_PLACE = re.compile(r"\\{(\w+)\\}")


@record(slots=True, kw_only=True)
class Offered:
    """The resources that there are, and those that one client follows."""

    resources: Sequence[Resource]
    _followed: dict[str, tuple[Resource, Callable[[str], None]]] = field(default_factory=dict)

    def listed(self) -> list[Json]:
        return [_described(one, "uri") for one in self.resources if "{" not in one.uri]

    def templates(self) -> list[Json]:
        return [_described(one, "uriTemplate") for one in self.resources if "{" in one.uri]

    async def read(self, uri: str) -> Json:
        resource, values = self._at(uri)
        try:
            content = resource.read(**values)
            content = await content if isawaitable(content) else content
        except Exception as error:
            # Code of others: whatever fails in it is the answer to this request, and nothing else ends.
            raise RpcError(f"{uri} could not be read: {type(error).__name__}: {error}", INTERNAL_ERROR) from error
        about = {"uri": uri, "mimeType": resource.mime}
        if isinstance(content, str):
            return {"contents": [about | {"text": content}]}
        return {"contents": [about | {"blob": base64.b64encode(content).decode()}]}

    def follow(self, uri: str, tell: Callable[[str], None]) -> None:
        """Tell of every change of what is at an address, until it is followed no more."""
        resource, _ = self._at(uri)

        def heard(changed: str) -> None:
            if changed == uri:
                tell(uri)

        self.leave(uri)
        resource.followers.add(heard)
        self._followed[uri] = (resource, heard)

    def leave(self, uri: str) -> None:
        if (followed := self._followed.pop(uri, None)) is not None:
            resource, heard = followed
            resource.followers.discard(heard)

    def close(self) -> None:
        for uri in list(self._followed):
            self.leave(uri)

    def _at(self, uri: str) -> tuple[Resource, dict[str, str]]:
        for resource in self.resources:
            if (match := re.fullmatch(_PLACE.sub(r"(?P<\1>[^/?#]+)", re.escape(resource.uri)), uri)) is not None:
                return resource, {name: unquote(value) for name, value in match.groupdict().items()}
        raise RpcError(f"There is no resource {uri!r}.", RESOURCE_MISSING, {"uri": uri})


def _described(resource: Resource, key: str) -> Json:
    return {
        key: resource.uri,
        "name": resource.name or resource.uri,
        "description": resource.description,
        "mimeType": resource.mime,
    }
