"""A session as one file that a stranger can check: its records and their chain, what it changed, the evidence."""

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from toolwright.errors import UsageError
from toolwright.files.disk import LOADABLE
from toolwright.files.journal import Journal, JournalEntry
from toolwright.machine.plain_files import read_plain
from toolwright.protocols.json_types import Json
from toolwright.record import record
from toolwright.session.storage.chain import (
    REDACTED,
    ChainLink,
    ChainMisfit,
    Log,
    digest_of,
    leaf_hash,
    leaf_salt,
    leaves_of,
    misfit_of,
    record_salt,
)
from toolwright.version import VERSION

FORMAT = 1
MASK = "█████"


@record(frozen=True, slots=True)
class RedactedRecord:
    """Leaves that were taken out of one record."""

    record_id: str
    leaves: int


def bundle_of(
    logs: Mapping[str, Log], changes: Sequence[Json], evidence: Json, patterns: Sequence[re.Pattern[str]] = ()
) -> Json:
    """Return the file of a session and those below it, without what the patterns match."""
    taken = list[RedactedRecord]()
    sessions = {name: _packed(log, patterns, taken) for name, log in logs.items()}
    clean = _masked([*changes], patterns)
    bundle: Json = {
        "bundle": FORMAT,
        "toolwright": VERSION,
        "session": next(iter(logs)),
        "sessions": sessions,
        "changes": clean,
        "evidence": _masked(evidence, patterns),
        "redacted": [{"record": one.record_id, "leaves": one.leaves} for one in taken],
    }
    bundle["seal"] = _seal(bundle)
    for pattern in patterns:
        if pattern.search(json.dumps(bundle, ensure_ascii=False)):
            raise UsageError(
                f"{pattern.pattern!r} is a part of a name or a hash, which cannot be taken out. Be more exact."
            )
    return bundle


def _packed(log: Log, patterns: Sequence[re.Pattern[str]], taken: list[RedactedRecord]) -> Json:
    records = list[Json]()
    for entry in log.records:
        value, salt = json.loads(entry.data), record_salt(log.key, entry.id)
        packed: Json = {"kind": entry.kind, "id": entry.id}
        if any(pattern.search(leaf) for pattern in patterns for _, leaf in leaves_of(value) if isinstance(leaf, str)):
            # The salt of the whole record would give away what was taken out: each leaf that stays has its own.
            salts = {path: leaf_salt(salt, path) for path, leaf in leaves_of(value) if not _matches(leaf, patterns)}
            value, count = _without(value, "", salt, patterns)
            taken.append(RedactedRecord(entry.id, count))
            records.append(packed | {"value": value, "salts": salts})
        else:
            records.append(packed | {"value": value, "salt": salt})
    links = [[link.record_id, link.digest, link.hash] for link in log.links]
    return {"head": log.head, "links": links, "records": records}


def _matches(leaf: Any, patterns: Sequence[re.Pattern[str]]) -> bool:
    return isinstance(leaf, str) and any(pattern.search(leaf) for pattern in patterns)


def _without(value: Any, path: str, salt: str, patterns: Sequence[re.Pattern[str]]) -> tuple[Any, int]:
    """The value with the leaves that match replaced by their hashes, and how many those were."""
    if isinstance(value, dict) and value:
        members = {
            name: _without(one, f"{path}/{json.dumps(name)[1:-1].replace('/', '~')}", salt, patterns)
            for name, one in value.items()
        }
        return {name: one for name, (one, _) in members.items()}, sum(count for _, count in members.values())
    if isinstance(value, list) and value:
        several = [_without(one, f"{path}/{index}", salt, patterns) for index, one in enumerate(value)]
        return [one for one, _ in several], sum(count for _, count in several)
    if not _matches(value, patterns):
        return value, 0
    return {REDACTED: leaf_hash(value, leaf_salt(salt, path)), "text": _masked(value, patterns)}, 1


def _masked(value: Any, patterns: Sequence[re.Pattern[str]]) -> Any:
    if isinstance(value, str):
        for pattern in patterns:
            value = pattern.sub(MASK, value)
        return value
    if isinstance(value, list):
        return [_masked(one, patterns) for one in value]
    if isinstance(value, dict):
        return {name: _masked(one, patterns) for name, one in value.items()}
    return value


def _seal(bundle: Json) -> str:
    """The hash of what no chain covers: the changes and the evidence, as they belong to these chains."""
    heads = {name: one["head"] for name, one in bundle["sessions"].items()}
    whole = [bundle["session"], heads, bundle["changes"], bundle["evidence"], bundle["redacted"]]
    return hashlib.sha256(json.dumps(whole, sort_keys=True).encode()).hexdigest()


def misfit_in(bundle: Any) -> ChainMisfit | None:
    """Return the first record of a bundle that does not fit; UsageError if it is none at all."""
    try:
        if bundle["bundle"] != FORMAT:
            raise UsageError(f"This bundle has the form {bundle['bundle']!r}; this version reads {FORMAT}.")
        for session in bundle["sessions"].values():
            links = [ChainLink(*map(str, one)) for one in session["links"]]
            digests = {str(one["id"]): _digest(one) for one in session["records"]}
            if misfit := misfit_of(links, digests, str(session["head"])):
                return misfit
        redacted = sum(_count(one["value"]) for session in bundle["sessions"].values() for one in session["records"])
        if redacted != sum(int(one["leaves"]) for one in bundle["redacted"]):
            return ChainMisfit("redacted", "more or less was taken out than it says")
        return (
            None
            if _seal(bundle) == bundle["seal"]
            else ChainMisfit("seal", "the changes or the evidence are not what was packed")
        )
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise UsageError(f"This is no bundle of a session: {error!r:.100}. tw session bundle makes one.") from error


def _digest(packed: Json) -> str:
    salts = packed.get("salts")
    return digest_of(packed["value"], str(packed.get("salt", "")), salts if isinstance(salts, dict) else None)


def _count(value: Any) -> int:
    return sum(isinstance(leaf, dict) and REDACTED in leaf for _, leaf in leaves_of(value))


def export_in(bundle: Json) -> Json:
    """Return the session of a bundle as an export, for `tw session import`."""
    records = bundle["sessions"][bundle["session"]]["records"]
    plain = [(one["kind"], _plain(one["value"])) for one in records]
    messages = {value["id"]: {"info": value, "parts": list[Any]()} for kind, value in plain if kind == "message"}
    for kind, value in plain:
        if kind == "part" and value["messageID"] in messages:
            messages[value["messageID"]]["parts"].append(value)
    return {"info": next(value for kind, value in plain if kind == "session"), "messages": list(messages.values())}


def _plain(value: Any) -> Any:
    """The value with what is left of redacted leaves in their place."""
    if isinstance(value, dict):
        return value["text"] if REDACTED in value else {name: _plain(one) for name, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, list) else value


def changes_of(journal: Journal, sessions: Sequence[str], root: str, hides: Callable[[str], bool]) -> Iterator[Json]:
    """Yield what each call has changed: the file, its hashes, and the text before and after where that is kept."""
    entries = [(name, one) for name in sessions for one in journal.entries(name)]
    ordered = sorted(entries, key=lambda pair: pair[1].number)
    last = {one.path: one.number for _, one in ordered}
    for session, entry in ordered:
        path = entry.path.removeprefix(f"{root}/")
        change: Json = {
            "session": session,
            "call": entry.call_id,
            "path": path,
            "before": entry.before,
            "after": entry.after,
        }
        if not hides(entry.path):
            after = _present(entry) if last[entry.path] == entry.number else None
            texts = {
                "textBefore": _text_of(journal, entry.before, after),
                "textAfter": _text_of(journal, entry.after, after),
            }
            change |= {name: text for name, text in texts.items() if text is not None}
        yield change


def _present(entry: JournalEntry) -> bytes | None:
    try:
        return read_plain(entry.path, LOADABLE)
    except OSError:
        return None


def _text_of(journal: Journal, name: str | None, now: bytes | None) -> str | None:
    body = None if name is None else journal.images.body(name, now)
    if not isinstance(body, bytes) or b"\0" in body[:8192] or len(body) > 512 * 1024:
        return None
    return body.decode("utf-8", "replace")
