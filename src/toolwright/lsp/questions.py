"""Requests that a server has yet to answer."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from toolwright.record import record


@record(frozen=True, slots=True, kw_only=True)
class PendingRequest:
    """A request that a server is to answer in time, while something else is done."""

    method: str
    params: Any
    answer: asyncio.Future[Any]


@record(frozen=True, slots=True, kw_only=True)
class Survey:
    """The questions about all files of a project, and about one that is open, asked at once."""

    path: Path | None
    own: PendingRequest | None
    project: PendingRequest
    known: Mapping[Path, str]
    """What the server was told it had found, so that it need not tell the same again."""

    def cancel(self) -> None:
        for question in (self.own, self.project):
            if question is not None:
                question.answer.cancel()
