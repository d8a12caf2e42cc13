"""The challenge with which a server refuses a request: which login it wants, and with which scope."""

import re

LONGEST = 1000
"""Characters of a scope that a server may ask for."""
_PARAMETER = re.compile(r'(\w+)\s*=\s*(?:"([^"]*)"|([^\s,"]+))')
_SCOPE = re.compile(r"[\x21\x23-\x5b\x5d-\x7e]+(?: +[\x21\x23-\x5b\x5d-\x7e]+)*")


def parameters_of(challenge: str) -> dict[str, str]:
    """The parameters of a header `www-authenticate`."""
    return {name: quoted or plain for name, quoted, plain in _PARAMETER.findall(challenge)}


def missing_scope(challenge: str) -> str:
    """The scope that a login lacks; empty where something else is the matter."""
    parameters = parameters_of(challenge)
    scope = parameters.get("scope", "")
    is_scope = len(scope) <= LONGEST and _SCOPE.fullmatch(scope)
    return scope if parameters.get("error") == "insufficient_scope" and is_scope else ""


def joined_scopes(*scopes: str) -> str:
    """All of the scopes, each of their words once."""
    return " ".join(dict.fromkeys(word for scope in scopes for word in scope.split()))
