"""Messages that reach a session between two steps: the user's words, and notices of agents in the background."""

import asyncio
from dataclasses import field, replace
from typing import TYPE_CHECKING

from toolwright.messages import Moment, TextPart, new_part
from toolwright.protocols.json_types import Json
from toolwright.record import record
from toolwright.text.ids import new_id, now

if TYPE_CHECKING:
    from toolwright.session.budget import Spending
    from toolwright.session.records.conversation import Conversation


@record(frozen=True, slots=True, kw_only=True)
class Notice:
    """Something that the model is told without anybody having typed it."""

    text: str
    about: Json
    """Subject of the notice, kept beside the text, so that it is told once."""
    spending: "Spending | None" = None
    """Spending that the work it comes of counts to."""


@record(slots=True)
class PendingInput:
    """Words and notices that a session has got and its model has not been told."""

    words: list[str] = field(default_factory=list[str])
    notices: list[Notice] = field(default_factory=list[Notice])
    _news: asyncio.Event = field(default_factory=asyncio.Event)

    def say(self, text: str) -> None:
        """Take in words of the user's."""
        self.words.append(text)
        self._news.set()

    def note(self, notice: Notice) -> None:
        self.notices.append(notice)
        self._news.set()

    async def wait(self) -> None:
        """Wait until there is something, or may be."""
        await self._news.wait()
        self._news.clear()

    def tell(self, conversation: "Conversation") -> bool:
        """Make all of it a message of its own; whether there was anything."""
        last = conversation.last_user()
        if last is None or not (self.words or self.notices):
            return False
        words, notices = self.words, self.notices
        self.words, self.notices = [], []
        info = replace(last, id=new_id("msg"), time=Moment(created=now()))
        keys = info.session_id, info.id
        parts = [TextPart(**new_part(*keys), text=one.text, synthetic=True, metadata=one.about) for one in notices]
        if words:
            parts.append(TextPart(**new_part(*keys), text="\n\n".join(words)))
        conversation.add(info, parts)
        return True
