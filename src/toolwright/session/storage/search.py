"""Words looked up in what was said and called in sessions: a full-text index, brought up to date when one searches.

It stands beside the records, made with the first search. Writing a record costs nothing more for it; deleting one
takes its words along.
"""

import json
import re
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from toolwright.calls.parts import ToolPart
from toolwright.errors import UsageError
from toolwright.messages import Message, SessionInfo, TextPart
from toolwright.record import record
from toolwright.session.store import roots_of

BATCH = 2_000
"""Records that are taken into the index in one transaction, so that whoever writes waits only for a moment."""
LONGEST = 20_000
"""Characters of a text, and of an argument of a call, that are looked through."""
FOUND = 2_000
"""Passages that are looked at for the sessions that hold the words."""
EXCERPT = 14
"""Words of a passage that are shown."""
NEAR = 50
"""Characters around the words that are shown where no index is kept."""
_MARK, _END = "\x02", "\x03"
_TABLES = """
CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5(text, tokenize = 'unicode61 remove_diacritics 2');
CREATE TABLE IF NOT EXISTS words_state (one INTEGER PRIMARY KEY CHECK (one = 1), part INTEGER, link INTEGER);
CREATE TRIGGER IF NOT EXISTS words_of_part_gone AFTER DELETE ON part BEGIN DELETE FROM words WHERE rowid = OLD.seq; END;
INSERT OR IGNORE INTO words_state VALUES (1, 0, (SELECT coalesce(max(seq), 0) FROM chain));
"""
_FIND = """
SELECT part.session_id, part.message_id, snippet(words, 0, :mark, :end, '…', :excerpt)
FROM words JOIN part ON part.seq = words.rowid JOIN session ON session.id = part.session_id
WHERE words MATCH :words AND (:project = '' OR session.project_id = :project) ORDER BY rank LIMIT :found
"""


@record(frozen=True, slots=True, kw_only=True)
class Passage:
    """A passage that holds the words: where it stands, and what it says."""

    session_id: str
    """The session of a person; for what a subagent said, the one that it worked for."""
    message_id: str
    pieces: tuple[tuple[str, bool], ...]
    """Text in pieces: those that are true were looked for."""

    @property
    def text(self) -> str:
        return " ".join("".join(text for text, _ in self.pieces).split())


@record(frozen=True, slots=True, kw_only=True)
class Hit:
    """A session that holds the words, with the passage that fits best and how many there are."""

    info: SessionInfo
    passage: Passage
    count: int


@runtime_checkable
class SearchableStore(Protocol):
    """A store that looks words up by itself."""

    async def passages(self, words: Sequence[str], project_id: str) -> list[Passage]:
        """Return the passages that hold all words, the best first; of all projects if none is named."""
        ...


def words_of(text: str) -> list[str]:
    """Return the words that a person looks for; raise UsageError if there are none."""
    words = [word for word in text.split() if re.search(r"\w", word)]
    if not words:
        raise UsageError("Give words to look for, such as: tw session search connection pool.")
    return words


def take_in(connection: sqlite3.Connection) -> bool:
    """Take records that are new or have changed into the index; whether more are left."""
    try:
        for statement in _statements(_TABLES):
            connection.execute(statement)
    except sqlite3.OperationalError as error:
        if "fts5" not in str(error):
            raise
        raise UsageError(
            "This Python's SQLite has no full-text search (FTS5), which searching sessions needs."
        ) from error
    part, link = connection.execute("SELECT part, link FROM words_state").fetchone()
    [last] = connection.execute("SELECT coalesce(max(seq), 0) FROM chain").fetchone()
    query = "SELECT seq, data FROM part WHERE seq > ? ORDER BY seq LIMIT ?"
    rows = connection.execute(query, (part, BATCH)).fetchall()
    if not rows:
        until = min(last, link + BATCH)
        query = "SELECT seq, data FROM part WHERE id IN (SELECT record_id FROM chain WHERE seq > ? AND seq <= ?)"
        rows = connection.execute(query, (link, until)).fetchall()
        link = until
    connection.executemany("DELETE FROM words WHERE rowid = ?", [(seq,) for seq, _ in rows])
    texts = ((seq, text) for seq, data in rows if (text := _text_of(data)))
    connection.executemany("INSERT INTO words (rowid, text) VALUES (?, ?)", texts)
    part = max(part, *(seq for seq, _ in rows)) if rows else part
    connection.execute("UPDATE words_state SET part = ?, link = ?", (part, link))
    return link < last or len(rows) == BATCH


def look_up(words: Sequence[str], project_id: str, connection: sqlite3.Connection) -> list[Passage]:
    """Return the passages of the index that hold all words, the best first; the last word may be a beginning."""
    quoted = ['"' + word.replace('"', '""') + '"' for word in words]
    parameters = {"mark": _MARK, "end": _END, "excerpt": EXCERPT, "found": FOUND, "project": project_id}
    rows = connection.execute(_FIND, {"words": f"{' '.join(quoted)}*", **parameters}).fetchall()
    roots = roots_of(dict(connection.execute("SELECT id, parent_id FROM session")))
    return [
        Passage(session_id=roots.get(session, session), message_id=message, pieces=tuple(_pieces(text)))
        for session, message, text in rows
    ]


def passages_in(messages: Iterable[Message], words: Sequence[str]) -> Iterator[Passage]:
    """Find the passages of messages that hold all words, where no index is kept."""
    wanted = re.compile(f"({'|'.join(map(re.escape, words))})", re.IGNORECASE)
    for message in messages:
        for text in map(_searchable_text, message.parts.values()):
            if all(word.lower() in text.lower() for word in words):
                at = max(0, text.lower().index(words[0].lower()) - NEAR)
                pieces = enumerate(wanted.split(text[at : at + 2 * NEAR]))
                excerpt = tuple((piece, number % 2 == 1) for number, piece in pieces if piece)
                yield Passage(session_id=message.info.session_id, message_id=message.info.id, pieces=excerpt)


def hits_of(passages: Iterable[Passage], infos: Mapping[str, SessionInfo], words: Sequence[str]) -> list[Hit]:
    """Return each session once: those whose title holds the words, then those with passages, the best first."""
    by_session: dict[str, list[Passage]] = {}
    for info in infos.values():
        if all(word.lower() in info.title.lower() for word in words):
            by_session[info.id] = []
    for passage in passages:
        if passage.session_id in infos:
            by_session.setdefault(passage.session_id, []).append(passage)
    return [
        Hit(info=infos[name], passage=some[0] if some else _titled(infos[name]), count=max(1, len(some)))
        for name, some in by_session.items()
    ]


def _titled(info: SessionInfo) -> Passage:
    return Passage(session_id=info.id, message_id="", pieces=((info.title, True),))


def _statements(script: str) -> Iterator[str]:
    """The statements of a script, to be carried out inside a transaction."""
    statement = ""
    for line in script.strip().splitlines():
        statement += f"{line}\n"
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


def _pieces(text: str) -> Iterator[tuple[str, bool]]:
    for piece in re.split(f"({_MARK}[^{_END}]*{_END})", text):
        if piece:
            yield piece.strip(f"{_MARK}{_END}"), piece.startswith(_MARK)


def _searchable_text(part: object) -> str:
    """Return the text that can be found: words that were said, and what a call was about, without what it gave back."""
    match part:
        case TextPart() if not part.synthetic:
            return part.text[:LONGEST]
        case ToolPart():
            return _call_text(part.tool, getattr(part.state, "title", "") or "", part.state.input)
        case _:
            return ""


def _text_of(data: str) -> str:
    """The same, of a part as it is stored."""
    try:
        part = json.loads(data)
    except (ValueError, RecursionError):
        return ""
    if not isinstance(part, dict):
        return ""
    state = part.get("state")
    if part.get("type") == "text" and not part.get("synthetic"):
        return str(part.get("text") or "")[:LONGEST]
    if part.get("type") == "tool" and isinstance(state, dict):
        arguments = state.get("input")
        return _call_text(
            str(part.get("tool")), str(state.get("title") or ""), arguments if isinstance(arguments, dict) else {}
        )
    return ""


def _call_text(tool: str, title: str, arguments: Mapping[str, Any]) -> str:
    texts = (value[:LONGEST] for value in arguments.values() if isinstance(value, str) and value not in title)
    return "\n".join([f"{tool} {title}", *texts])
