"""How often a test tries something: enough to see that it holds, and very often where `make attack` asks for it."""

import os

ASKED_FOR = int(os.environ.get("TOOLWRIGHT_ATTACK_ROUNDS") or 0)


def rounds(usual: int, at_length: int = 0) -> int:
    """The usual number, or the long one (without it, what was asked for) in the long form."""
    return (at_length or ASKED_FOR) if ASKED_FOR else usual
