"""A command of the shell that the person runs in a session, whose agent is told of it."""

from collections.abc import Coroutine
from dataclasses import replace
from typing import Any

from toolwright.definition import Call
from toolwright.events import Bus
from toolwright.inbox import Inbox, Reply, always_say
from toolwright.messages import Assistant, Message, Moment, Paths, TextPart
from toolwright.permission.gate import Gate
from toolwright.session.prompt import Prompt
from toolwright.session.result import TurnEnd
from toolwright.session.session import Session
from toolwright.session.turns.turn import Turn
from toolwright.text.ids import new_id, now

USER_RAN = "The user ran a command in the shell; what it printed stands in the next message."


def run_line(session: Session, command: str, prompt: Prompt) -> Coroutine[Any, Any, TurnEnd]:
    """Run a line of the shell as the user's own, as a message with one call.

    Rules may forbid it, but nobody is asked about it. Raises where the session is at work.
    """
    session.turns.require_rest()

    async def run(turn: Turn) -> Message:
        return await _run(turn, command)

    return session.turns.carry_out(replace(prompt, text=USER_RAN), run)


async def _run(turn: Turn, command: str) -> Message:
    session, conversation = turn.session, turn.conversation
    user = conversation.messages[-1]
    for part in user.parts.values():
        if isinstance(part, TextPart):
            conversation.put(replace(part, synthetic=True))
    info = Assistant(
        id=new_id("msg"),
        session_id=session.id,
        parent_id=user.info.id,
        time=Moment(created=now()),
        provider_id=turn.model.info.provider,
        model_id=turn.model.info.id,
        agent=turn.agent.name,
        mode=turn.agent.name,
        path=Paths(cwd=str(session.home.directory), root=str(session.turns.instructions.root)),
    )
    message = conversation.add(info)
    call = Call(id=new_id("call"), tool="bash", arguments={"command": command, "description": "run by the user"})
    allowing = Gate(Inbox(Bus(), always_say(Reply(kind="once"))), session.home.gate.approvals)
    await session.run_call(call, turn, message_id=info.id, gate=allowing)
    conversation.update(replace(info, finish="stop", time=replace(info.time, completed=now())))
    return message
