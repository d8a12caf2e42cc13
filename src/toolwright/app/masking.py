"""Settings as they may be shown: without keys, tokens and what came from variables of the environment."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

MASK = "********"
SHORTEST = 4
"""Of a value to be hidden wherever it is; a shorter one would hide half the text."""
_NAME = r"key|token|secret|passw|credential|authorization|cookie|bearer"
_SECRET_NAME = re.compile(_NAME, re.IGNORECASE)
_NOT_SECRET = frozenset({"keybinds", "setCacheKey", "tokens", "preserve_recent_tokens"})
_HOLDERS = frozenset({"headers", "environment", "env"})
"""Settings whose every value may be a secret, whatever it is called."""
_LOGIN = re.compile(r"(?<=://)[^/@\s]+(?=@)")
_PARAMETER = re.compile(rf"([?&;][^=&\s]*(?:{_NAME}|sig|auth)[^=&\s]*=)[^&#\s]+", re.IGNORECASE)
_OPTION = re.compile(rf"-[\w-]*(?:{_NAME}|auth)[\w-]*", re.IGNORECASE)
_KNOWN = re.compile(
    r"\b(?:sk-[\w-]{8,}|gh[pousr]_\w{8,}|github_pat_\w{8,}|glpat-[\w-]{8,}|xox[a-z]-[\w-]{8,}|AKIA\w{12,}|AIza[\w-]{20,})"
)
"""Keys that their form gives away."""


def masked(value: Any, secrets: frozenset[str]) -> Any:
    """Put a mask in the place of every secret of settings: by names, by forms, and by what variables hold."""
    if isinstance(value, Mapping):
        return {key: _entry(key, entry, secrets) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return masked_words(value, secrets)
    if isinstance(value, str):
        for secret in secrets:
            value = value.replace(secret, MASK) if len(secret) >= SHORTEST else MASK if value == secret else value
        value = _KNOWN.sub(MASK, _PARAMETER.sub(rf"\g<1>{MASK}", _LOGIN.sub(MASK, value)))
    return value


def masked_words(words: Sequence[Any], secrets: frozenset[str]) -> list[Any]:
    """Mask a list, or the words of a command, of which `--api-key` says that the next is a secret."""
    masked_list: list[Any] = []
    for number, word in enumerate(words):
        option, equals, _ = word.partition("=") if isinstance(word, str) else ("", "", "")
        before = words[number - 1] if number else ""
        if equals and _OPTION.fullmatch(option):
            masked_list.append(f"{option}={MASK}")
        elif isinstance(word, str) and isinstance(before, str) and _OPTION.fullmatch(before) and word[:1] != "-":
            masked_list.append(MASK)
        else:
            masked_list.append(masked(word, secrets))
    return masked_list


def is_masked(value: Any) -> bool:
    """Tell whether a mask stands somewhere in a value, which therefore is not what it was."""
    if isinstance(value, Mapping):
        return any(map(is_masked, value.values()))
    return any(map(is_masked, value)) if isinstance(value, list | tuple) else isinstance(value, str) and MASK in value


def _entry(key: str, entry: Any, secrets: frozenset[str]) -> Any:
    if key not in _NOT_SECRET and _SECRET_NAME.search(key):
        if isinstance(entry, str) and entry:
            return MASK
        if isinstance(entry, list | tuple):
            return [MASK if isinstance(one, str) and one else masked(one, secrets) for one in entry]
    if key in _HOLDERS and isinstance(entry, Mapping):
        return {name: MASK if isinstance(one, str) and one else masked(one, secrets) for name, one in entry.items()}
    return masked(entry, secrets)
