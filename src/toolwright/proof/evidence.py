"""The verdict on a piece of work: what shows that it is done, and what speaks against it."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from toolwright.proof.goal import CheckRun
from toolwright.protocols.json_types import Json
from toolwright.record import record

Verdict = Literal["proven", "not_shown", "contradicted"]
Weight = Literal["contradicts", "doubt", "note"]


@record(frozen=True, slots=True, kw_only=True)
class Reason:
    """One thing that counts for or against: a note changes nothing, a doubt keeps work from counting as proven."""

    kind: str
    text: str
    weight: Weight = "doubt"
    path: str = ""
    call: str = ""

    def as_json(self) -> Json:
        where = {name: value for name, value in (("path", self.path), ("call", self.call)) if value}
        return {"kind": self.kind, "text": self.text, "weight": self.weight, **where}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "Reason":
        """Read one that was stored."""
        known: dict[str, Any] = {name: str(stored.get(name, "")) for name in ("kind", "text", "path", "call")}
        return cls(weight=stored.get("weight", "doubt"), **known)


@record(frozen=True, slots=True, kw_only=True)
class Evidence:
    """A verdict with all it rests on."""

    verdict: Verdict
    checks: tuple[CheckRun, ...] = ()
    reasons: tuple[Reason, ...] = ()

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "Evidence":
        """Read one that was stored."""
        checks = tuple(CheckRun.from_json(one) for one in stored.get("checks", ()))
        return cls(
            verdict=stored.get("verdict", "not_shown"),
            checks=checks,
            reasons=tuple(Reason.from_json(one) for one in stored.get("reasons", ())),
        )

    def as_json(self) -> Json:
        return {
            "verdict": self.verdict,
            "checks": [one.as_json() for one in self.checks],
            "reasons": [one.as_json() for one in self.reasons],
        }


def described(evidence: Json) -> list[str]:
    """Return evidence in lines for people."""
    lines = [str(evidence["verdict"]).replace("_", " ")]
    for check in evidence["checks"]:
        held = str(check["status"]).replace("_", " ")
        lines.append(f"  {held}  {check['command']}  exit {check['exit']}  tree {check['tree'][:12] or '?'}")
    for reason in evidence["reasons"]:
        call = f"  {reason['call']}" if "call" in reason else ""
        lines.append(f"  {_MARKS[reason['weight']]} {reason['kind']}: {reason['text']}{call}")
    return lines


_MARKS = {"contradicts": "✗", "doubt": "?", "note": "•"}


def evidence_of(checks: Sequence[CheckRun], reasons: Sequence[Reason]) -> Evidence:
    """Return the verdict: contradicted where a record says the opposite, proven where nothing is in doubt."""
    weights = {one.weight for one in reasons}
    verdict: Verdict = "proven"
    if "contradicts" in weights:
        verdict = "contradicted"
    elif "doubt" in weights or not any(one.held for one in checks):
        verdict = "not_shown"
    return Evidence(verdict=verdict, checks=tuple(checks), reasons=tuple(reasons))


def reasons_of_last(last: Sequence[CheckRun]) -> list[Reason]:
    """Return the reasons that the last run of each condition gives."""
    return [
        Reason(
            kind="check_timed_out" if one.status == "timed_out" else "check_failed",
            text=f"`{one.command}` does not hold on the final files: {describe(one)}.",
            weight="contradicts",
        )
        for one in last
        if not one.held
    ]


def describe(run: CheckRun) -> str:
    """Say in words what came of a check."""
    if run.status == "timed_out":
        return f"it did not end within {run.seconds:.0f} seconds"
    if run.status == "not_run":
        return f"it could not be run: {run.output.strip()[-300:]}"
    if run.match and not run.held:
        return f"nothing it printed matches {run.match!r}"
    return f"it ended with code {run.exit}"
