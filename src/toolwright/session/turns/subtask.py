"""A prompt that a subagent answers: a call of `task`, as a model would make it, and its report as the answer."""

import json
from collections.abc import Sequence

from toolwright.messages import Message
from toolwright.models.info import Usage
from toolwright.models.model import CallEnd, CallStart, Event, Finish, TextDelta
from toolwright.record import record
from toolwright.services import Report
from toolwright.session.prompt import Prompt
from toolwright.session.turns.loop import run_calls
from toolwright.session.turns.reply import ReplyWriter
from toolwright.session.turns.turn import Turn
from toolwright.text.ids import new_id


@record(slots=True, kw_only=True)
class HandedTask:
    """Task that is handed to a subagent, and what came back."""

    prompt: Prompt
    report: Report | None = None


async def hand_down(turn: Turn, prompt: Prompt, command: str) -> Message:
    """Have a subagent carry out what a command comes to, and give its report as the answer of this session."""
    handed = HandedTask(prompt=prompt)
    # The user has named the agent by naming the command.
    agent = prompt.agent or turn.agent.name
    turn.mentioned, turn.handed = (*turn.mentioned, agent), handed
    arguments = {
        "description": f"/{command}",
        "prompt": prompt.text,
        "subagent_type": agent,
        "command": command,
    }
    call_id = new_id("call")
    call = CallEnd(id=call_id, name="task", arguments=json.dumps(arguments))
    asked = await _reply(turn, CallStart(id=call_id, name="task"), call, Finish(reason="tool_calls"))
    [result] = await run_calls(turn, asked)
    asked.finish()
    turn.note_changes(asked.message)
    turn.spending.steps += handed.report.steps if handed.report else 0
    if result.error is not None or handed.report is None:
        turn.spending.check()
        raise result.error or AssertionError("a task without a report")
    answer = await _reply(turn, TextDelta(text=handed.report.text), Finish(reason="stop"))
    answer.finish()
    return answer.message


async def _reply(turn: Turn, *events: Event) -> ReplyWriter:
    """Write a reply that cost nothing, since no model was asked."""
    reply = ReplyWriter(turn.conversation, turn.begin_reply(), turn.model)
    reply.start()
    every: Sequence[Event] = (Usage(), *events)
    for event in every:
        reply.take(event)
    await reply.complete()
    return reply
