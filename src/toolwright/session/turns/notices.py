"""Notices for the user: files the model cannot be given, guessed limits, a prompt that was not read whole."""

import logging
from collections.abc import Iterator, Sequence

from toolwright.calls.parts import FilePart
from toolwright.definition import Attachment
from toolwright.messages import Assistant, Message
from toolwright.models.formats.media import left_out
from toolwright.models.formats.sizes import is_cut_short, is_without_tools, words_size
from toolwright.models.known.families import is_without_effect
from toolwright.models.model import ModelMessage
from toolwright.session.events import SessionStatus
from toolwright.session.turns.turn import Turn

log = logging.getLogger(__name__)


def tell_notices(turn: Turn) -> None:
    """Say what holds for the newest prompt."""
    for notice in (*_guesses(turn), *_without_effect(turn), *_left_out(turn)):
        _tell(turn, notice)


def tell_if_cut_short(turn: Turn, sent: Sequence[ModelMessage], reply: Message) -> None:
    """Say, once in a session, that the server has dropped a part of what it was sent."""
    if not isinstance(reply.info, Assistant):
        return
    info, used = turn.model.info, reply.info.tokens
    counted = used.input + used.cache.read + used.cache.write
    words, tools, context = sum(map(words_size, sent)), turn.tools_size, info.limits.context
    if is_cut_short(words + tools, counted, context):
        turn.toolbox.doubted = True
        notice = f"{info.full_name} was sent about {words + tools} tokens and counted {counted}: "
        if is_without_tools(words, tools, counted, context):
            notice += (
                f"the {tools} of the tools are missing. It seems that its template has no place for tools, so it is"
                " told of none. Serve it with one that has (for llama.cpp: --jinja, --chat-template-file), or choose"
                " another model"
            )
        else:
            notice += (
                "it seems to drop the beginning of what does not fit, instructions and all. Give it a larger context"
                " where it is served, and say how large it is in"
                f" provider.{info.provider}.models.{info.id}.limit.context"
            )
        log.warning("%s.", notice)
        _tell(turn, notice)


def _tell(turn: Turn, notice: str) -> None:
    status: dict[str, object] = {"type": "busy", "notice": notice}
    turn.conversation.tell(SessionStatus(session_id=turn.conversation.id, status=status))


def _guesses(turn: Turn) -> Iterator[str]:
    info = turn.model.info
    if info.guessed_from and len(turn.conversation.messages) == 1:
        yield f"Limits and prices of {info.full_name} are not known; those of {info.guessed_from} are assumed"


def _without_effect(turn: Turn) -> Iterator[str]:
    info, first = turn.model.info, len(turn.conversation.messages) == 1
    asked = turn.user.variant or (turn.agent.variant if first else "") or ""
    if asked and is_without_effect(info, asked):
        yield f"{info.full_name} decides itself how much it thinks; the variant {asked} changes nothing"


def _left_out(turn: Turn) -> list[str]:
    message = turn.conversation.message(turn.user.id)
    files = [part for part in message.parts.values() if isinstance(part, FilePart)] if message else []
    attachments = [Attachment(mime=file.mime, url=file.url, filename=file.filename) for file in files if _is_sent(file)]
    return left_out(attachments, turn.model.info.accepts) if attachments else []


def _is_sent(file: FilePart) -> bool:
    """Text and folders are in the prompt as words already."""
    return file.mime not in ("text/plain", "application/x-directory")
