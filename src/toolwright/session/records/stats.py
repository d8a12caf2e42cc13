"""Use by the sessions of a project: messages, tokens, money, by model and by tool."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import field
from statistics import median

from toolwright.calls.parts import ToolPart
from toolwright.messages import Assistant, Message, Tokens, called_name
from toolwright.protocols.json_types import Json
from toolwright.record import record

DAY = 24 * 60 * 60 * 1000


@record(slots=True)
class Spent:
    """Replies of models, and what they took."""

    replies: int = 0
    cost: float = 0.0
    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0

    def add(self, cost: float, tokens: Tokens) -> None:
        self.replies += 1
        self.cost += cost
        self.input += tokens.input
        self.output += tokens.output + tokens.reasoning
        self.cache_read += tokens.cache.read
        self.cache_write += tokens.cache.write

    def as_json(self) -> Json:
        names = ("replies", "cost", "input", "output", "cache_read", "cache_write")
        return {name: getattr(self, name) for name in names}


@record(slots=True)
class Stats:
    """Counted session by session."""

    sessions: int = 0
    messages: int = 0
    spent: Spent = field(default_factory=Spent)
    models: dict[str, Spent] = field(default_factory=dict[str, Spent])
    tools: Counter[str] = field(default_factory=Counter[str])
    days: set[int] = field(default_factory=set[int])
    """On which something was said, counted from 1970 on."""
    totals: list[int] = field(default_factory=list[int])
    """The tokens of each session."""

    def add(self, messages: Iterable[Message], since: int = 0) -> None:
        """Count the messages of one session that were written since a moment; a session without any is none."""
        counted = [one for one in messages if one.info.time.created >= since]
        if not counted:
            return
        self.sessions += 1
        self.messages += len(counted)
        total = 0
        for message in counted:
            info = message.info
            self.days.add(int(info.time.created // DAY))
            if isinstance(info, Assistant):
                total += info.tokens.total
                self.spent.add(info.cost, info.tokens)
                self.models.setdefault(f"{info.provider_id}/{info.model_id}", Spent()).add(info.cost, info.tokens)
            self.tools.update(called_name(part) for part in message.parts.values() if isinstance(part, ToolPart))
        self.totals.append(total)

    @property
    def tokens_per_session(self) -> tuple[int, int]:
        """The mean and the median."""
        return (sum(self.totals) // len(self.totals), int(median(self.totals))) if self.totals else (0, 0)

    def as_json(self) -> Json:
        mean, middle = self.tokens_per_session
        return {
            "sessions": self.sessions,
            "messages": self.messages,
            "days": len(self.days),
            **self.spent.as_json(),
            "tokens_per_session": {"mean": mean, "median": middle},
            "models": {name: one.as_json() for name, one in self.models.items()},
            "tools": dict(self.tools.most_common()),
        }
