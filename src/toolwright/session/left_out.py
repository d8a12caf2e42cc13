"""Files of a prompt that the model cannot be given: the user is told, not only the model."""

from toolwright.models.media import left_out
from toolwright.parts import FilePart
from toolwright.session.events import SessionStatus
from toolwright.session.turn import Turn
from toolwright.tool import Attachment


def tell_left_out(turn: Turn) -> None:
    """Say which files of the newest prompt are not sent, and why."""
    message = turn.conversation.message(turn.user.id)
    files = [part for part in message.parts.values() if isinstance(part, FilePart)] if message else []
    given = [Attachment(mime=file.mime, url=file.url, filename=file.filename) for file in files if _is_sent(file)]
    for told in left_out(given, turn.model.info.accepts):
        status: dict[str, object] = {"type": "busy", "doing": told}
        turn.conversation.bus.publish(SessionStatus(session_id=turn.conversation.id, status=status))


def _is_sent(file: FilePart) -> bool:
    """Text and folders are in the prompt as words already."""
    return file.mime not in ("text/plain", "application/x-directory")
