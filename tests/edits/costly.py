"""Texts that took the reference seconds or minutes, in any size."""

from collections.abc import Callable


def numbered(lines: int) -> str:
    return "".join(f"line {number} of {number % 97}\n" for number in range(lines))


def wide(lines: int) -> str:
    return "".join("{ " + f"{number} word " * 200 + "\n" if number % 4 else "{\n" for number in range(lines))


SEARCHED: dict[str, tuple[int, Callable[[int], tuple[str, str]]]] = {
    "W-P2 nothing fits": (20_000, lambda n: (numbered(n), "".join(f"lane {k} of {k}\n" for k in range(n // 40)))),
    "W-P2 all but one": (20_000, lambda n: (numbered(n), numbered(n // 40) + "z\n")),
    "W-P3 last anchor absent": (20_000, lambda n: ("{\n" * n, "{\nx\n}")),
    "W-P3 one last anchor": (20_000, lambda n: ("{\n" * n + "}\n", "{\nx\ny\n}")),
    "W-P4 equal lines": (20_000, lambda n: ("a a\n" * n, "a a\n" * (n // 10) + "b\n")),
    "W-P4 equal lines, many places": (20_000, lambda n: ("a a\n" * n, " a  a\n" * (n // 40))),
    "W-P5 wide middle line": (10_000, lambda n: (f"s\n{'x' * n}\ne\n" * 3, f"s\n{'y' * n}\ne")),
    "W-P5 wide lines between frequent ones": (400, lambda n: (wide(n), "{\n" + "word " * n + "\nother\n{")),
    "one long line": (1_000_000, lambda n: ("x" * n, "y" * (n // 1000) + "  z")),
    "one long line of words": (200_000, lambda n: ("a " * n, "a  " * (n // 100) + "b")),
    "one long line, very many places": (333_333, lambda n: ("ab ab " * n, "ab  ab")),
    "backslashes": (100_000, lambda n: ("\\" * n, "\\\\n" * (n // 100))),
    "blank lines": (50_000, lambda n: ("\n" * n, "\n \n" * (n // 100) + "x")),
}
"""A text and what is looked for in it, by the number of lines or letters."""

COMPARED: dict[str, tuple[int, Callable[[int], tuple[str, str]]]] = {
    "W-P1 all": (10_000, lambda n: ("".join(f"a{k}\n" for k in range(n)), "".join(f"b{k}\n" for k in range(n)))),
    "W-P1c every second": (
        10_000,
        lambda n: (
            "".join(f"a{k}\n" for k in range(n)),
            "".join(f"{'a' if k % 2 else 'b'}{k}\n" for k in range(n)),
        ),
    ),
    "equal lines": (30_000, lambda n: ("x\n" * n, "x\ny\n" * (n // 2))),
    "few lines": (
        30_000,
        lambda n: ("".join(f"{k % 7}\n" for k in range(n)), "".join(f"{k % 5}\n" for k in range(n))),
    ),
    "a huge text beside a tiny one": (1_000_000, lambda n: ("x\n" * n, "new\n")),
    "a tiny text beside a huge one": (1_000_000, lambda n: ("new\n", "x\n" * n)),
}
"""A text before and after."""
