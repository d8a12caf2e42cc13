"""The guides: every listing runs, every output is the real one, and nothing of the program is left out."""

import argparse
import html
import json
import os
import re
import sys
import tomllib
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.pages import PAGES, ROOT, Home, Listing, fits, listings, steps
from toolwright.cli import COMMANDS
from toolwright.config.load import load_config
from toolwright.config.schema import config_schema
from toolwright.machine.folders import Folders

UPDATE = "TOOLWRIGHT_UPDATE_DOCS" in os.environ
"""Set to write what commands really print into the pages, in place of what does not fit."""

SETTINGS_THAT_MEAN_NOTHING = {name for name, schema in config_schema()["properties"].items() if not schema}


def named(page: Path) -> str:
    return str(page.relative_to(ROOT))


def of_kind(kind: str) -> list[Listing]:
    return [one for page in PAGES for one in listings(page) if one.kind == kind]


@pytest.mark.slow
@pytest.mark.parametrize("page", [page for page in PAGES if "```console" in page.read_text("utf-8")], ids=named)
def test_commands_print_what_a_page_shows(tmp_path: Path, page: Path) -> None:
    home = Home(tmp_path / "home")
    for listing in listings(page):
        if listing.file:
            home.put(listing)
        elif listing.kind == "console" and listing.runs_here:
            _check_commands(home, listing)


def _check_commands(home: Home, listing: Listing) -> None:
    for step in steps(listing):
        code, printed = home.command(step)
        if not step.shown.strip():
            assert code == 0, f"{listing}: {step.command}\n{printed}"
        elif UPDATE and not fits(step.shown, printed):
            _rewrite(listing, step.command, step.shown, printed)
        else:
            assert fits(step.shown, printed), f"{listing}: $ {step.command}\n{printed}"


def _rewrite(listing: Listing, command: str, shown: str, printed: str) -> None:
    text = listing.page.read_text("utf-8")
    shown, printed = shown.rstrip("\n"), re.sub(r"\b([a-z]{3,4})_[0-9A-Za-z]{20,}", r"\1_…", printed.rstrip("\n"))
    listing.page.write_text(text.replace(f"$ {command}\n{shown}\n", f"$ {command}\n{printed}\n", 1), "utf-8")


def _marked(listing: Listing) -> Any:
    """To import the libraries of others takes seconds."""
    return pytest.param(listing, marks=pytest.mark.slow) if listing.page.name == "adapters.md" else listing


@pytest.mark.parametrize("listing", [_marked(one) for one in of_kind("python") if not one.file], ids=str)
def test_a_listing_in_python_runs(tmp_path: Path, listing: Listing) -> None:
    if not listing.runs_here:
        pytest.skip(f"{listing} needs what is not installed")
    home = Home(tmp_path / "home")
    page = listings(listing.page)
    position = page.index(listing)
    for earlier in page[:position]:
        if earlier.file:
            home.put(earlier)
    code, printed = home.python(listing)
    assert code == 0, f"{listing}:\n{printed}"
    if page[position + 1 :] and page[position + 1].about == "output":
        assert fits(page[position + 1].body, printed), printed


@pytest.mark.parametrize("listing", of_kind("jsonc"), ids=str)
def test_a_configuration_that_is_shown_can_be_used(tmp_path: Path, listing: Listing) -> None:
    (tmp_path / "toolwright.jsonc").write_text(listing.body, "utf-8")
    config = load_config(tmp_path, Folders.of({"HOME": str(tmp_path / "home")}), {})
    assert config.warnings == ()


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_links_lead_somewhere(page: Path) -> None:
    for target, anchor in re.findall(r"\]\(([^)#]*)#?([^)]*)\)", page.read_text("utf-8")):
        if "://" not in target:
            other = page.parent / target if target else page
            assert other.exists(), f"{named(page)} links to {target}"
            assert not anchor or anchor in anchors(other), f"{named(page)} links to {target}#{anchor}"


def anchors(page: Path) -> set[str]:
    """Return the names that the headings of a page have in links."""
    text = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", one.lower()).strip().replace(" ", "-") for one in headings}


def test_the_site_has_every_page_once() -> None:
    listed = re.findall(r"^ +- (\S+\.md)$", (ROOT / "mkdocs.yml").read_text("utf-8"), re.MULTILINE)
    assert sorted(listed) == sorted(page.name for page in (ROOT / "docs").glob("*.md"))


def test_the_page_of_the_package_shows_all_it_has_where_the_files_beside_it_are_not() -> None:
    """As on a package index: the words of the picture stand in its place."""
    picture = _picture()
    readme, package = ((ROOT / name).read_text("utf-8") for name in ("README.md", "PACKAGE.md"))
    drawing = (ROOT / "docs" / "demo.svg").read_text("utf-8")
    rows = [
        html.unescape(row).replace("\N{NO-BREAK SPACE}", " ") for row in re.findall("<text[^>]*>(.*)</text>", drawing)
    ]
    lines = re.findall(r"^```text\n(\$ tw demo.*?)\n```$", package, re.MULTILINE | re.DOTALL)[0].split("\n")
    assert package == picture.without_picture(readme, lines)
    assert (drawing, rows) == (picture.drawn(lines), [line for line in lines if line])
    assert [target for target in re.findall(r"\]\(([^)#]+)", package) if "://" not in target] == []
    assert "<img" not in package
    assert tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["readme"] == "PACKAGE.md"


@pytest.mark.slow
def test_the_picture_shows_what_the_demo_prints() -> None:
    picture = _picture()
    drawing = (ROOT / "docs" / "demo.svg").read_text("utf-8")
    now = picture.drawn(picture.shown(picture.printed()))
    # What runs side by side is told in the order in which it happens.
    assert _rows(drawing) == _rows(now), "python docs/picture.py draws it anew"


def _rows(drawing: str) -> list[str]:
    return sorted(re.findall("<text[^>]*>(.*)</text>", drawing))


def _picture() -> ModuleType:
    sys.path.insert(0, str(ROOT / "docs"))
    try:
        return import_module("picture")
    finally:
        sys.path.remove(str(ROOT / "docs"))


def test_the_reference_says_what_the_source_says() -> None:
    sys.path.insert(0, str(ROOT / "docs"))
    try:
        written: str = import_module("reference").page()
    finally:
        sys.path.remove(str(ROOT / "docs"))
    assert (ROOT / "docs" / "reference.md").read_text("utf-8") == written, "python docs/reference.py writes it anew"


def test_every_page_is_in_the_index() -> None:
    index = (ROOT / "docs" / "README.md").read_text("utf-8")
    assert [named(page) for page in PAGES if page.parent.name == "docs" and f"({page.name})" not in index] == [
        "docs/README.md"
    ]


def test_every_command_has_its_help_in_the_reference() -> None:
    page = (ROOT / "docs" / "cli.md").read_text("utf-8")
    for command in COMMANDS:
        for words in [command, *(f"{command} {action}" for action in _actions(command))]:
            assert f"$ tw {words} --help\n" in page


def _actions(command: str) -> list[str]:
    module = import_module(f"toolwright.cli.commands.{command}_command")
    if not hasattr(module, "_parser"):  # one that has options alone
        return []
    parser: argparse.ArgumentParser = module._parser()
    groups = (one.choices for one in parser._actions if isinstance(one, argparse._SubParsersAction))
    return [name for choices in groups for name in choices]


def test_every_setting_is_in_the_table() -> None:
    page = (ROOT / "docs" / "configuration.md").read_text("utf-8")
    known = config_schema()["properties"].keys() - SETTINGS_THAT_MEAN_NOTHING - {"$schema"}
    assert sorted(name for name in known | SETTINGS_THAT_MEAN_NOTHING if not re.search(f"`{name}[.`]", page)) == []


def test_every_recorded_row_that_we_answer_otherwise_is_told_of() -> None:
    page = (ROOT / "docs" / "differences.md").read_text("utf-8")
    rows = {
        row["id"]: row
        for file in (ROOT / "tests" / "vectors").glob("*.jsonl")
        for row in map(json.loads, filter(None, file.read_text("utf-8").split("\n")))
    }
    accidents = {row["quirk"] for row in rows.values() if "quirk" in row}
    assert sorted(sentence for sentence in accidents if sentence not in page) == []
    tests = "\n".join(file.read_text("utf-8") for file in (ROOT / "tests").rglob("test_*.py"))
    chosen = set(re.findall(r'"([a-z]+-\d{4})"', tests)) & rows.keys()
    assert sorted(name for name in chosen if "quirk" not in rows[name] and name not in page) == []


SHOWN = {
    "A leading `./` in a pattern means nothing": "tools/test_glob.py::test_a_pattern_may_start_with_a_dot_and_a_slash",
    "`grep` follows no links": "tools/test_grep.py::test_links_are_not_followed",
    "`$` fits before CRLF too": "tools/test_grep.py::test_the_end_of_a_line_is_found_before_a_carriage_return",
    "The name of a tool is found in any case of letters there too": "tools/test_batch.py::"
    "test_the_name_of_a_tool_is_found_in_any_case_of_letters",
    "`bash` needs no `description`": "tools/test_bash.py::test_without_a_description_the_command_is_the_title",
    "Of a long output both ends are shown": "tools/test_bash.py::"
    "test_a_long_output_keeps_both_ends_and_the_whole_in_a_file",
}
"""Differences that no recorded row shows, each with the test that does."""


@pytest.mark.parametrize("sentence", SHOWN)
def test_a_difference_that_no_recording_shows_is_told_and_has_its_test(sentence: str) -> None:
    page = " ".join((ROOT / "docs" / "differences.md").read_text("utf-8").split())
    file, _, name = SHOWN[sentence].partition("::")
    assert sentence in page
    assert f"def {name}(" in (ROOT / "tests" / file).read_text("utf-8")


def test_an_output_fits_only_what_is_shown_of_it() -> None:
    assert fits("a…c\n…\nend\n", "abc\nx\ny\nend\n")
    assert fits("name  there\n", "name        there  \n")
    assert not fits("a\n", "b\n")
    assert not fits("a\n", "a\nb\n")
    assert not fits("a…c\n", "a\nc\n")


def test_each_promise_about_security_names_the_tests_that_hold_it() -> None:
    rows = [line for line in (ROOT / "docs" / "security.md").read_text("utf-8").splitlines() if line.startswith("| ")]
    promises = [row for row in rows if "test" in row.rpartition(" | ")[2] and row != "| promise | test |"]
    defined = {name for file in TESTS.rglob("test_*.py") for name in _DEFINED.findall(file.read_text("utf-8"))}
    missing = dict[str, list[str]]()
    for row in promises:
        named = re.findall(r"`([^`]+)`", row.rpartition(" | ")[2])
        gone = [one for one in named if not ((ROOT / one).exists() or one.partition("[")[0] in defined)]
        if gone or not named:
            missing[row[:60]] = gone
    assert missing == {}
    assert len(promises) > 70


TESTS = ROOT / "tests"
_DEFINED = re.compile(r"^(?:async )?def (test_\w+)\(", re.MULTILINE)
