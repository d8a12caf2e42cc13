"""Origin of a line of a file: the call that wrote it, the prompt it was written for, and who allowed it."""

import difflib
from collections.abc import Iterable, Sequence
from pathlib import Path

from toolwright.calls.parts import ToolPart
from toolwright.files.disk import LOADABLE
from toolwright.files.journal import Journal, JournalEntry
from toolwright.machine.plain_files import read_plain
from toolwright.messages import Message, User
from toolwright.protocols.json_types import Json
from toolwright.record import record


@record(frozen=True, slots=True)
class Origin:
    """The session and the change that a line came with."""

    session_id: str
    entry: JournalEntry


def origin_of(journal: Journal, sessions: Iterable[str], path: Path, line: int) -> Origin | None:
    """Return what wrote a line as it is now, counted from 1; None if no session here has."""
    changes = sorted(
        (Origin(name, one) for name in sessions for one in journal.entries(name) if one.path == str(path)),
        key=lambda one: one.entry.number,
    )
    text: bytes | None = read_plain(path, LOADABLE)
    at: int | None = line - 1
    for change in reversed(changes):
        after = _body(journal, change.entry.after, text)
        if after is None:
            continue
        at = _earlier(after, text or b"", at)
        if at is None:
            # It was changed since by something that no record tells of.
            return None
        before = _body(journal, change.entry.before, after) or b""
        earlier = _earlier(before, after, at)
        if earlier is None:
            return change
        text, at = before, earlier
    return None


def _body(journal: Journal, name: str | None, now: bytes | None) -> bytes | None:
    body = None if name is None else journal.images.body(name, now)
    return body if isinstance(body, bytes) else None


def _earlier(before: bytes, after: bytes, at: int | None) -> int | None:
    """Return where a line of the later text is in the earlier one."""
    if at is None or before == after:
        return at
    old, new = before.splitlines(), after.splitlines()
    for block in difflib.SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks():
        if block.b <= at < block.b + block.size:
            return block.a + at - block.b
    return None


def told_of(origin: Origin, messages: Sequence[Message]) -> Json:
    """Return the call of an origin, with its prompt and who allowed it, as far as the records have them."""
    fields: Json = {"session": origin.session_id, "call": origin.entry.call_id, "time": int(origin.entry.time * 1000)}
    prompt: Message | None = None
    for message in messages:
        if isinstance(message.info, User):
            prompt = message
        for part in message.parts.values():
            if isinstance(part, ToolPart) and part.call_id == origin.entry.call_id:
                fields |= {"tool": part.tool, "message": message.info.id, "agent": message.info.agent}
                fields |= {"input": part.state.input, "allowed": [_allowed(one) for one in part.decisions or ()]}
                if prompt is not None:
                    fields |= {"prompt": {"message": prompt.info.id, "text": prompt.text}}
                return fields
    return fields


def _allowed(decision: Json) -> Json:
    by = "person" if decision.get("reply") else "rule" if decision.get("rule") else "default"
    return decision | {"by": by}
