"""Names that are slips of the pen, and names that are simply others."""

import pytest

from toolwright.permission.slips import LONGEST, meant_by, slip_of

KNOWN = ("bash", "edit", "read", "webfetch", "external_directory", "lsp")


@pytest.mark.parametrize(
    ("name", "slip", "meant"),
    [
        ("bsh", "bash", "bash"),
        ("bashh", "bash", "bash"),
        ("bahs", "bash", "bash"),
        ("besh", "bash", "bash"),
        ("bash", "", ""),
        ("bash*", "", ""),
        ("ba?h", "", ""),
        ("lspx", "lsp", "lsp"),
        ("ls", "", ""),
        ("lps", "", ""),
        ("web_fetchs", "", "webfetch"),
        ("external_directories", "", "external_directory"),
        ("nothing", "", ""),
        ("", "", ""),
        (7, "", ""),
        (None, "", ""),
    ],
)
def test_a_slip_is_one_letter_away_and_what_resembles_is_meant(name: object, slip: str, meant: str) -> None:
    assert (slip_of(name, KNOWN), meant_by(name, KNOWN)) == (slip, meant)


@pytest.mark.parametrize(("letters", "slip"), [(LONGEST, True), (LONGEST + 1, False)])
def test_a_very_long_name_is_not_compared(letters: int, slip: bool) -> None:
    name = "x" * letters
    assert bool(slip_of(name, [f"{name}y"])) is slip
    assert bool(meant_by(name, [f"{name}y"])) is slip
