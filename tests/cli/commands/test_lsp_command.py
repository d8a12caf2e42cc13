"""tw lsp: what is here, what is wrong, and how to get more."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Tw
from tests.lsp.stage import server
from toolwright.cli.commands import lsp_command


@pytest.fixture
def scripted(project: Path, home: Path, configure: Callable[[Any], None]) -> None:
    configure({"lsp": server(project)})


@pytest.mark.usefixtures("scripted")
def test_the_servers_are_listed_with_their_state(tw: Tw) -> None:
    rows = {row["id"]: row for row in tw("lsp", "--json", "--trust").json}
    assert rows["scripted"]["state"] == "here"
    assert rows["scripted"]["command"][0] == sys.executable
    assert len(rows) > 30
    assert "scripted" in tw("lsp", "--trust").out


@pytest.mark.usefixtures("scripted")
def test_started_servers_tell_their_root_and_memory(tw: Tw, project: Path) -> None:
    rows = {row["id"]: row for row in tw("lsp", "--json", "--start", "--trust").json}
    assert rows["scripted"]["state"] == "running"
    assert rows["scripted"]["root"] == str(project)


@pytest.mark.usefixtures("scripted")
def test_check_prints_what_an_agent_would_see_and_fails_if_there_is_any(tw: Tw, project: Path) -> None:
    (project / "a.scr").write_text("BAD\n")
    (project / "b.scr").write_text("good\n")
    every = tw("lsp", "check", "--trust")
    assert every.code == 1
    assert every.out == '<diagnostics file="a.scr">\nERROR [1:1] bad: BAD\n</diagnostics>\n'
    assert tw("lsp", "check", "b.scr", "--trust").code == 0
    assert tw("lsp", "check", "--json", "a.scr", "--trust").json["a.scr"]["errors"] == ["ERROR [1:1] bad: BAD"]


@pytest.mark.usefixtures("scripted")
def test_a_file_that_is_not_there_is_a_problem(tw: Tw) -> None:
    outcome = tw("lsp", "check", "nothing.scr", "--trust")
    assert outcome.code == 1
    assert "There is no file" in outcome.out


@pytest.mark.usefixtures("scripted")
def test_the_files_of_a_folder_are_checked(tw: Tw, project: Path) -> None:
    for name in ("a", "b"):
        (project / name).mkdir()
        (project / name / "x.scr").write_text("BAD\n")
        (project / name / "x.other").write_text("BAD\n")
    assert [*tw("lsp", "check", "--json", "a", "--trust").json] == ["a/x.scr"]
    assert {*tw("lsp", "check", "--json", ".", "b/x.scr", "--trust").json} == {"a/x.scr", "b/x.scr"}


@pytest.mark.usefixtures("scripted")
def test_of_a_folder_the_newest_files_are_checked_that_are_for_a_server_and_not_installed(
    tw: Tw, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lsp_command, "MOST", 2)
    (project / "node_modules").mkdir()
    names = ("old.scr", "a.scr", "b.scr", "node_modules/c.scr", "d.other", "e.other", "f.other")
    for age, name in enumerate(reversed(names)):
        (project / name).write_text("good\n")
        os.utime(project / name, (1_000_000 - age, 1_000_000 - age))
    outcome = tw("lsp", "check", "--json", "--trust")
    assert [*outcome.json] == ["b.scr", "a.scr"]
    assert "only the newest 2 of 3 files" in outcome.err


@pytest.mark.usefixtures("scripted")
def test_the_project_names_no_programs_before_it_is_trusted(tw: Tw) -> None:
    assert "scripted" not in {row["id"] for row in tw("lsp", "--json").json}


def test_a_server_that_waits_for_trust_is_told_apart_from_one_that_is_not_here(
    tw: Tw, home: Path, outside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = home / ".config" / "toolwright" / "toolwright.json"
    settings.parent.mkdir(parents=True)
    settings.write_text('{"lsp": true}')
    program = outside / "servers" / "rust-analyzer"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    assert {row["id"]: row["state"] for row in tw("lsp", "--json").json}["rust"] == "waits for trust"
    assert {row["id"]: row["state"] for row in tw("lsp", "--json", "--trust").json}["rust"] == "here"
    assert "tw lsp install 'php intelephense'" in tw("lsp").out
    told = [one["told"] for one in tw("doctor", "--json").json if one["what"] == "lsp"]
    assert any("waits until the project is trusted" in one and "rust" in one for one in told), told


def test_what_cannot_be_installed_is_said(tw: Tw) -> None:
    unknown = tw("lsp", "install", "nothing")
    assert unknown.code == 2
    assert "ty" in unknown.err
    assert "instructions" in tw("lsp", "install", "rust").err


def test_doctor_has_a_line_on_language_servers(tw: Tw) -> None:
    assert "lsp" in {one["what"] for one in tw("doctor", "--json").json}


def test_doctor_names_a_server_of_the_settings_that_is_not_here(
    tw: Tw, home: Path, configure: Callable[[Any], None]
) -> None:
    configure({"lsp": {"mine": {"command": ["no-such-server"], "extensions": [".mine"]}}})
    told = [one["told"] for one in tw("doctor", "--json", "--trust").json if one["what"] == "lsp"]
    assert "mine of your settings is not here: no program 'no-such-server'" in told
    rows = {row["id"]: row for row in tw("lsp", "--json", "--trust").json}
    assert rows["mine"]["state"] == "not here"


def test_a_server_of_npm_is_installed_into_our_own_folder_without_running_scripts(
    tw: Tw, home: Path, outside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    npm = outside / "bin" / "npm"
    npm.parent.mkdir()
    npm.write_text('#!/bin/sh\nmkdir -p "$3/node_modules/.bin"\necho "$@" > "$3/asked"\n')
    npm.chmod(0o755)
    monkeypatch.setenv("PATH", f"{npm.parent}:/usr/bin:/bin")
    assert tw("lsp", "install", "bash").code == 0
    folder = home / ".local/share/toolwright/servers"
    asked = (folder / "asked").read_text()
    assert asked.endswith("--ignore-scripts bash-language-server\n")
    program = folder / "node_modules/.bin/bash-language-server"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    rows = {row["id"]: row for row in tw("lsp", "--json").json}
    assert rows["bash"]["command"][0] == str(program)
