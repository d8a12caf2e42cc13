"""Codex' rules for commands (`prefix_rule(...)` in `rules/*.rules`) as rules of ours; the strictest that fits wins."""

import ast
import shlex
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

from toolwright.config.foreign.converted import READ_ONLY, Converted, RuleNote, asking, rule
from toolwright.config.foreign.found import NotUnderstood
from toolwright.protocols.json_types import Json
from toolwright.record import record

_EFFECTS = {"allow": "allow", "prompt": "ask", "forbidden": "deny"}
_ORDER = ("allow", "ask", "deny")
_KNOWN = ("pattern", "decision", "justification", "match", "not_match")
MOST_FORMS = 500
"""Of one rule whose words have alternatives."""


@record(frozen=True, slots=True, kw_only=True)
class PrefixRule:
    """Words that a command begins with, each with its alternatives, and what becomes of such a command."""

    words: tuple[tuple[str, ...], ...]
    effect: str
    match: tuple[str, ...] = ()
    not_match: tuple[str, ...] = ()
    """Commands that its author says it fits, and those it does not."""

    @property
    def patterns(self) -> list[str]:
        forms = list(product(*self.words))
        if len(forms) > MOST_FORMS:
            raise NotUnderstood(f"it has {len(forms)} forms")
        return [f"{' '.join(form)} *" for form in forms]


def codex_rules(texts: Sequence[str], settings: Sequence[Json] = (), *, base: bool = True) -> Converted:
    """Return the rules of several files, and of the settings beside them what concerns all commands."""
    rules: dict[str, list[Json]] = {effect: [] for effect in _ORDER}
    notes: list[RuleNote] = []
    for text in texts:
        for entry in prefix_rules(text, notes):
            piece = f"{entry.effect} {' '.join('|'.join(word) for word in entry.words)}"
            try:
                if entry.effect == "allow" and any(set("*?") & set(word) for word in sum(entry.words, ())):
                    raise NotUnderstood("a star in a word is any text here")
                rules[entry.effect] += (rule("bash", pattern, entry.effect) for pattern in entry.patterns)
            except NotUnderstood as error:
                notes.append(RuleNote(piece, "stricter" if entry.effect == "allow" else "left out", str(error)))
    if rules["allow"]:
        notes.append(RuleNote("allow", "stricter", "there such a command runs outside of the sandbox, here inside"))
    first = _base(settings, notes) if base else []
    return Converted(rules=(*first, *rules["allow"], *rules["ask"], *rules["deny"]), notes=tuple(dict.fromkeys(notes)))


def prefix_rules(text: str, notes: list[RuleNote]) -> Iterator[PrefixRule]:
    """Yield the rules of a file. Its language is a part of Python: calls with plain values are read, nothing is run."""
    try:
        statements = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        notes.append(RuleNote("a file of rules", "left out", f"it cannot be read: {error}"))
        return
    for statement in statements:
        call = statement.value if isinstance(statement, ast.Expr) else None
        if isinstance(call, ast.Constant):
            continue
        name = call.func.id if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) else ""
        if not isinstance(call, ast.Call) or name != "prefix_rule" or call.args:
            line = ast.unparse(statement).splitlines()[0][:80]
            notes.append(RuleNote(line, "left out", "only prefix_rule with named values is understood"))
            continue
        try:
            yield _prefix_rule({str(word.arg): ast.literal_eval(word.value) for word in call.keywords})
        except (ValueError, TypeError, NotUnderstood) as error:
            notes.append(RuleNote(ast.unparse(call)[:80], "left out", str(error)))


def _prefix_rule(arguments: dict[str, Any]) -> PrefixRule:
    if unknown := [key for key in arguments if key not in _KNOWN]:
        raise NotUnderstood(f"its {unknown[0]!r} is not understood")
    words = tuple((one,) if isinstance(one, str) else tuple(map(str, one)) for one in arguments.get("pattern", ()))
    effect = _EFFECTS.get(arguments.get("decision", "allow"))
    if not words or not all(words) or effect is None:
        raise NotUnderstood("it has no pattern, or a decision that is not known")
    return PrefixRule(
        words=words,
        effect=effect,
        match=_commands(arguments.get("match", ())),
        not_match=_commands(arguments.get("not_match", ())),
    )


def _commands(value: Any) -> tuple[str, ...]:
    return tuple(one if isinstance(one, str) else shlex.join(map(str, one)) for one in value)


def _base(settings: Sequence[Json], notes: list[RuleNote]) -> list[Json]:
    """The strictest that the settings say of all commands; the last that says a thing counts."""
    policies: Json = {}
    for table in settings:
        policies |= {key: table[key] for key in ("approval_policy", "sandbox_mode") if key in table}
    rules: list[Json] = []
    if policies.get("approval_policy") == "untrusted":
        rules += asking(("bash",), ())
        rules += (rule("bash", f"{name} *", "allow") for name in READ_ONLY)
    if policies.get("sandbox_mode") == "read-only":
        rules += asking(("edit",), ())
    if policies.get("sandbox_mode") == "danger-full-access":
        notes.append(RuleNote("sandbox_mode danger-full-access", "stricter", "commands stay in the sandbox here"))
    return rules
