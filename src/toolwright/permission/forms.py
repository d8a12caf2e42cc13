"""The ways a configuration may say permissions, turned into rules."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, get_args

from toolwright.errors import UsageError
from toolwright.permission.rules import Rule
from toolwright.tool import Action

ACTIONS: tuple[Action, ...] = get_args(Action)

# The names that older configurations use for tools which change files.
EDITING = ("edit", "write", "patch", "multiedit", "apply_patch")

Source = Callable[[tuple[str, ...]], str]
"""Where a key was written, for a path of keys below the permission's own place."""


def rules_from(permission: Any, home: Path, source: Source = lambda _: "") -> tuple[Rule, ...]:
    """`"ask"`, `{"bash": "ask"}` or `{"bash": {"git *": "allow"}}` as rules, in the order they are written."""
    if isinstance(permission, str):
        return (Rule("*", "*", _action(permission), source(())),)
    rules: list[Rule] = []
    for name, value in permission.items():
        if isinstance(value, str):
            rules.append(Rule(name, "*", _action(value), source((name,))))
            continue
        rules += (
            Rule(name, _with_home(pattern, home), _action(action), source((name, pattern)))
            for pattern, action in value.items()
        )
    return tuple(rules)


def given_rules(given: Any) -> tuple[Rule, ...]:
    """Rules as a program gives them: Rule records, or the `permission` form of the configuration."""
    if isinstance(given, str | Mapping):
        try:
            return rules_from(given, Path.home(), lambda below: "rules=")
        except (AttributeError, TypeError, ValueError, KeyError) as error:
            raise UsageError(f"{given!r} is no permission: {error}.") from error
    rules = tuple(given)
    for rule in rules:
        if not isinstance(rule, Rule):
            raise UsageError(f"{rule!r} is no rule: give Rule(permission, pattern, action), or the form of a setting.")
    return rules


def with_legacy_tools(permission: Any, tools: Mapping[str, bool] | None) -> Any:
    """`tools: {name: bool}` under the permission it was replaced by: a key in both keeps the older place."""
    if not tools:
        return permission or {}
    base: dict[str, Any] = {}
    for name, wanted in tools.items():
        base["edit" if name in EDITING else name] = "allow" if wanted else "deny"
    newer = {"*": permission} if isinstance(permission, str) else permission or {}
    return base | newer


def _action(text: str) -> Action:
    """Checked by the schema before; here only to say it in types."""
    return next(action for action in ACTIONS if action == text)


def _with_home(pattern: str, home: Path) -> str:
    if pattern in ("~", "$HOME"):
        return str(home)
    for start in ("~/", "$HOME/"):
        if pattern.startswith(start):
            return f"{home}/{pattern.removeprefix(start)}"
    return pattern
