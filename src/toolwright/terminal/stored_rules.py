"""The rules that an answer for longer stores: chosen by their numbers, or edited and tried before."""

from collections.abc import Sequence

from toolwright.inbox import RuleTrial
from toolwright.text.display import visible

NAMED = 5
"""Earlier questions that are named."""


def numbered(rules: Sequence[str], words: str) -> tuple[str, ...]:
    """All of the rules, or those whose numbers were named; none for a wrong number."""
    numbers = words.replace(",", " ").split()
    if not numbers:
        return tuple(rules)
    known = {str(number): pattern for number, pattern in enumerate(rules, 1)}
    return tuple(known[number] for number in numbers) if all(number in known for number in numbers) else ()


def trial_lines(trial: RuleTrial) -> list[str]:
    """Return lines on what storing rules of the person's own would mean."""
    if not trial.settles:
        reason = f" {visible(trial.reason, lines=False)}" if trial.reason else ""
        return [f"This rule would not cover this call.{reason}"]
    count = len(trial.earlier)
    if not count:
        return ["Covers this call; none of the earlier ones."]
    lines = [f"Covers this call and {'one' if count == 1 else count} asked before:"]
    lines += [f"  {visible(one, lines=False)}" for one in trial.earlier[:NAMED]]
    return [*lines, f"  and {count - NAMED} more"] if count > NAMED else lines
