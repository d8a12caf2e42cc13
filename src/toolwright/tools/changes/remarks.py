"""Remarks of formatters and language servers on a change, as a result tells them."""

from collections.abc import Sequence

from toolwright.files.store import WriteOutcome


def with_remarks(output: str, outcomes: Sequence[WriteOutcome]) -> str:
    """The output, then what each had to say."""
    return "\n\n".join((output, *(remark for outcome in outcomes for remark in outcome.remarks)))


def diagnostics(outcomes: Sequence[WriteOutcome]) -> dict[str, list[str]]:
    """The same by file, for programs."""
    return {str(outcome.place.path): list(outcome.remarks) for outcome in outcomes if outcome.remarks}
