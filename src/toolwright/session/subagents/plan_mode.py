"""Plan mode: which agent goes on with a session, and where its plan is written."""

from dataclasses import replace
from pathlib import Path

from toolwright.definition import ToolContext
from toolwright.messages import Moment, TextPart, new_part
from toolwright.record import record
from toolwright.session.events import AgentSwitched
from toolwright.session.sessions import Sessions
from toolwright.text.ids import new_id, now


@record(slots=True)
class AgentModes:
    """Implements Modes: a change of agent is a message of its own, so that the history tells of it."""

    sessions: Sessions
    plans: Path

    def plan_file(self, session_id: str) -> str:
        created = self.sessions.opened(session_id).conversation.info.time.created
        return str(self.plans / f"{created}-{session_id[-6:]}.md")

    def switch(self, ctx: ToolContext, agent: str, text: str) -> None:
        conversation = self.sessions.opened(ctx.session_id).conversation
        last = conversation.last_user()
        if last is None:
            return
        info = replace(last, id=new_id("msg"), agent=agent, time=Moment(created=now()), system=None)
        conversation.add(info, [TextPart(**new_part(info.session_id, info.id), text=text, synthetic=True)])
        conversation.tell(AgentSwitched(session_id=info.session_id, agent=agent))
