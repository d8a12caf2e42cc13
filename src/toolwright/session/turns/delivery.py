"""Notices brought to a session: told before its next step, or by a turn that nobody has prompted."""

import logging
from typing import TYPE_CHECKING

from toolwright.errors import ToolwrightError
from toolwright.messages import Assistant, Message
from toolwright.session.prompt import Prompt
from toolwright.session.turns.between_steps import Notice
from toolwright.session.turns.loop import answer

if TYPE_CHECKING:
    from toolwright.session.turns.turn import Turn
    from toolwright.session.turns.turns import Turns

log = logging.getLogger(__name__)


async def tell(turns: "Turns", notice: Notice) -> None:
    """Tell the model something; where it is at rest after a good end, that begins a turn."""
    turns.pending.note(notice)
    last = turns.conversation.messages[-1].info if turns.conversation.messages else None
    user = turns.conversation.last_user()
    if turns.busy or user is None or not isinstance(last, Assistant) or last.error is not None:
        return
    prompt = Prompt(text="", agent=user.agent, tools=user.tools or {}, variant=user.variant or "", waits=False)

    async def begin(turn: "Turn") -> None:
        # What it takes is on the account of the turn that began the work.
        turn.spending.above = turn.spending.above or notice.spending

    async def steps(turn: "Turn") -> Message:
        return await answer(turn) if turn.pending.notices else turn.conversation.messages[-1]

    try:
        await turns.take_steps(prompt, begin, steps)
    except ToolwrightError as error:
        log.warning("%s could not be told of an agent in the background: %s", turns.session.id, error)
