"""Answers to questions: first what an extension decides, then whoever answers here."""

import inspect
from collections.abc import Awaitable, Callable

from toolwright.inbox import NOBODY, Answerer, Question, Reply, Said

Decide = Callable[[Question], Awaitable[Reply | None]]
"""A reply, or None to leave the question to others."""


def answering_first(decide: Decide, otherwise: Answerer | None) -> Answerer:
    """An answerer that asks the extension first. Without anybody behind it every other question is refused."""

    async def answer(question: Question) -> Said:
        reply = await decide(question)
        if reply is not None:
            return reply
        if otherwise is None:
            return Reply(kind="reject", message=NOBODY)
        reply_here = otherwise(question)
        return await reply_here if inspect.isawaitable(reply_here) else reply_here

    return answer
