"""The logins of MCP servers, in a file that only the user can read."""

import json
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from toolwright.errors import ConfigError
from toolwright.machine.private_files import read_private, update
from toolwright.mcp.protocol import object_of
from toolwright.protocols.json_text import read_json
from toolwright.protocols.json_types import Json
from toolwright.record import record

FILE = "mcp-auth.json"


@record(frozen=True, slots=True, kw_only=True)
class LoginGrant:
    """Result of a login: the tokens, and all that it takes to renew them."""

    url: str
    """The server it is for; another address is another server."""
    issuer: str
    token_endpoint: str
    client_id: str
    client_secret: str = ""
    auth_method: str = "none"
    """Method by which the client authenticates at the token endpoint."""
    access_token: str = ""
    refresh_token: str = ""
    expires: float = 0.0
    """End of the token, in seconds since 1970; 0 if not known."""
    scope: str = ""

    def covers(self, scope: str) -> bool:
        """Tell whether it is enough for a server that wants this scope."""
        return set(scope.split()) <= set(self.scope.split())


@record(frozen=True, slots=True)
class Grants:
    """`mcp-auth.json` in the data folder."""

    path: Path

    def of(self, server: str, url: str) -> LoginGrant | None:
        """The login of a server, if it is for this address."""
        record = object_of(self._parsed(read_private(self.path)).get(server))
        known = {field.name for field in fields(LoginGrant)}
        if record.get("url") != url or not {"issuer", "token_endpoint", "client_id"} <= record.keys():
            return None
        return LoginGrant(**{key: value for key, value in record.items() if key in known})

    def put(self, server: str, grant: LoginGrant) -> None:
        update(self.path, lambda text: _records_text(self._parsed(text) | {server: asdict(grant)}))

    def remove(self, server: str) -> bool:
        """Forget a login; whether there was one."""
        if server not in self._parsed(read_private(self.path)):
            return False
        update(self.path, lambda text: _records_text({k: v for k, v in self._parsed(text).items() if k != server}))
        return True

    def _parsed(self, text: str) -> Json:
        try:
            value: Any = read_json(text or "{}")
        except ValueError as error:
            raise ConfigError(f"{self.path}: {error}. Delete the file and log in again with tw mcp auth.") from error
        return object_of(value)


def _records_text(records: Json) -> str:
    return json.dumps(records, indent=2) + "\n"
