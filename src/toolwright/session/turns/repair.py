"""Putting right what a process that died has left open."""

from collections.abc import Sequence
from dataclasses import replace

from toolwright.messages import Assistant, CompactionPart, Message
from toolwright.session.records.conversation import Conversation
from toolwright.session.turns.failures import aborted
from toolwright.session.turns.turn import close_open_calls
from toolwright.text.ids import now

INTERRUPTED = "the program ended in the middle of it"


def repair(conversation: Conversation) -> bool:
    """Close every call and reply that was under way when its process ended; whether there was one."""
    repaired = False
    for message in conversation.messages:
        if message.open_calls:
            close_open_calls(conversation, message, INTERRUPTED)
            repaired = True
        info = message.info
        if isinstance(info, Assistant) and info.time.completed is None:
            done = replace(info.time, completed=now())
            conversation.update(replace(info, time=done, error=info.error or aborted(INTERRUPTED)))
            repaired = True
    unfinished = _unfinished_compaction(conversation.messages)
    if unfinished is not None:
        conversation.remove_from(unfinished.info.id)
    return repaired or unfinished is not None


def _unfinished_compaction(messages: Sequence[Message]) -> Message | None:
    """The prompt for a summary that was never written, if the conversation ends with one."""
    for position in range(max(0, len(messages) - 2), len(messages)):
        if any(isinstance(part, CompactionPart) for part in messages[position].parts.values()):
            later = [one.info for one in messages[position + 1 :]]
            written = any(isinstance(info, Assistant) and info.summary and info.finish for info in later)
            return None if written else messages[position]
    return None
