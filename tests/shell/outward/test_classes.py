"""Each command line has a class: what it does beyond this machine, and whether that can be taken back."""

import json
from collections import Counter
from importlib.resources import files
from pathlib import Path

import pytest

from tests.attacks.shell.everyday import EVERYDAY
from toolwright.calls.acts import CLASSES
from toolwright.shell.analysis.analysis import analyse
from toolwright.shell.outward import acts_of, table

HERE = Path(__file__).parent
LABELLED = [json.loads(line) for line in (HERE / "labelled.jsonl").read_text("utf-8").splitlines()]
LINES = [line.split(" ", 1) for line in (HERE / "lines.txt").read_text("utf-8").splitlines() if line[0] != "#"]
FURTHER = [line.split(" ", 1) for line in (HERE / "further.txt").read_text("utf-8").splitlines() if line[0] != "#"]
UNSEEN = [
    line.replace("⏎", "\n").split(" ", 1)
    for line in (HERE / "unseen.txt").read_text("utf-8").splitlines()
    if line[0] != "#"
]
OUTWARD = ("changes", "final")


def class_of(command: str) -> str:
    acts = acts_of(analyse(command, cwd="/work/proj", home="/home/u"))
    return max((one.act.kind for one in acts), key=CLASSES.index, default="unknown")


def test_no_labelled_line_that_is_final_or_changes_something_is_taken_for_harmless() -> None:
    silent = [one["command"] for one in LABELLED if one["label"] in OUTWARD and class_of(one["command"]) not in OUTWARD]
    assert silent == []


def test_no_labelled_line_that_is_harmless_is_taken_for_an_outward_act() -> None:
    asked = [one["command"] for one in LABELLED if one["label"] not in OUTWARD and class_of(one["command"]) in OUTWARD]
    assert asked == []


def test_what_is_final_is_hardly_ever_taken_for_a_change() -> None:
    table = Counter((one["label"], class_of(one["command"])) for one in LABELLED)
    assert table["final", "changes"] == 0
    assert table["changes", "final"] <= 3


@pytest.mark.parametrize(("label", "command"), LINES)
def test_a_line_acts_outside_or_does_not(label: str, command: str) -> None:
    assert (class_of(command) in OUTWARD) == (label == "A"), class_of(command)


@pytest.mark.parametrize(("label", "command"), FURTHER)
def test_a_further_line_is_as_strict_as_what_it_does(label: str, command: str) -> None:
    kind = class_of(command)
    assert (kind in OUTWARD) == (label in OUTWARD), kind
    assert label != "final" or kind == "final"


def test_lines_from_manuals_that_no_row_was_made_for_are_classed_as_what_they_do() -> None:
    classed = [(label, class_of(command), command) for label, command in UNSEEN]
    silent = {
        label: [one for kind, found, one in classed if kind == label and found not in OUTWARD] for label in OUTWARD
    }
    asked = [one for kind, found, one in classed if kind not in OUTWARD and found in OUTWARD]
    assert silent["final"] == []
    labels = Counter(label for label, _ in UNSEEN)
    assert len(silent["changes"]) <= labels["changes"] // 100, silent["changes"]
    assert len(asked) <= (len(UNSEEN) - labels["changes"] - labels["final"]) // 100, asked


def test_an_ordinary_day_has_few_outward_acts() -> None:
    outward = [command for command in EVERYDAY if class_of(command) in OUTWARD]
    assert len(outward) <= 20, "\n".join(outward)


@pytest.mark.parametrize(
    ("command", "kind"),
    [
        ("somecloud frobnicate x", "unknown"),
        ("kubectl frobnicate x", "changes"),
        ("aws newservice frobnicate-thing", "changes"),
        ("gh frobnicate", "changes"),
        ("git frobnicate", "here"),
        ("kubectl --new-option value delete pods x", "final"),
        ("kubectl --new-flag get pods", "reads"),
        ("git push --dry-run --force", "reads"),
        ("kubectl apply -f x --dry-run=none", "changes"),
        ("curl -X POST http://localhost:3000/api -d a=1", "here"),
        ("curl -X POST http://localhost.example.com/api -d a=1", "changes"),
        ("curl -X POST http://localhost:3000/ https://a.example/", "changes"),
        ("ssh a ssh b rm -rf x", "final"),
        ("ssh a ssh b ls", "reads"),
        ("docker run --rm amazon/aws-cli s3 rm s3://b --recursive", "final"),
        ("npx prisma@5 migrate reset --force", "final"),
        ("nodemon --exec 'git push'", "changes"),
        ("somebox -e npm publish", "final"),
        ("sometool exec --in . git push", "changes"),
        ("sometool add mail bob", "unknown"),
        ("sometool init", "unknown"),
        ("sometool delete-deployment x", "final"),
        ("sometool artifacts upload x", "changes"),
        ("python3 -c \"import requests; requests.post('https://a.example/', data='x')\"", "changes"),
        ("python3 -c \"import requests; requests.post('http://localhost:80/', data='x')\"", "unknown"),
        ("echo x > /dev/tcp/a.example/80", "changes"),
        ("docker run --rm -it bitnami/kubectl apply -f x", "changes"),
        ("gcloud compute ssh a --command 'rm -rf /srv'", "final"),
        ("git --help", "nothing"),
    ],
)
def test_what_no_row_names_is_told_by_its_kind(command: str, kind: str) -> None:
    assert class_of(command) == kind


def test_no_program_has_two_sections() -> None:
    texts = [path.read_text("utf-8") for path in files(table.__package__).joinpath("data").iterdir()]
    heads = [line for text in texts for line in text.splitlines() if line and line[0] not in " #"]
    repeated = [name for name, count in Counter(" ".join(heads).split()).items() if count > 1]
    assert repeated == []


def test_every_line_of_a_section_is_of_a_known_kind() -> None:
    known = {
        *CLASSES,
        "otherwise",
        "values",
        "lowers",
        "raises",
        "path",
        "scripts",
        "remote",
        "inside",
        "wraps",
        "http",
        "body",
    }
    known |= {"reading", "sql", "files", "script", "on", "shows", "any-case", "texts", "addresses", "people"}
    texts = [path.read_text("utf-8") for path in files(table.__package__).joinpath("data").iterdir()]
    used = {line.split()[0] for text in texts for line in text.splitlines() if line[:2] == "  " and line[2:3] != " "}
    assert used <= known
