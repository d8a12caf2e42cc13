"""The ways a configuration may say permissions, turned into rules."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

from toolwright.calls.builtin import BUILTIN, INVALID
from toolwright.definition import Action
from toolwright.errors import UsageError
from toolwright.permission.rules import Rule
from toolwright.text.wildcard import matches

ACTIONS: tuple[Action, ...] = get_args(Action)

# The names that older configurations use for tools which change files.
EDITING = ("edit", "write", "patch", "multiedit", "apply_patch")
# The names that OpenCode 2 uses.
_NEWER = {"shell": "bash", "subagent": "task"}
_BESIDE_TOOLS = ("act", "doom_loop", "external_directory")
PERMISSIONS = tuple(sorted({*BUILTIN, *EDITING, *_NEWER, *_BESIDE_TOOLS} - {INVALID}))
"""The permissions that are known. A tool from elsewhere may have one of its own, so others are no mistake."""

Source = Callable[[tuple[str | int, ...]], str]
"""A function from keys below the permission's own place to where they were written."""


def rules_from(permission: Any, home: Path, source: Source = lambda _: "") -> tuple[Rule, ...]:
    """`"ask"`, `{"bash": "ask"}`, `{"bash": {"git *": "allow"}}` or a list of rules, in the order they are written."""
    if isinstance(permission, str):
        return (Rule("*", "*", _action(permission), source(())),)
    rules: list[Rule] = []
    if isinstance(permission, list):
        for index, entry in enumerate(permission):
            rules += _listed(entry, home, source((index,)))
        return tuple(rules)
    for name, value in permission.items():
        if isinstance(value, str):
            rules += _named_rules(name, "*", _action(value), source((name,)))
            continue
        for pattern, action in value.items():
            rules += _named_rules(name, _with_home(pattern, home), _action(action), source((name, pattern)))
    return tuple(rules)


def given_rules(given: Any) -> tuple[Rule, ...]:
    """Rules as a program gives them: Rule records, or the `permission` form of the configuration."""
    if isinstance(given, str | Mapping):
        try:
            return rules_from(given, Path.home(), lambda _: "rules=")
        except (AttributeError, TypeError, ValueError, KeyError) as error:
            raise UsageError(f"{given!r} is no permission: {error}.") from error
    rules: tuple[Any, ...] = tuple(given) if isinstance(given, Iterable) else (given,)
    for rule in rules:
        if not isinstance(rule, Rule):
            raise UsageError(f"{rule!r} is no rule: give Rule(permission, pattern, action), or the form of a setting.")
        if rule.action not in ACTIONS:
            raise UsageError(f"{rule!r} is no rule: {rule.action!r} is none of {', '.join(ACTIONS)}.")
    return rules


def with_legacy_tools(permission: Any, tools: Mapping[str, bool] | Sequence[str] | None) -> Any:
    """`tools: {name: bool}` under the permission it was replaced by: a key in both keeps the older place.

    A list of tools is no permission: it says which are offered.
    """
    if not isinstance(tools, Mapping) or not tools:
        return permission or {}
    base: dict[str, Any] = {}
    for name, wanted in tools.items():
        base["edit" if name in EDITING else name] = "allow" if wanted else "deny"
    if isinstance(permission, list):
        older = [{"action": name, "resource": "*", "effect": action} for name, action in base.items()]
        return [*older, *permission]
    newer = {"*": permission} if isinstance(permission, str) else permission or {}
    return base | newer


def _named_rules(name: str, pattern: str, action: Action, source: str) -> Iterator[Rule]:
    """A rule by name; a restriction by a name that only others use for a permission restricts ours as well."""
    yield Rule(name, pattern, action, source)
    if name in _NEWER and action != "allow":
        yield Rule(_NEWER[name], pattern, action, source)


def _listed(entry: Mapping[str, str], home: Path, source: str) -> Iterator[Rule]:
    """A rule of a list. Its action is a pattern too, over the names that OpenCode 2 has."""
    named, pattern, action = entry["action"], _with_home(entry["resource"], home), _action(entry["effect"])
    if named in _NEWER:
        yield Rule(_NEWER[named], pattern, action, source)
        return
    yield from _named_rules(named, pattern, action, source)
    for theirs, ours in _NEWER.items():
        if action != "allow" and matches(theirs, named) and not matches(ours, named):
            yield Rule(ours, pattern, action, source)


def _action(text: str) -> Action:
    """Checked by the schema before, where a configuration says it; not where a program does."""
    for action in ACTIONS:
        if action == text:
            return action
    raise ValueError(f"{text!r} is none of {', '.join(ACTIONS)}")


def _with_home(pattern: str, home: Path) -> str:
    if pattern in ("~", "$HOME"):
        return str(home)
    for start in ("~/", "$HOME/"):
        if pattern.startswith(start):
            return f"{home}/{pattern.removeprefix(start)}"
    return pattern
