"""What the user should know before a turn: files that the model cannot be given, limits and prices that are guesses."""

from collections.abc import Iterator

from toolwright.definition import Attachment
from toolwright.models.media import left_out
from toolwright.parts import FilePart
from toolwright.session.answering import Answering
from toolwright.session.events import SessionStatus


def tell_notices(turn: Answering) -> None:
    """Say what holds for the newest prompt."""
    for notice in (*_guesses(turn), *_left_out(turn)):
        status: dict[str, object] = {"type": "busy", "doing": notice}
        turn.conversation.bus.publish(SessionStatus(session_id=turn.conversation.id, status=status))


def _guesses(turn: Answering) -> Iterator[str]:
    info = turn.model.info
    if info.guessed_from and len(turn.conversation.messages) == 1:
        yield f"Limits and prices of {info.full_name} are not known; those of {info.guessed_from} are assumed"


def _left_out(turn: Answering) -> list[str]:
    message = turn.conversation.message(turn.user.id)
    files = [part for part in message.parts.values() if isinstance(part, FilePart)] if message else []
    given = [Attachment(mime=file.mime, url=file.url, filename=file.filename) for file in files if _is_sent(file)]
    return left_out(given, turn.model.info.accepts)


def _is_sent(file: FilePart) -> bool:
    """Text and folders are in the prompt as words already."""
    return file.mime not in ("text/plain", "application/x-directory")
