"""The chain of a session's records: each write of one is linked to all before it, so that a later change shows.

A record is hashed leaf by leaf, each with a salt of its own: one can be taken out of a copy, and the rest still fits.
"""

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from toolwright.record import record

BEGIN = "0" * 64
"""Hash that the first link of a chain comes after."""
REDACTED = "$redacted"
"""Marks a leaf that was taken out: its hash stands there, and what may still be read."""
SCHEMA = """
CREATE TABLE IF NOT EXISTS chain (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, record_id TEXT NOT NULL, digest TEXT NOT NULL,
    hash TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS chain_of_session ON chain (session_id, seq);
CREATE TABLE IF NOT EXISTS chain_key (session_id TEXT PRIMARY KEY, key TEXT NOT NULL);
"""
_LINK = """
INSERT INTO chain_key (session_id, key) SELECT {session}, lower(hex(randomblob(16)))
    WHERE NOT EXISTS (SELECT 1 FROM chain_key WHERE session_id = {session});
INSERT INTO chain (session_id, record_id, digest, hash)
    SELECT {session}, {row}.id, digest, chain_link(
        (SELECT hash FROM chain WHERE session_id = {session} ORDER BY seq DESC LIMIT 1), {row}.id, digest
    ) FROM (SELECT {digest} AS digest);
"""
_DIGEST = "record_digest((SELECT key FROM chain_key WHERE session_id = {session}), NEW.id, CAST(NEW.data AS BLOB))"


@record(frozen=True, slots=True)
class ChainLink:
    """One write of a record; without a digest its removal."""

    record_id: str
    digest: str
    hash: str


@record(frozen=True, slots=True)
class ChainMisfit:
    """The first record that does not fit, and why."""

    record_id: str
    why: str


@record(frozen=True, slots=True)
class StoredRecord:
    """A record as it is stored: of a session, a message or a part."""

    kind: str
    id: str
    data: bytes


@record(frozen=True, slots=True, kw_only=True)
class Log:
    """A session's records, with their chain."""

    key: str
    links: tuple[ChainLink, ...]
    records: tuple[StoredRecord, ...]

    @property
    def head(self) -> str:
        """Return the hash that all of it comes to."""
        return self.links[-1].hash if self.links else BEGIN

    def misfit(self) -> ChainMisfit | None:
        """Return the first record that does not fit."""
        return misfit_of(self.links, {one.id: record_digest(self.key, one.id, one.data) for one in self.records})


def keep_chain(connection: sqlite3.Connection) -> None:
    """Have every write through a connection linked. The triggers are the connection's own, for they need us."""
    connection.create_function("record_digest", 3, record_digest, deterministic=True)
    connection.create_function("chain_link", 3, link_hash, deterministic=True)
    for table in ("session", "message", "part"):
        for event, name in (("INSERT", "NEW"), ("UPDATE OF data", "NEW"), ("DELETE", "OLD")):
            session = f"{name}.id" if table == "session" else f"{name}.session_id"
            digest = "''" if name == "OLD" else _DIGEST.format(session=session)
            body = _LINK.format(session=session, row=name, digest=digest)
            trigger = f"chain_{table}_{event.split()[0].lower()}"
            connection.execute(
                f"CREATE TEMP TRIGGER IF NOT EXISTS {trigger} AFTER {event} ON main.{table} BEGIN {body} END"
            )


def link_hash(before: str | None, record_id: Any, digest: str) -> str:
    """Return the hash of a link from that of the one before it."""
    return hashlib.sha256(f"{before or BEGIN}\n{record_id}\n{digest}".encode("utf-8", "surrogatepass")).hexdigest()


def record_digest(key: str, record_id: str, data: bytes) -> str:
    """Return the hash of a stored record, also of one that cannot be read."""
    salt = record_salt(str(key), str(record_id))
    try:
        return digest_of(json.loads(data), salt)
    except (ValueError, RecursionError, TypeError):
        return digest_of(repr(data), salt)


def record_salt(key: str, record_id: str) -> str:
    """Return what the salts of a record's leaves are made of."""
    return hashlib.sha256(f"{key}\n{record_id}".encode("utf-8", "surrogatepass")).hexdigest()


def leaf_salt(salt: str, path: str) -> str:
    """Return the salt of one leaf."""
    return hashlib.sha256(f"{salt}\n{path}".encode("utf-8", "surrogatepass")).hexdigest()[:32]


def digest_of(value: Any, salt: str, salts: Mapping[str, str] | None = None) -> str:
    """Return the hash of a record's value; `salts` are those of its leaves where the record's own is not given."""
    whole = hashlib.sha256()
    for path, leaf in sorted(leaves_of(value), key=lambda pair: pair[0]):
        if isinstance(leaf, dict) and REDACTED in leaf:
            hashed = str(leaf[REDACTED])
        else:
            hashed = leaf_hash(leaf, leaf_salt(salt, path) if salts is None else salts.get(path, ""))
        whole.update(f"{path}\n{hashed}\n".encode("utf-8", "surrogatepass"))
    return whole.hexdigest()


def leaf_hash(leaf: Any, salt: str) -> str:
    """Return the hash of one leaf under its salt."""
    return hashlib.sha256(f"{salt}{json.dumps(leaf)}".encode()).hexdigest()


def leaves_of(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every leaf of a value with its path; an empty object or list is one too."""
    if isinstance(value, dict) and value and REDACTED not in value:
        for name, entry in value.items():
            yield from leaves_of(entry, f"{path}/{json.dumps(name)[1:-1].replace('/', '~')}")
    elif isinstance(value, list) and value:
        for index, entry in enumerate(value):
            yield from leaves_of(entry, f"{path}/{index}")
    else:
        yield path, value


def misfit_of(links: Iterable[ChainLink], digests: Mapping[str, str], head: str = "") -> ChainMisfit | None:
    """Return the first record that does not fit its chain; `digests` are those of the records as they are now."""
    before, last = BEGIN, dict[str, str]()
    for link in links:
        if link_hash(before, link.record_id, link.digest) != link.hash:
            return ChainMisfit(link.record_id, "its link does not follow from the one before it")
        before = link.hash
        last[link.record_id] = link.digest
    for record_id, digest in last.items():
        if digest and record_id not in digests:
            return ChainMisfit(record_id, "it is gone")
        if record_id in digests and digests[record_id] != digest:
            return ChainMisfit(
                record_id, "it is not what was written" if digest else "it was removed, and is there again"
            )
    extra = next((one for one in digests if one not in last), None)
    if extra is not None:
        return ChainMisfit(extra, "it was never written by us: no link names it")
    if head and head != before:
        return ChainMisfit(next(reversed(last), ""), "the chain ends elsewhere than it should")
    return None
