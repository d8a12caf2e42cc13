"""The two ways a statement can end, and what is known after each."""

from toolwright.record import record
from toolwright.shell.state import State


@record(frozen=True, slots=True)
class Outcome:
    """The state after success and after failure; None where the script does not go on."""

    succeeded: State | None
    failed: State | None

    def either(self, otherwise: State) -> State:
        """What holds afterwards. If the script has ended, what follows is still looked at, from `otherwise`."""
        if self.succeeded is None or self.failed is None:
            return self.succeeded or self.failed or otherwise
        return self.succeeded.join(self.failed)

    @property
    def negated(self) -> "Outcome":
        return Outcome(self.failed, self.succeeded)


def always(state: State) -> Outcome:
    """The same state, whether it worked or not."""
    return Outcome(state, state)


def joined(one: State | None, other: State | None) -> State | None:
    if one is None or other is None:
        return one or other
    return one.join(other)
