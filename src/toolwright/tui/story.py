"""A session as a story: its messages and events, as blocks in their order."""

from collections.abc import Sequence

from toolwright.app.shown import view_of
from toolwright.app.words import end_line, summary_line
from toolwright.calls.parts import Pending, ToolPart
from toolwright.events import Event, PartUpdated
from toolwright.messages import Assistant, CompactionPart, Message, ReasoningPart, TextPart, User
from toolwright.session.events import (
    MessageRemoved,
    MessageUpdated,
    PartDelta,
    PartRemoved,
    SessionStatus,
)
from toolwright.terminal.screen import DIM, RED, YELLOW
from toolwright.tui.blocks import AnswerBlock, CallBlock, Note, Said, Thoughts, TranscriptBlock


class Story:
    """The blocks of one session."""

    def __init__(self, session_id: str = "") -> None:
        self.session_id = session_id
        self.blocks: list[TranscriptBlock] = []
        self.changed: set[str] = set()
        """The blocks that were added or changed since somebody last looked."""
        self.removed = False
        """True if blocks went since then."""
        self._known: dict[str, TranscriptBlock] = {}
        self._message_of: dict[str, str] = {}
        self._roles: dict[str, str] = {}
        self._notes = 0

    def load(self, messages: Sequence[Message]) -> None:
        """The session as it is stored; notes of ours are gone."""
        self.blocks.clear()
        self._known.clear()
        self.removed = True
        for message in messages:
            self._take_info(message.info)
            for part in message.parts.values():
                if isinstance(part, TextPart | ReasoningPart | ToolPart | CompactionPart):
                    self._take_part(part)
                    self._close(part.id, message.info)
            self._take_end(message.info)

    def _close(self, part_id: str, info: "User | Assistant") -> None:
        """To what a reply that has ended had said so far, nothing is added any more."""
        block = self._known.get(part_id)
        if isinstance(block, AnswerBlock | Thoughts) and (info.time.completed or getattr(info, "error", None)):
            block.complete = True

    def take(self, event: Event) -> None:
        """Apply an event, if it is of this session."""
        match event:
            case MessageUpdated(info=info) if info.session_id == self.session_id:
                self._take_info(info)
                self._take_end(info)
            case PartUpdated(part=TextPart() | ReasoningPart() | ToolPart() | CompactionPart() as part) if (
                part.session_id == self.session_id
            ):
                self._take_part(part)
            case PartDelta(session_id=self.session_id, part_id=part_id, delta=delta):
                block = self._known.get(part_id)
                if isinstance(block, AnswerBlock | Thoughts):
                    block.add(delta)
                    self.changed.add(block.id)
            case PartRemoved(session_id=self.session_id, part_id=part_id):
                self._remove({part_id})
            case MessageRemoved(session_id=self.session_id, message_id=message_id):
                self._remove({part for part, message in self._message_of.items() if message == message_id})
            case SessionStatus(session_id=self.session_id, status={"type": "busy", "notice": str(notice)}):
                self.note(f"! {notice}", YELLOW)
            case _:
                pass

    def note(self, text: str, code: str = DIM) -> None:
        """A line of ours at the end."""
        self._notes += 1
        self.add(Note(f"note {self._notes} {self.session_id}", text, code))

    def add(self, block: TranscriptBlock) -> None:
        self.blocks.append(block)
        self._known[block.id] = block
        self.changed.add(block.id)

    def looked(self) -> set[str]:
        """Return the ids of blocks that have changed since the last call."""
        changed, self.changed, self.removed = self.changed, set(), False
        return changed

    def running(self) -> list[CallBlock]:
        """The calls that are under way; none of them is far from the end."""
        return [one for one in self.blocks[-100:] if isinstance(one, CallBlock) and _is_open(one.part)]

    def children(self) -> list[CallBlock]:
        """The calls that have handed work to a subagent."""
        return [one for one in self.blocks if isinstance(one, CallBlock) and one.child]

    def changed_files(self) -> dict[str, tuple[int, int]]:
        """Lines that calls have added to and removed from each file."""
        counts: dict[str, tuple[int, int]] = {}
        for block in self.blocks:
            view = view_of(block.part) if isinstance(block, CallBlock) else None
            if view is not None and view.additions is not None and view.deletions is not None and view.subject:
                added, removed = counts.pop(view.subject, (0, 0))
                counts[view.subject] = (added + view.additions, removed + view.deletions)
        return counts

    def first_words(self) -> str:
        """Return the person's first prompt in one line."""
        return next((" ".join(one.words.split()) for one in self.blocks if isinstance(one, Said)), "")

    def message_of(self, block: TranscriptBlock) -> str:
        return self._message_of.get(block.id, "")

    def _take_info(self, info: "User | Assistant") -> None:
        self._roles[info.id] = info.role

    def _take_end(self, info: "User | Assistant") -> None:
        """Why a reply ended before its time, below what it had said."""
        if isinstance(info, Assistant) and info.error is not None and (known := f"error {info.id}") not in self._known:
            self.add(Note(known, end_line(str(info.error.data.get("message", info.error.name))), RED))
            self._message_of[known] = info.id

    def _take_part(self, part: TextPart | ReasoningPart | ToolPart | CompactionPart) -> None:
        known = self._known.get(part.id)
        block: TranscriptBlock | None = known
        match part, known:
            case ToolPart(), CallBlock():
                known.take(part)
            case ToolPart(), None:
                block = CallBlock(part)
            case TextPart(), AnswerBlock() | Thoughts():
                if _is_complete(part):
                    known.finish(part.text)
            case TextPart(), None:
                block = self._text_block(part)
            case ReasoningPart(), Thoughts():
                if part.time.end is not None:
                    known.finish(part.text)
            case ReasoningPart(), None:
                block = Thoughts(part.id, part.text)
                block.complete = part.time.end is not None
            case CompactionPart(), Note():
                known.change(*_summary_line(part))
            case CompactionPart(), None:
                block = Note(part.id, *_summary_line(part))
            case _:
                return
        if block is None:
            return
        self._message_of[part.id] = part.message_id
        if known is None:
            self.add(block)
        self.changed.add(block.id)

    def _text_block(self, part: TextPart) -> TranscriptBlock | None:
        if part.metadata and "notAttached" in part.metadata:
            return Note(part.id, f"! {part.metadata['notAttached']}")
        if part.synthetic or part.ignored:
            return None
        if self._roles.get(part.message_id) == "user":
            return Said(part.id, part.text)
        words = AnswerBlock(part.id, part.text)
        words.complete = _is_complete(part)
        return words

    def _remove(self, removed_ids: set[str]) -> None:
        kept = [block for block in self.blocks if block.id not in removed_ids]
        if len(kept) < len(self.blocks):
            self.blocks[:] = kept
            for block_id in removed_ids:
                self._known.pop(block_id, None)
            self.removed = True


def _summary_line(part: CompactionPart) -> tuple[str, str]:
    line = summary_line(part.failed)
    return (line, YELLOW) if part.failed else (f"── {line} ──", DIM)


def _is_open(part: ToolPart) -> bool:
    return part.state.status in ("pending", "running") and not isinstance(part.state, Pending)


def _is_complete(part: TextPart) -> bool:
    return part.time is not None and part.time.end is not None
