"""Every way past the rules that is known of other tools: the effect is judged, or a person is asked."""

import pytest

from tests.shell.samples import CWD, DELETES_VICTIM, HIDDEN_CODE, HOME, OUTSIDE, WRITES_WITHOUT_COMMAND
from toolwright.calls.request import Request
from toolwright.files.paths import Tree
from toolwright.shell import Analysis, analyse, checks_for, requests_for
from toolwright.text.wildcard import matches


def look_at(command: str) -> Analysis:
    return analyse(command, cwd=CWD, home=HOME)


def texts(analysis: Analysis) -> list[str]:
    return [text for command in analysis.commands for text in (command.shown, *command.implied)]


@pytest.mark.parametrize("command", WRITES_WITHOUT_COMMAND)
def test_a_redirection_is_a_write_whatever_it_hangs_on(command: str) -> None:
    analysis = look_at(command)
    assert f"{CWD}/victim" in analysis.paths("write")
    assert analysis.commands or analysis.bare


@pytest.mark.parametrize("command", HIDDEN_CODE)
def test_what_is_only_known_when_it_runs_is_asked_about(command: str) -> None:
    analysis = look_at(command)
    assert analysis.verdict != "understood"
    assert analysis.reasons
    bash = requests_for(analysis, Tree("/").place)[-1]
    assert (bash.permission, bash.must_ask, bash.always) == ("bash", True, ())


@pytest.mark.parametrize("command", DELETES_VICTIM)
def test_a_rule_against_a_command_meets_it_in_every_disguise(command: str) -> None:
    analysis = look_at(command)
    assert any(matches(text, "rm *") for text in texts(analysis))
    named = any(path.startswith(CWD) for path in analysis.paths("delete"))
    assert named or analysis.verdict != "understood"


@pytest.mark.parametrize(("command", "path"), OUTSIDE)
def test_a_path_outside_is_found_wherever_it_hides(command: str, path: str) -> None:
    analysis = look_at(command)
    assert path in analysis.paths("read", "take", "carry", "look", "write", "delete", "enter", "run")


@pytest.mark.parametrize("command", ["> f", "cd . > f", "[ -f x ] > f", "export X=1 > f", "3> f"])
def test_a_write_without_a_command_is_checked_against_rules_for_commands_too(command: str) -> None:
    analysis = look_at(command)
    assert checks_for(analysis, Tree("/").place) == [Request(permission="bash", patterns=(command,), always=())]


@pytest.mark.parametrize(
    "command",
    ["", "  ", "\n\n", ";", "# nothing", "X=1", "A=1 B=2", "export X=1", "unset X", "local x=1", "readonly Y=2",
     "[ -f x ]", "[[ -f x && -d y ]]", "cd src", "cd .", "cd src/..", "cd ./src/lib && cd .."],
)  # fmt: skip
def test_what_does_nothing_needs_no_leave_to_run(command: str) -> None:
    analysis = look_at(command)
    assert (analysis.verdict, analysis.commands, analysis.bare) == ("understood", (), ())
    assert not analysis.paths("write")
    assert not analysis.paths("delete")


@pytest.mark.parametrize(
    "command",
    ["i=0; while ((i < 3)); do echo $i; i=$((i + 1)); done",
     "for ((i = 0; i < 3; i++)); do echo $i; done",
     "n=$(ls | wc -l); echo $((n + 1))",
     "for f in src/*.py; do wc -l \"$f\"; done",
     "for f in *.txt; do mv \"$f\" \"${f%.txt}.md\"; done",
     "while read -r l; do echo \"$l\"; done < data",
     "[ \"$X\" = y ] && echo yes",
     "[[ $X == y* ]] && echo yes",
     "x=${1:-default}; echo \"$x\"",
     "find . -name '*.py' -print0 | xargs -0 grep -l main",
     "git ls-files | xargs wc -l",
     "sed -n '1,5p' a; sed -e 's/a/b/g' -e '/x/d' b; sed -i.bak 's|a|b|' c",
     "awk '{ print $1, $NF }' a",
     "GIT_PAGER=cat git log -3",
     "cat <<'END' > script.py\nimport os; os.system('$(rm x)')\nEND",
     "python3 script.py --flag value",
     "python3 -m pytest -q tests",
     "cp \"$(pwd)/README.md\" build/",
     "set -e; cd src && make && cd .. && git commit -m 'done: all of /etc'",
     "(cd src && ls); cat README.md",
     "test -d build || mkdir build",
     "source .venv/bin/activate && pytest",
     "case $1 in start) echo a ;; *) echo b ;; esac",
     "if grep -q x README.md; then echo yes; else echo no; fi",
     "curl -s http://127.0.0.1:9/ | jq .x",
     "tar czf out.tgz src && tar tzf out.tgz",
     "diff <(sort a) <(sort b)"],
)  # fmt: skip
def test_everyday_scripts_are_understood(command: str) -> None:
    analysis = look_at(command)
    assert analysis.reasons == ()
    assert analysis.verdict == "understood"
