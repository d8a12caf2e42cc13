"""A login that is kept in the auth file: its token for every request, renewed before it is over."""

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any

from toolwright.config.auth import AuthFile
from toolwright.errors import ConfigError
from toolwright.models.logins import device, google
from toolwright.models.logins.identity import ProviderLoginFailed
from toolwright.models.model import ModelError
from toolwright.protocols.json_types import Json
from toolwright.record import record

EARLY = 60.0
"""Seconds before its end that a token is renewed."""
_RENEW: Mapping[str, Callable[[Json], Json]] = {device.KIND: device.renew, google.KIND: google.renew}


@record(slots=True)
class StoredLogin:
    """The login to one provider, as its requests need it."""

    provider: str
    file: AuthFile
    _held: Json = field(default_factory=dict[str, Any], repr=False)
    """The record as last read; its token is good until the provider or the clock says otherwise."""

    async def headers(self) -> Mapping[str, str]:
        """The headers of a request, with a token that is good for some time."""
        if not self._held:
            self._held = dict(self.file.records().get(self.provider) or {})
        if _is_over(self._held):
            self._held = await asyncio.to_thread(self._renewed)
        project = {"x-goog-user-project": self._held["project"]} if self._held.get("project") else {}
        return {"authorization": f"Bearer {self._held.get('access', '')}", **project}

    async def refused(self) -> bool:
        """Return whether there is another token now that the provider has not taken this one."""
        if not can_renew(self._held):
            return False
        spent = self._held.get("access")
        self._held = await asyncio.to_thread(self._renewed)
        return bool(self._held.get("access") != spent)

    def _renewed(self) -> Json:
        try:
            return self.file.renew(self.provider, self._held.get("access", ""), _fresh)
        except (ProviderLoginFailed, ConfigError) as error:
            raise ModelError(
                f"The login to {self.provider} could not be renewed: {error} "
                f"If that goes on, run `tw auth --login {self.provider}` again.",
                "auth",
            ) from error


def can_renew(record: Mapping[str, Any]) -> bool:
    """Return whether a record of the auth file is a login of ours that brings what it takes to renew its token."""
    return record.get("login") in _RENEW and bool(record.get("refresh") or record.get("credentials"))


def _is_over(record: Mapping[str, Any]) -> bool:
    expires = record.get("expires") or 0
    return can_renew(record) and bool(expires) and expires / 1000 - EARLY < time.time()


def _fresh(record: Json) -> Json:
    return _RENEW[record["login"]](record)
