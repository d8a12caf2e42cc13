"""Command lines and the questions they raise, as recorded; and what we decided where the record is an accident."""

from pathlib import Path
from typing import Any

import pytest

from tests.vectors.layout import Places, layouts, make_places, rows
from toolwright.files.paths import Tree
from toolwright.permission.approvals import offered
from toolwright.shell import Analysis, analyse, requests_for
from toolwright.text.wildcard import matches

ROWS = list(rows("bash_permissions"))

TRACKED = "the folder that `cd` leads to is where later words begin"
FOLLOWED = "a link is followed for every command, not for eight of them"
UNESCAPED = "the folder is shown by its name, without the backslash it was written with"
OURS_BY_CHOICE: dict[str, tuple[str, list[str]]] = {
    "bashperm-0197": (TRACKED, []),
    "bashperm-0206": (TRACKED, ["{parent2}"]),
    "bashperm-0273": (FOLLOWED, ["{outside}/notes.txt"]),
    "bashperm-0278": (UNESCAPED, ["{outside}/with space"]),
    "bashperm-0460": (FOLLOWED, ["{outside}"]),
}
"""Rows that are not marked as accidents and where we differ all the same, with the paths outside that we name."""

ALL_WORDS = "words that are numbers, plain variables or substitutions are left out of the pattern"
BROKEN = "depends on how the parser recovers from broken syntax"
OURS: dict[str, dict[str, list[str]]] = {
    "bashperm-0038": {"bash": ["sleep 0"]},
    "bashperm-0039": {"bash": ["sleep 0", "echo started"]},
    "bashperm-0047": {"bash": ["echo 1", "echo 2", "echo 3"]},
    "bashperm-0070": {"bash": ["echo", "date"]},
    "bashperm-0073": {"bash": ["ls", "dirname src/app.py"]},
    "bashperm-0076": {"bash": ["echo", "cat data/in.txt", "wc -l"]},
    "bashperm-0083": {"bash": ["expr 1 + 2"]},
    "bashperm-0095": {"external_directory": ["{outside}/made.txt"], "bash": ["echo hi"]},
    "bashperm-0096": {"external_directory": ["{outside}/notes.txt"], "bash": ["cat {outside}/notes.txt"]},
    "bashperm-0119": {"bash": ["echo $'a\\tb'"]},
    "bashperm-0135": {"bash": ["echo $HOME"]},
    "bashperm-0136": {"bash": ["echo ${HOME}"]},
    "bashperm-0139": {"bash": ["echo $1 $? $#"]},
    "bashperm-0145": {"bash": ["echo 1 2 3"]},
    "bashperm-0146": {"bash": ["sleep 0"]},
    "bashperm-0147": {"bash": ["kill -0 1"]},
    "bashperm-0158": {"bash": ["echo $X"]},
    "bashperm-0160": {"bash": ["echo $FOO"]},
    "bashperm-0169": {"bash": ["echo $i"]},
    "bashperm-0173": {"bash": ["cat data/in.txt", "read x", "echo $x"]},
    "bashperm-0182": {"bash": ["if true; then echo"]},
    "bashperm-0183": {"bash": ["echo ("]},
    "bashperm-0184": {"bash": ["ls &&"]},
    "bashperm-0186": {"bash": ["for x in"]},
    "bashperm-0187": {"bash": ['echo "a']},
    "bashperm-0203": {"external_directory": ["/"]},
    "bashperm-0210": {"external_directory": ["{outside}/nowhere/deeper"]},
    "bashperm-0218": {"external_directory": ["{home}"]},
    "bashperm-0231": {"external_directory": ["{outside}/a/b/none"], "bash": ["rm -f {outside}/a/b/none"]},
    "bashperm-0233": {"external_directory": ["{home}/none.txt"], "bash": ["rm -f $HOME/none.txt"]},
    "bashperm-0235": {"external_directory": ["{outside}/none.txt"], "bash": ["rm -f '{outside}/none.txt'"]},
    "bashperm-0254": {"bash": ["chmod 644 README.md"]},
    "bashperm-0265": {"bash": ['rm -f "$TMPDIR/none"']},
    "bashperm-0267": {"external_directory": ["{home}/none"], "bash": ['mkdir -p "$HOME/none"']},
    "bashperm-0268": {
        "external_directory": ["{outside}/none", "{outside}"],
        "bash": ["ls", "xargs rm -f {outside}/none"],
    },
    "bashperm-0276": {
        "external_directory": ["{outside}/with space/none"],
        "bash": ['rm -f "{outside}/with space/none"'],
    },
    "bashperm-0279": {"external_directory": ["{outside}"], "bash": ["ls {outside}"]},
    "bashperm-0281": {"external_directory": ["{outside}"], "bash": ["find {outside} -name '*.txt'"]},
    "bashperm-0282": {"external_directory": ["{outside}/none.tgz"], "bash": ["tar -tf {outside}/none.tgz"]},
    "bashperm-0283": {
        "external_directory": ["{outside}/notes.txt"],
        "bash": ["ln -s {outside}/notes.txt build/ln"],
    },
    "bashperm-0284": {"external_directory": ["{outside}/none"], "bash": ["rmdir {outside}/none"]},
    "bashperm-0377": {"bash": ["gh pr view 12 --json title"]},
    "bashperm-0417": {"bash": ["openssl genrsa 2048"]},
    "bashperm-0422": {"bash": ["ufw allow 22"]},
    "bashperm-0432": {"bash": ["nvm use 18"]},
    "bashperm-0450": {"bash": ["npm run $TASK"]},
    "bashperm-0451": {"bash": ["git checkout $BRANCH"]},
    "bashperm-0453": {"bash": ["git", "echo status"]},
    "bashperm-0458": {"bash": ["find . -type f -print0", "xargs -0 sed -i 's/a/b/g'"]},
}
"""What we ask where the record is marked as an accident."""


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Places:
    return make_places(tmp_path_factory.mktemp("rows"), **layouts("bash_permissions"))


def understood(row: dict[str, Any], places: Places) -> tuple[Analysis, dict[str, list[str]], dict[str, list[str]]]:
    """The analysis of a row's command, and the patterns and lasting approvals of what it asks."""
    folder = places.fill(row.get("workdir") or "{project}")
    analysis = analyse(places.fill(row["command"]), cwd=folder, home=str(places.home))
    asked = [one for one in requests_for(analysis, Tree(places.project).place) if one.permission in ASKED]
    patterns = {one.permission: [str(pattern) for pattern in one.patterns] for one in asked}
    return analysis, patterns, {one.permission: list(one.always) for one in asked}


ASKED = ("external_directory", "bash")
"""The permissions that the recording set to ask; `read` and `edit` stood at allow."""


def recorded(row: dict[str, Any], places: Places) -> dict[str, list[str]]:
    """What the row asked. The folder given as `workdir` is the tool's own matter, not the analyser's."""
    found = {one["permission"]: places.fill(one["patterns"]) for one in row["requests"]}
    outside = [path for path in found.get("external_directory", []) if path != places.fill(row.get("workdir"))]
    return {**found, "external_directory": outside} if outside else {k: v for k, v in found.items() if k == "bash"}


@pytest.mark.parametrize("row", [row for row in ROWS if "quirk" not in row], ids=lambda row: row["id"])
def test_a_command_line_asks_what_was_recorded(row: dict[str, Any], places: Places) -> None:
    _, patterns, _ = understood(row, places)
    expected = recorded(row, places)
    if row["id"] in OURS_BY_CHOICE:
        outside = places.fill(OURS_BY_CHOICE[row["id"]][1])
        expected = {**expected, "external_directory": outside}
        expected = {permission: asked for permission, asked in expected.items() if asked}
    assert patterns == expected


@pytest.mark.parametrize("row", [row for row in ROWS if "quirk" in row], ids=lambda row: row["id"])
def test_where_the_record_is_an_accident_we_ask_what_we_decided(row: dict[str, Any], places: Places) -> None:
    _, patterns, _ = understood(row, places)
    assert patterns == places.fill(OURS.get(row["id"], recorded(row, places)))


@pytest.mark.parametrize("row", [row for row in ROWS if "quirk" not in row], ids=lambda row: row["id"])
def test_a_lasting_approval_is_the_recorded_prefix_at_a_word_boundary_or_less(
    row: dict[str, Any], places: Places
) -> None:
    analysis, _, always = understood(row, places)
    if analysis.verdict != "understood":
        assert not always["bash"]
        return
    wide = [
        pattern.removesuffix("*") + " *"
        for one in row["requests"]
        if one["permission"] == "bash"
        for pattern in one["always"]
    ]
    shown = [command.shown for command in analysis.commands]
    implied = [text for command in analysis.commands for text in command.implied]
    for pattern in map(without_folder, always.get("bash", [])):
        less = any(pattern.startswith(one.removesuffix("*")) for one in places.fill(wide))
        assert less or pattern in (*shown, *implied) or any(matches(text, pattern) for text in implied)


def without_folder(pattern: str) -> str:
    """An approval of the very words names the folder they were said in, unless that is the project's."""
    return pattern.partition(" && ")[2] if pattern.startswith("cd ") else pattern


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
def test_what_is_offered_would_settle_the_question(row: dict[str, Any], places: Places) -> None:
    analysis, _, always = understood(row, places)
    offered = [without_folder(pattern) for pattern in always.get("bash", [])]
    texts = [text for command in analysis.commands for text in (command.shown, *command.implied)]
    assert not offered or all(any(matches(text, pattern) for pattern in offered) for text in texts)


def test_the_table_of_accidents_names_no_row_twice_or_in_vain() -> None:
    accidents = {row["id"] for row in ROWS if "quirk" in row}
    assert OURS.keys() <= accidents
    assert OURS_BY_CHOICE.keys() <= {row["id"] for row in ROWS} - accidents


def test_the_folder_of_a_path_outside_is_offered_but_never_the_whole_file_system(tmp_path: Path) -> None:
    place = Tree(tmp_path).place
    offers = {
        "rm /etc/hosts.d/x": ("/etc/hosts.d/*",),
        "cd /etc": ("(read) /etc", "(read) /etc/*"),
        "cd /": ("(read) /",),
    }
    for command, offer in offers.items():
        first = requests_for(analyse(command, cwd=str(tmp_path), home="/nowhere/home"), place)[0]
        assert (first.permission, tuple(one.text for one in offered(first))) == ("external_directory", offer)
