"""Rules and how they decide. Pure: rules and a request in, an action and its reason out."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field, replace
from typing import Literal

from toolwright.calls.acts import OUTWARD, Act
from toolwright.calls.request import Below, HostPattern, PathPattern
from toolwright.definition import Action
from toolwright.record import record
from toolwright.text.wildcard import longest_piece, matches

LayerName = Literal[
    "defaults",
    "agent",
    "user",
    "project",
    "override",
    "agent (user)",
    "agent (project)",
    "agent (tools)",
    "output folder",
    "session",
    "protected",
    "run later",
    "managed",
]

ACT = "act"
"""The permission for what a call does beyond this machine; its patterns are the classes."""
_REMEMBERED = 1000
"""Decisions an agent's rules remember: calls ask about the same things over and over."""
STRICTNESS: dict[Action, int] = {"allow": 0, "ask": 1, "deny": 2}

# A deny of the layer on the left is not undone by the layers on the right. What plan may not do, no general
# setting gives back; what the user forbids, no project allows.
_PROTECTED: dict[LayerName, frozenset[LayerName]] = {
    "agent": frozenset({"user", "project", "override"}),
    "user": frozenset({"project", "agent (project)"}),
    "override": frozenset({"agent (project)"}),
    "agent (user)": frozenset({"agent (project)"}),
}


@record(frozen=True, slots=True)
class Rule:
    """An action for a permission on a pattern. Both are wildcards; the last rule that fits wins."""

    permission: str
    pattern: str
    action: Action
    source: str = field(default="", compare=False)
    """The place where the rule was written, as in `toolwright.json:12`."""

    def __str__(self) -> str:
        return f"{self.permission} {self.pattern}: {self.action}"

    def fits(self, pattern: str) -> bool:
        """Tell whether the rule speaks of this thing. A restricting one sees through a path's letter case and links."""
        if not isinstance(pattern, PathPattern):
            return matches(pattern, self.pattern)
        restricts = self.action != "allow"
        if isinstance(pattern, HostPattern) and not restricts and not pattern.is_spelled_by(self.pattern):
            return False
        spellings = (*pattern.spellings, *pattern.aliases) if restricts else self._meant(pattern)
        return any(matches(spelling, self.pattern, any_case=restricts) for spelling in spellings)

    def _meant(self, pattern: PathPattern) -> tuple[str, ...]:
        """The spellings that an allowing rule may mean: `**/*.py` is no word about the folders above the project."""
        if self.pattern.startswith("/") or pattern.startswith("/"):
            return pattern.spellings
        return tuple(spelling for spelling in pattern.spellings if not spelling.startswith("/"))


@record(frozen=True, slots=True)
class Layer:
    """The rules of one origin, in order."""

    name: LayerName
    rules: tuple[Rule, ...]
    tightens_only: bool = False
    """Its rules may forbid but not allow: a project that is not trusted, our own files, the administrator."""

    def protects_from(self, later: LayerName) -> bool:
        """Tell whether a deny of this layer is not undone by a later one."""
        return later in _PROTECTED.get(self.name, frozenset())


@record(frozen=True, slots=True, kw_only=True)
class Decision:
    """An action and the rule behind it; without a rule nothing fitted, and that means ask."""

    action: Action
    layer: LayerName | None = None
    rule: Rule | None = None
    policy: "Policy | None" = None
    """Whose rules decided: the agent's own, or those of an agent that called it."""


@record(frozen=True, slots=True)
class Match:
    """A rule that fits, in its layer, and whether it was taken into account."""

    layer: Layer
    rule: Rule
    counts: bool


@record(frozen=True)
class Policy:
    """All rules that hold for an agent in a session: layers from weak to strong, under those of its caller."""

    agent: str
    layers: tuple[Layer, ...]
    parent: "Policy | None" = None
    _by_permission: dict[str, tuple[Layer, ...]] = field(default_factory=dict, compare=False, repr=False)
    _decided: "dict[tuple[str, str, object], Decision]" = field(default_factory=dict, compare=False, repr=False)
    _hidden: dict[str, bool] = field(default_factory=dict, compare=False, repr=False)
    _listed: "dict[str, tuple[tuple[str, str, Action], ...]]" = field(default_factory=dict, compare=False, repr=False)

    def decide(self, permission: str, pattern: str) -> Decision:
        """The last rule that fits, over all layers; but never more than the caller may do."""
        kind = type(pattern)
        if kind is not str and kind is not PathPattern:
            # Whatever else a pattern carries may decide as well: what is not known whole is not remembered.
            return self._decide(permission, pattern)
        key = (permission, pattern, (pattern.spellings, pattern.aliases) if isinstance(pattern, PathPattern) else None)
        decision = self._decided.get(key)
        if decision is None:
            if len(self._decided) >= _REMEMBERED:
                self._decided.clear()
            decision = self._decided[key] = self._decide(permission, pattern)
        return decision

    def _decide(self, permission: str, pattern: str) -> Decision:
        own = self._winner(self.matching(permission, pattern))
        if self.parent is None:
            return own
        return strictest([own, self.parent.decide(permission, pattern)])

    def decide_act(self, permission: str, pattern: str, act: Act) -> Decision:
        """Decide on an act by the rules about acts; one that allows this very thing by its words goes before an ask."""
        own = self._winner(self.matching_act(act) if act.kind in OUTWARD else ())
        if act.kind not in ("changes", "final") and own.rule is None:
            own = Decision(action="allow", policy=self)
        if own.action == "ask" or act.unnamed:
            named = self._winner(self.matching(permission, pattern))
            if named.action == "allow" and named.rule is not None and _names(named.rule, permission, act):
                own = named if own.action == "ask" else own
            elif act.unnamed:
                own = strictest([own, Decision(action="deny" if act.forbidden else "ask", policy=self)])
        return own if self.parent is None else strictest([own, self.parent.decide_act(permission, pattern, act)])

    def matching_act(self, act: Act) -> Iterator[Match]:
        """The rules about the act's class; rules about everything say nothing of what only reads."""
        for match in self.matching(ACT, act.kind):
            if act.kind != "reads" or match.rule.permission == ACT:
                yield match

    def matching(self, permission: str, pattern: str) -> Iterator[Match]:
        """The rules that fit, one a layer (its last), in the order of the layers."""
        yield from self._matches((layer, _last(layer.rules, pattern)) for layer in self._about(permission))

    def hides(self, permission: str) -> bool:
        """Tell whether a tool under this permission is forbidden outright, so that it need not be offered at all."""
        if permission not in self._hidden:
            self._hidden[permission] = self._hides(permission)
        return self._hidden[permission]

    def _hides(self, permission: str) -> bool:
        about = (layer for layer in self._about(permission) if layer.name != "session")
        winner = self._winner(self._matches((layer, layer.rules[-1]) for layer in about)).rule
        outright = winner is not None and winner.action == "deny" and winner.pattern == "*"
        return outright or (self.parent is not None and self.parent.hides(permission))

    def about(self, permission: str) -> tuple[tuple[str, str, Action], ...]:
        """Every rule about this permission, its callers' first: the permission it names, its pattern, its action."""
        if permission not in self._listed:
            rules = (rule for layer in self._about(permission) for rule in layer.rules)
            own = tuple((rule.permission, rule.pattern, rule.action) for rule in rules)
            self._listed[permission] = own if self.parent is None else (*self.parent.about(permission), *own)
        return self._listed[permission]

    def asked_by_user(self, permission: str) -> tuple[str, ...]:
        """The patterns that somebody wants to be asked about, without those that are asked about by themselves."""
        layers = (
            layer for layer in self._about(permission) if layer.name not in ("protected", "run later", "defaults")
        )
        own = tuple(rule.pattern for layer in layers for rule in layer.rules if rule.action == "ask")
        return own if self.parent is None else (*self.parent.asked_by_user(permission), *own)

    def restricts(self, permission: str) -> bool:
        """Tell whether any rule about this permission forbids or asks."""
        own = any(rule.action != "allow" for layer in self._about(permission) for rule in layer.rules)
        return own or (self.parent is not None and self.parent.restricts(permission))

    def runs_later(self, permission: str, pattern: str) -> bool:
        """Tell whether other programs run this by themselves: only an approval that names such a thing covers it."""
        layers = (layer for layer in self._about(permission) if layer.name == "run later")
        own = any(rule.fits(pattern) for layer in layers for rule in layer.rules)
        return own or (self.parent is not None and self.parent.runs_later(permission, pattern))

    def decide_suspected(self, permission: str, pattern: str) -> Decision:
        """Decide on what may not happen at all, by the rules that name it: no more than a question."""
        decision = self.decide(permission, pattern)
        named = decision.rule is not None and not decision.rule.pattern.startswith("*")
        if decision.action == "allow" or not named:
            return Decision(action="allow", policy=self)
        return replace(decision, action="ask")

    def decide_below(self, permission: str, below: Below) -> Decision:
        """Decide on all that is in a folder: on each name there is, and on those that rules give themselves."""
        decisions = [self._decide_named(permission, pattern) for pattern in self.named_below(permission, below)]
        # Nothing runs of a folder that goes; and in a box a project may be worked on as a whole.
        unasked = {"run later"} if below.guarded or below.certain else set[str]()
        unasked |= {"protected"} if below.guarded else set[str]()
        decisions = [one for one in decisions if one.layer not in unasked]
        decided = strictest([Decision(action="allow", policy=self), *decisions])
        if decided.action == "deny" and not below.certain:
            return replace(decided, action="ask")
        if (
            decided.action == "allow"
            and not (below.complete or below.broad)
            and self._may_fit(permission, below.folder)
        ):
            return Decision(action="ask", policy=self)
        return decided

    def _decide_named(self, permission: str, pattern: str) -> Decision:
        """Decide on a name that may not be there. What is not known to be there is asked about at most."""
        decision = self.decide(permission, pattern)
        supposed = permission == "read" and not isinstance(pattern, PathPattern)
        return replace(decision, action="ask") if supposed and decision.action == "deny" else decision

    def named_below(self, permission: str, below: Below) -> Iterator[str]:
        """The names in a folder that a restricting rule may speak of, and the patterns of such rules themselves.

        To change something a rule may be about can mean to make it; to be read it must be among what is there.
        """
        starts = tuple("" if spelling == "." else f"{spelling}/" for spelling in below.folder.spellings)
        restricting = self._restricting(permission)
        if below.broad:
            restricting = [rule for rule in restricting if not rule.pattern.startswith("*")]
        makes = permission != "read" and below.grows
        for rule in restricting if makes or not below.complete else ():
            if (
                rule.pattern.strip("*") and not rule.pattern.startswith(("*", "/")) and rule.pattern.startswith(starts)
            ) or (rule.pattern.startswith("/") and any(one and rule.pattern.startswith(one) for one in starts)):
                yield rule.pattern
        pieces = [longest_piece(rule.pattern) for rule in restricting if rule.pattern.strip("*")]
        everything = "\n".join(start + name for start in starts for name in below.names).lower()
        likely = [piece for piece in pieces if piece in everything]
        for name in below.names if likely else ():
            spellings = [start + name for start in starts]
            if any(piece in spelling.lower() for spelling in spellings for piece in likely):
                yield PathPattern(spellings[0], spellings[1:])

    def _restricting(self, permission: str) -> list[Rule]:
        own = [rule for layer in self._about(permission) for rule in layer.rules if rule.action != "allow"]
        return own + (self.parent._restricting(permission) if self.parent is not None else [])

    def _may_fit(self, permission: str, folder: PathPattern) -> bool:
        """Tell whether a rule could speak of something in the folder whose name is not known."""
        starts = tuple("" if spelling == "." else f"{spelling}/" for spelling in folder.spellings)
        fixed = (rule.pattern.partition("*")[0].partition("?")[0] for rule in self._restricting(permission))
        return any(start.startswith(head) or head.startswith(start) for head in fixed for start in starts)

    def under(self, parent: "Policy") -> "Policy":
        """These rights, but only where the caller has them too."""
        return Policy(self.agent, self.layers, parent)

    def _matches(self, candidates: Iterable[tuple[Layer, Rule | None]]) -> Iterator[Match]:
        current: Match | None = None
        for layer, rule in candidates:
            if rule is None:
                continue
            match = Match(layer, rule, counts=_may_follow(current, layer, rule))
            yield match
            current = match if match.counts else current

    def _winner(self, matches: Iterable[Match]) -> Decision:
        last = None
        for match in matches:
            last = match if match.counts else last
        if last is None:
            return Decision(action="ask", policy=self)
        return Decision(action=last.rule.action, layer=last.layer.name, rule=last.rule, policy=self)

    def _about(self, permission: str) -> tuple[Layer, ...]:
        """The layers with only the rules about this permission; remembered, because every call asks."""
        if permission not in self._by_permission:
            narrowed = (
                Layer(
                    layer.name,
                    tuple(rule for rule in layer.rules if matches(permission, rule.permission)),
                    layer.tightens_only,
                )
                for layer in self.layers
            )
            self._by_permission[permission] = tuple(layer for layer in narrowed if layer.rules)
        return self._by_permission[permission]


def decide(permission: str, pattern: str, rules: Sequence[Rule]) -> Action:
    """Decide by one list of rules: the last that fits, or ask."""
    return Policy("", (Layer("user", tuple(rules)),)).decide(permission, pattern).action


def _names(rule: Rule, permission: str, act: Act) -> bool:
    """Tell whether a rule speaks of this act: by the words of a command, or of any other tool by its permission."""
    words = not act.words or act.is_named_by(rule.pattern)
    return rule.permission == permission and words and act.is_meant_by(rule.pattern)


def strictest(decisions: Iterable[Decision]) -> Decision:
    """The most restrictive of several; the first of equals."""
    return max(decisions, key=lambda decision: STRICTNESS[decision.action])


def _last(rules: Sequence[Rule], pattern: str) -> Rule | None:
    return next((rule for rule in reversed(rules) if rule.fits(pattern)), None)


def _may_follow(current: Match | None, layer: Layer, rule: Rule) -> bool:
    """Tell whether a later layer's rule replaces the one that stands."""
    if layer.tightens_only:
        standing: Action = "ask" if current is None else current.rule.action
        return STRICTNESS[rule.action] > STRICTNESS[standing]
    if current is None or current.rule.action != "deny" or rule.action == "deny":
        return True
    return not current.layer.protects_from(layer.name)
