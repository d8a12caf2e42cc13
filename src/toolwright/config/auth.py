"""The keys of providers and the logins to them, in a file that only the user can read."""

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path

from toolwright.errors import ConfigError, UsageError
from toolwright.machine.private_files import read_private, update
from toolwright.protocols.json_text import read_json
from toolwright.protocols.json_types import Json
from toolwright.record import record

ACCOUNT = "@"
"""Stands between a provider and the name of an account there, as in `openai@work`."""
_NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,39}")


@record(frozen=True, slots=True)
class AuthFile:
    """`auth.json` in the data folder: a record for each provider."""

    path: Path

    def records(self) -> Mapping[str, Json]:
        return self._parsed(read_private(self.path))

    def put(self, provider: str, key: str) -> None:
        self.store(provider, {"type": "api", "key": key})

    def store(self, provider: str, record: Json) -> None:
        name, at, account = provider.partition(ACCOUNT)
        if at:
            provider = account_of(name, account)
        update(self.path, lambda text: _records_text({**self._parsed(text), provider: record}))

    def renew(self, provider: str, spent: str, fresh: Callable[[Json], Json]) -> Json:
        """The record with another token than the `spent` one: what a process has stored by now, or else a fresh one.

        The file stays locked meanwhile, since a token with which to renew is often good for one time only.
        """
        renewed: Json = {}

        def change(text: str) -> str:
            nonlocal renewed
            known = self._parsed(text)
            if provider not in known:
                raise ConfigError(f"There is no login to {provider} any more. Run `tw auth --login {provider}`.")
            renewed = known[provider]
            if renewed.get("access") != spent:
                return text
            renewed = fresh(renewed)
            return _records_text({**known, provider: renewed})

        update(self.path, change)
        return renewed

    def remove(self, provider: str) -> None:
        def without(text: str) -> str:
            known = dict(self._parsed(text))
            if provider not in known:
                raise UsageError(f"No key is stored for {provider!r}. There are: {', '.join(known) or 'none'}.")
            del known[provider]
            return _records_text(known)

        update(self.path, without)

    def _parsed(self, text: str) -> Mapping[str, Json]:
        if not text.strip():
            return {}
        try:
            value = read_json(text)
        except ValueError as error:
            raise ConfigError(f"{self.path}: {error}. Correct the file, or delete it and run tw auth again.") from error
        if not isinstance(value, dict):
            raise ConfigError(f"{self.path}: expected an object. Correct the file, or delete it and run tw auth again.")
        return {name: record for name, record in value.items() if isinstance(record, dict)}


def account_of(provider: str, name: str) -> str:
    """Return what an account at a provider is called everywhere; raise UsageError for a name that it cannot have."""
    if not _NAME.fullmatch(name):
        raise UsageError(f"{name!r} is no name for an account: give a word, such as work.")
    return f"{provider.partition(ACCOUNT)[0]}{ACCOUNT}{name}"


def checked_key(typed: str) -> str:
    """Return a key as it was typed; raise UsageError for what can be none."""
    key = typed.strip()
    if not key:
        raise UsageError("The key is empty; nothing was stored.")
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise UsageError("This is no key: a key has letters, digits and signs, and no blanks. Nothing was stored.")
    return key


def _records_text(records: Mapping[str, Json]) -> str:
    return json.dumps(records, indent=2) + "\n"
