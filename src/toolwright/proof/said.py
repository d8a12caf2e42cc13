"""Claims of the final message compared with the records: what is not backed, and what is."""

import re
from collections.abc import Iterator, Sequence

from toolwright.proof.claims import Claim, claims_of
from toolwright.proof.evidence import Reason
from toolwright.proof.runs import counts_of, hides_its_end, is_narrowed, is_test_run
from toolwright.record import record


@record(frozen=True, slots=True, kw_only=True)
class RecordedRun:
    """A command that was run, by the agent or as a check."""

    command: str
    exit: int | None
    output: str
    call: str = ""
    stale: bool = False
    """True if files were changed after it."""


def claim_reasons(message: str, runs: Sequence[RecordedRun], changed: Sequence[str]) -> Iterator[Reason]:
    """Yield what is said and not backed; a note for each claim that is."""
    for claim in {(one.kind, one.value): one for one in claims_of(message)}.values():
        match claim.kind:
            case "tests_pass":
                yield _tests(claim, runs)
            case "count":
                yield from _count(claim, runs)
            case "ran":
                yield from _ran(claim, runs)
            case "changed":
                yield from _changed(claim, changed)


def _tests(claim: Claim, runs: Sequence[RecordedRun]) -> Reason:
    tests = [one for one in runs if is_test_run(one.command) or not one.call]
    if not tests:
        return _unbacked(claim, "no record shows a run of tests")
    last = tests[-1]
    if last.exit not in (0, None) or (_failures(last) and last.exit != 0):
        return Reason(
            kind="claim_contradicted",
            text=f"“{claim.text}”: the last run, `{last.command}`, ended with code {last.exit}.",
            weight="contradicts",
            call=last.call,
        )
    if _failures(last):
        return Reason(
            kind="claim_contradicted",
            text=f"“{claim.text}”: `{last.command}` printed failures, whatever its exit code.",
            weight="contradicts",
            call=last.call,
        )
    if last.exit is None:
        return _unbacked(claim, f"`{last.command}` did not come to its end", last.call)
    if last.stale:
        return _unbacked(claim, f"files were changed after `{last.command}`", last.call)
    if last.call and hides_its_end(last.command):
        return _unbacked(claim, f"`{last.command}` ends well whatever comes of it", last.call)
    if last.call and is_narrowed(last.command) and not re.search(r"(?i)\b(that|this|the new|its|new) test", claim.text):
        return _unbacked(claim, f"`{last.command}` runs a selection of the tests", last.call)
    counts = counts_of(last.output)
    if last.call and counts is not None and not counts.ran:
        return _unbacked(claim, f"`{last.command}` ran no test", last.call)
    return Reason(
        kind="claim_backed", text=f"“{claim.text}”: `{last.command}` ended with code 0.", weight="note", call=last.call
    )


def _failures(run: RecordedRun) -> bool:
    counts = counts_of(run.output)
    return counts is not None and counts.failed > 0


def _count(claim: Claim, runs: Sequence[RecordedRun]) -> Iterator[Reason]:
    numbers = [counts.passed for one in runs if (counts := counts_of(one.output))]
    if numbers and int(claim.value) not in numbers:
        yield Reason(
            kind="claim_contradicted", text=f"“{claim.text}”: the records say {numbers[-1]}.", weight="contradicts"
        )
    elif not numbers:
        yield _unbacked(claim, "no record has such a number")


def _ran(claim: Claim, runs: Sequence[RecordedRun]) -> Iterator[Reason]:
    if not re.search(r"\s|^(make|pytest|tox|nox|cargo|npm|just|ruff|mypy)$", claim.value):
        return
    if not any(claim.value in one.command for one in runs):
        yield _unbacked(claim, f"no record shows that `{claim.value}` was run")


def _changed(claim: Claim, changed: Sequence[str]) -> Iterator[Reason]:
    if not any(
        path == claim.value or path.endswith(f"/{claim.value}") or claim.value.endswith(f"/{path}") for path in changed
    ):
        yield _unbacked(claim, f"no record shows a change of {claim.value}")


def _unbacked(claim: Claim, why: str, call: str = "") -> Reason:
    return Reason(kind="claim_not_backed", text=f"“{claim.text}”: {why}.", call=call)
