"""The catalogue of attacks, read from `catalogue.txt`."""

from dataclasses import dataclass
from pathlib import Path

CATALOGUE = Path(__file__).with_suffix(".txt")
ZSH = "read otherwise by zsh"


@dataclass(frozen=True, slots=True, kw_only=True)
class Attack:
    """One command line and the rules that it tries to get past."""

    kind: str
    rules: tuple[str, ...]
    command: str


def attacks() -> list[Attack]:
    found: list[Attack] = []
    kind, rules = "", tuple[str, ...]()
    for line in CATALOGUE.read_text("utf-8").splitlines():
        if line.startswith("## "):
            kind = line.removeprefix("## ")
        elif line.startswith("under ") and kind:
            rules = tuple(line.removeprefix("under ").split("; "))
        elif line and kind:
            command = line.replace("⏎", "\n").replace("⇥", "\t")
            found.append(Attack(kind=kind, rules=rules, command=command))
    return found


ATTACKS = attacks()
