"""Texts of others and secrets that a session has seen, by its own records; its outward acts are weighed by that.

Nothing is kept beside the records: compaction leaves those where they are, and another process reads them again.
"""

import re
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from toolwright.calls.acts import Act
from toolwright.calls.parts import Completed, Failed, FilePart, ToolPart
from toolwright.calls.request import Request
from toolwright.errors import UsageError
from toolwright.flows.naming import NamedThings, OwnRecords, says
from toolwright.flows.seen import Circumstances, Seen, TextSource, seen_in
from toolwright.machine.plain_files import read_start
from toolwright.messages import TYPED, Message, TextPart, User
from toolwright.network.known import KnownDestination
from toolwright.network.verdict import PERMISSION, is_by_destination
from toolwright.permission.rules import Policy
from toolwright.record import record

if TYPE_CHECKING:
    from toolwright.session.session import Session

PLACES: Final = (PERMISSION, "webfetch")
"""Permissions whose patterns are places that are reached."""
_ADDRESSES: Final = ("http:", "https:")
DEEPEST = 8
"""Levels up and down that the sessions of subagents are followed."""
LARGEST = 1_000_000
"""Bytes of a trusted file that are looked at."""
TRUSTED_FILES: Final = (
    "README.md README.rst README AGENTS.md CONTRIBUTING.md package.json package-lock.json yarn.lock pnpm-lock.yaml"
    " pyproject.toml requirements.txt uv.lock poetry.lock Cargo.toml Cargo.lock go.mod Gemfile Gemfile.lock pom.xml"
    " composer.json composer.lock .gitmodules"
)
"""Files at the top of a trusted project that name where it reaches, unless the session itself has changed them."""


@record(frozen=True, slots=True, kw_only=True)
class FlowFacts:
    """Facts that the workspace knows and no record of a session says."""

    root: Path
    trusted: bool
    secret_variables: Collection[str]
    known: Callable[[], Awaitable[list[KnownDestination]]]
    """Destinations that the user's own clients are set up to reach."""
    has_door: Callable[[], Awaitable[bool]]
    """Tells whether rules about destinations hold commands here."""
    changed: Callable[[str], Iterable[Path]]
    """The files that a session has changed."""
    records: OwnRecords = field(default_factory=OwnRecords)


class Flows:
    """Of one session, which inherits what those above it have seen, as they do what it has."""

    def __init__(self, session: "Session") -> None:
        self._session = session
        self._seen = Seen()
        self._read_records = False

    def look(self) -> None:
        """Look at the calls that have ended since this was last done."""
        ended, self._session.brought = self._session.brought, []
        self._look(ended)

    async def weighed(self, requests: Iterable[Request], policy: Policy) -> tuple[Request, ...]:
        """Return the requests; of acts that nobody has named but a text of others, with that said."""
        weighed = tuple(requests)
        # Where commands go through our door, it asks about each host that they reach.
        by_door = is_by_destination(replace(self._session.ruled_agent, policy=policy)) and await self._facts.has_door()
        acts = {
            act
            for one in weighed
            for act in one.acts.values()
            if act.kind in ("changes", "final") or (act.to and not (one.permission == "bash" and by_door))
        }
        if not acts:
            return weighed
        seen = await self._all_seen()
        if not seen.sources:
            return weighed
        named = NamedThings(prompts=await self._prompts(), records=self._facts.records, made=frozenset(seen.made))
        missing = {act: named.missing(act) for act in acts}
        if not any(missing.values()):
            return weighed
        # It takes a while to ask the clients, which say nothing of people.
        places = any("." in name and "@" not in name for names in missing.values() for name in names)
        by_hosts = all(one.hosts for one in seen.sources.values())
        known = await self._facts.known() if places or by_hosts else []
        hosts = {
            one.destination.host for one in known if self._facts.trusted or one.level == "user" or one.client == "git"
        }
        sources = [one for one in seen.sources.values() if not one.hosts or not hosts.issuperset(one.hosts)]
        if not sources:
            return weighed
        rules = self._allowed_places(policy)
        named = replace(named, trusted="\n".join([*sorted(hosts), *self._trusted_texts()]), allowed=rules)
        missing = {act: named.missing(act) for act in missing}
        texts = await self._texts(sources) if any(missing.values()) else {}
        explained = {
            act: _with_reason(act, names, sources, texts, seen.secret) for act, names in missing.items() if names
        }
        return tuple(_with(one, explained) for one in weighed)

    # What was seen.

    @property
    def _facts(self) -> FlowFacts:
        return self._session.home.use(FlowFacts)

    async def _all_seen(self) -> Seen:
        seen, session = Seen(), self._session
        for _ in range(DEEPEST):
            seen.add(await session.flows._own())
            if session.parent is None:
                break
            session = session.parent
        return seen

    async def _own(self) -> Seen:
        if not self._read_records:
            self._read_records = True
            for message in await self._records():
                self._look_at(message)
        self.look()
        return self._seen

    async def _records(self) -> list[Message]:
        """Every message of this session, of those below it, and above it where nobody has opened them."""
        session = self._session
        if not session.has_begun:
            return []
        store, messages = session.conversation.store, list(await session.conversation.all_messages())
        for above in await _unopened_above(session):
            messages += await store.messages(above)
        below = [one.id for one in await store.children(session.id)]
        for _ in range(DEEPEST):
            messages += [message for child in below for message in await store.messages(child)]
            below = [one.id for child in below for one in await store.children(child)]
        return messages

    def _look_at(self, message: Message) -> None:
        self._look([part for part in message.parts.values() if isinstance(part, ToolPart)])
        if isinstance(message.info, User):
            others = _ADDRESSES if self._facts.trusted else (*_ADDRESSES, "file:")
            for part in message.parts.values():
                if isinstance(part, FilePart) and part.url.startswith(others):
                    source = TextSource(tool="webfetch", subject=part.url, call_id=part.id, session_id=part.session_id)
                    self._seen.sources.setdefault(part.id, source)

    def _look(self, parts: Iterable[ToolPart]) -> None:
        registry = self._session.home.caller.registry
        around = Circumstances(trusted=self._facts.trusted, secret_variables=self._facts.secret_variables)
        for part in parts:
            known = part.tool in registry
            self._seen.add(seen_in(part, registry[part.tool] if known else None, around))

    # Who names what.

    async def _prompts(self) -> str:
        """Return what the person has said in the session at the top, in prompts and answers."""
        session = self._session
        while session.parent is not None:
            session = session.parent
        if not session.has_begun:
            return ""
        above = await _unopened_above(session)
        conversation = session.conversation
        messages = await (conversation.store.messages(above[-1]) if above else conversation.all_messages())
        return "\n".join(text for message in messages for text in _said_in(message))

    def _allowed_places(self, policy: Policy) -> tuple[str, ...]:
        """Return the places that rules and lasting answers of the person let commands and fetches reach."""
        session = self._session
        approvals = session.gate.approvals.of((session.id, *session.callers))
        rules = [rule for name in PLACES for rule in policy.about(name)]
        allowed = [pattern for name, pattern, action in rules if name in PLACES and action == "allow"]
        return (*allowed, *(one.pattern for one in approvals if one.permission in PLACES))

    def _trusted_texts(self) -> Iterable[str]:
        if not self._facts.trusted:
            return ()
        changed = set(self._facts.changed(self._session.id))
        paths = [self._facts.root / name for name in TRUSTED_FILES.split()]
        return [read_start(one, LARGEST).decode("utf-8", "replace") for one in paths if one not in changed]

    async def _texts(self, sources: Iterable[TextSource]) -> Mapping[str, str]:
        """The texts by the ids of the calls that brought them, as far as they are in the records."""
        begun = self._session.has_begun
        if not begun:
            return {}
        conversation, texts = self._session.conversation, dict[str, str]()
        for name in dict.fromkeys(one.session_id for one in sources):
            own = name == self._session.id
            messages = await (conversation.all_messages() if own else conversation.store.messages(name))
            for message in messages:
                texts |= {part.call_id: _output(part) for part in message.parts.values() if isinstance(part, ToolPart)}
        return texts


async def _unopened_above(session: "Session") -> list[str]:
    """The sessions above one whose caller nobody has opened, the nearest first."""
    ids, info = list[str](), session.conversation.info
    while session.parent is None and info.parent_id is not None and len(ids) < DEEPEST:
        try:
            info = await session.conversation.store.session(info.parent_id)
        except UsageError:  # it was deleted
            break
        ids.append(info.id)
    return ids


def _said_in(message: Message) -> Iterable[str]:
    for part in message.parts.values():
        if isinstance(message.info, User) and isinstance(part, TextPart) and not part.synthetic and not part.ignored:
            yield str((part.metadata or {}).get(TYPED, part.text))
        if isinstance(message.info, User) and isinstance(part, FilePart) and part.url.startswith(_ADDRESSES):
            yield part.url
        if isinstance(part, ToolPart) and part.tool == "question" and isinstance(part.state, Completed):
            yield str(part.state.metadata.get("answers", ""))


def _output(part: ToolPart) -> str:
    match part.state:
        case Completed(output=output):
            return output
        case Failed(error=error):
            return error
        case _:
            return ""


def _with_reason(
    act: Act, names: Collection[str], sources: Collection[TextSource], texts: Mapping[str, str], secret: str
) -> Act:
    """The act with why it is asked about: what nobody has named, and which text has."""
    naming = [one for one in sources if any(says(texts.get(one.call_id, ""), name) for name in names)]
    which = f"only {naming[-1]} does" if naming else f"and {next(iter(sources))} has words of others"
    reason = f"nothing of yours names {', '.join(names)}, {which}"
    forbidden = bool(secret)
    more = f", and {secret} was read, which is secret" if secret else ""
    return replace(act, unnamed=f"{reason}{more}", forbidden=forbidden)


def _with(request: Request, acts: Mapping[Act, Act]) -> Request:
    if not any(act in acts for act in request.acts.values()):
        return request
    weighed = replace(request, acts={text: acts.get(act, act) for text, act in request.acts.items()})
    if request.permission != "webfetch":
        return weighed
    # For good a host is allowed, not every host.
    starts = (re.match(r"(?:\w+://)?[^/?#]+", text) for text in request.patterns)
    return replace(weighed, always=tuple(f"{start[0]}/*" for start in starts if start))
