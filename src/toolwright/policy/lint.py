"""Faults in permission rules: those that never decide, those that give away too much, those that contradict."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

from toolwright.agents import Agents
from toolwright.calls.acts import OUTWARD
from toolwright.config.jsonc import KeyPath, entries
from toolwright.config.source import SettingsSource
from toolwright.network.verdict import PERMISSION
from toolwright.permission.forms import EDITING, PERMISSIONS
from toolwright.permission.rules import ACT, STRICTNESS, Layer, Rule
from toolwright.permission.slips import slip_of
from toolwright.policy.carriers import carrying
from toolwright.policy.overlap import covers, overlap
from toolwright.record import record
from toolwright.text.wildcard import matches
from toolwright.tools import built_in

Kind = Literal["shadowed", "dead", "broad", "contradictory"]

_EVERYWHERE = ("/etc/passwd", "/home/somebody/.ssh/id_rsa")
"""Two places outside any project: what allows both of them allows everything."""
_ACTION = re.compile(r'"(?:[^"\\]|\\.)*"\s*:\s*"(allow|ask|deny)"')


@record(frozen=True, slots=True, kw_only=True)
class LintFinding:
    """A rule that does not do what it says, or more than one should say."""

    kind: Kind
    rule: Rule
    by: Rule | None = None
    """The rule on whose account it is so."""
    why: str = ""

    def as_json(self) -> dict[str, Any]:
        file, line = place(self.rule)
        by = f"{self.by} ({self.by.source})" if self.by is not None else None
        return {
            "kind": self.kind,
            "file": file,
            "line": line,
            "rule": str(self.rule),
            "by": by,
            "why": self.why,
        }

    def __str__(self) -> str:
        by = f" `{self.by}` ({self.by.source})" if self.by is not None else ""
        return f"{self.rule.source}: {self.kind}: `{self.rule}` {self.why}{by}."


def place(rule: Rule) -> tuple[str, int]:
    """The file and line a rule was written in; line 0 where it has none."""
    file, colon, line = rule.source.rpartition(":")
    return (file, int(line)) if colon and line.isdigit() else (rule.source, 0)


def is_written(rule: Rule) -> bool:
    """Return whether somebody wrote the rule into a file or a variable; the program's own are not theirs to correct.

    The rules of an agent in Markdown have no line.
    """
    return place(rule)[1] > 0 or rule.source.endswith(".md")


def lint(
    agents: Agents, sources: Sequence[SettingsSource] = (), tools: Iterable[str] = (), home: Path | None = None
) -> list[LintFinding]:
    """The faults of all rules that hold in a workspace, in the order they are written; `tools` are no slips."""
    known = (*PERMISSIONS, *tools)
    findings: dict[tuple[str, str], LintFinding] = {}
    for finding in (*_repeated(sources), *_of_all(agents, known, home)):
        findings.setdefault((finding.rule.source, str(finding.rule)), finding)
    return sorted(findings.values(), key=lambda one: place(one.rule))


def _of_all(agents: Agents, known: Collection[str], home: Path | None) -> Iterator[LintFinding]:
    below = (*agents.general, agents.protected, agents.run_later, *agents.managed)
    yield from of_layers(below, {layer.name for layer in below}, known, home=home)
    for agent in agents.by_name.values():
        layers = agents.ruled(agent).policy.layers
        yield from of_layers(layers, {"agent (user)", "agent (project)"}, known, home=home)


def of_layers(
    layers: Sequence[Layer],
    wanted: Iterable[str],
    known: Collection[str] = PERMISSIONS,
    *,
    written: bool = True,
    home: Path | None = None,
) -> Iterator[LintFinding]:
    """The faults of the rules in some of the layers, which stand from weak to strong."""
    names = set(wanted)
    for index, layer in enumerate(layers):
        for position, rule in enumerate(layer.rules if layer.name in names else ()):
            if written and not is_written(rule):
                continue
            later = layer.rules[position + 1 :]
            fault = _unheard(rule, layer, known) or _replaced(rule, later) or _overruled(rule, layers, index)
            fault = fault or _broad(rule, later, home)
            if fault is not None:
                yield fault


def _unheard(rule: Rule, layer: Layer, known: Collection[str]) -> LintFinding | None:
    """A rule about something that is never asked for."""
    name = rule.permission
    if layer.name == "managed" and rule.action == "allow":
        return LintFinding(kind="dead", rule=rule, why="allows nothing, because the administrator's file only tightens")
    if name in EDITING and name != "edit":
        return LintFinding(kind="dead", rule=rule, why="is never asked for: whatever changes files asks for `edit`")
    if near := slip_of(name, known):
        return LintFinding(kind="dead", rule=rule, why=f"is about no permission there is; did you mean `{near}`?")
    if name == ACT and not any(matches(kind, rule.pattern) for kind in OUTWARD):
        return LintFinding(kind="dead", rule=rule, why=f"fits nothing, because `act` knows {', '.join(OUTWARD)}")
    if _is_judged_on_star(name) and not matches("*", rule.pattern):
        return LintFinding(kind="dead", rule=rule, why=f"fits nothing, because `{name}` is judged on `*` alone")
    if name == PERMISSION and re.search(r"[/\s]", rule.pattern):
        return LintFinding(
            kind="dead", rule=rule, why="fits nothing: write a host as `host` or `host:port`, without a path"
        )
    return None


def _is_judged_on_star(permission: str) -> bool:
    """Return whether the door asks for it, and no tool that would name a pattern."""
    tool = built_in(permission)
    return tool is not None and not tool.asks


def _replaced(rule: Rule, later: Sequence[Rule]) -> LintFinding | None:
    """A rule that a later one of the same layer covers: it never has the last word."""
    by = next((other for other in later if _covers(other, rule)), None)
    if by is None:
        return None
    if _same(rule, by) and by.action != rule.action:
        return LintFinding(kind="contradictory", rule=rule, by=by, why="is contradicted by")
    return LintFinding(kind="shadowed", rule=rule, by=by, why="never decides, because later there is")


def _overruled(rule: Rule, layers: Sequence[Layer], index: int) -> LintFinding | None:
    """A rule that a layer above takes back, or that a deny of a layer below does not let through."""
    own = layers[index]
    for other in layers[index + 1 :]:
        if other.tightens_only and other.name != "project" and (by := _last_word(other, rule)):
            return LintFinding(kind="dead", rule=rule, by=by, why="is always overruled by")
        by = next((one for one in other.rules if is_written(one) and _same(one, rule)), None)
        holds = rule.action == "deny" and own.protects_from(other.name)
        if by is not None and not holds and by.action != rule.action and rule.pattern != "*":
            return LintFinding(kind="contradictory", rule=rule, by=by, why="is contradicted by")
    for other in layers[:index]:
        by = _last_word(other, rule)
        if by is not None and by.action == "deny" and other.protects_from(own.name):
            kind: Kind = "contradictory" if _same(rule, by) else "dead"
            return LintFinding(kind=kind, rule=rule, by=by, why="is always overruled by")
    return None


def _last_word(layer: Layer, rule: Rule) -> Rule | None:
    """The rule of a layer that is stricter wherever this one fits, if none after it is milder on a part of that."""
    for other in reversed(layer.rules):
        stricter = STRICTNESS[other.action] > STRICTNESS[rule.action]
        if _covers(other, rule):
            return other if stricter else None
        if not stricter and overlap(other.permission, rule.permission) and overlap(other.pattern, rule.pattern):
            return None
    return None


def _broad(rule: Rule, later: Sequence[Rule], home: Path | None) -> LintFinding | None:
    if rule.action != "allow":
        return None
    if covers(rule.permission, "*") and covers(rule.pattern, "*"):
        return LintFinding(kind="broad", rule=rule, why="allows everything, also what will be added later")
    if rule.permission == ACT and matches("final", rule.pattern):
        return LintFinding(kind="broad", rule=rule, why="allows what cannot be taken back without a question")
    outside = rule.permission == "external_directory"
    if outside and all(covers(rule.pattern, one) for one in _EVERYWHERE):
        return LintFinding(kind="broad", rule=rule, why="allows every folder of this machine")
    if outside and home is not None and covers(rule.pattern, f"{home}/.ssh/id_rsa"):
        return LintFinding(kind="broad", rule=rule, why="allows all of the home folder, keys and all")
    if rule.permission == "bash" and rule.pattern != "*" and (line := _let_through(rule, later)):
        why = f"allows any command, because this one runs others, as in `{line}`"
        return LintFinding(kind="broad", rule=rule, why=why)
    return None


def _let_through(rule: Rule, later: Sequence[Rule]) -> str:
    """A command line by which the rule allows any command, and which no later rule takes from it."""
    taken = [other.pattern for other in later if matches("bash", other.permission) and other.action != "allow"]
    lines = (line for line in carrying(rule.pattern) if not any(matches(line, pattern) for pattern in taken))
    return next(lines, "")


def _covers(wide: Rule, narrow: Rule) -> bool:
    return covers(wide.permission, narrow.permission) and covers(wide.pattern, narrow.pattern)


def _same(one: Rule, other: Rule) -> bool:
    return _covers(one, other) and _covers(other, one)


def _repeated(sources: Sequence[SettingsSource]) -> Iterator[LintFinding]:
    """Keys that are written twice: of those only the last is ever read."""
    for source in sources:
        last: dict[KeyPath, Rule] = {}
        for path, position in reversed(list(entries(source.text))):
            below = path[path.index("permission") + 1 :] if "permission" in path else ()
            match = _ACTION.match(source.text, position.offset)
            if not below or match is None:
                continue
            permission, pattern = str(below[0]), str(below[1]) if len(below) > 1 else "*"
            action = next(one for one in STRICTNESS if one == match[1])
            rule = Rule(permission, pattern, action, f"{source.name}:{position.line}")
            by = last.setdefault(path, rule)
            if by is not rule:
                kind: Kind = "shadowed" if by.action == action else "contradictory"
                yield LintFinding(kind=kind, rule=rule, by=by, why="is written again in")
