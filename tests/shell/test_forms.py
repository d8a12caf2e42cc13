"""Rare forms of the grammar that are everyday somewhere: read as bash reads them, with all that runs in them."""

import subprocess
from pathlib import Path

import pytest

from toolwright.shell import analyse

FORMS = {
    "quotes in a replacement": """v=a.b; echo "${v/'.'/_}" > out""",
    "quotes in a default": """echo "${2:-no '$1' here}" > out""",
    "double quotes in double quotes": """echo "${v:-"a b"}" > out""",
    "a value trimmed": """v=' a '; echo "${v%"${v##*[![:space:]]}"}" > out""",
    "a pattern in a variable": """v=abc; p=a; echo "${v#"$p"}" > out""",
    "something run in quotes in quotes": """echo "${v:-"$(touch inner; echo x)"}" > out""",
    "a default of what a name names": """n=v; echo "${!n:-none}" > out""",
    "an alternative in a regular expression": """[[ ab =~ ^a|b$ ]] && touch out""",
    "alternatives beside a group": """[[ ab =~ (a|b)c|b && -n x ]] && touch out""",
    "a descriptor in an array": """exec {fd[0]}>out; echo x >&${fd[0]}; exec {fd[0]}>&-""",
    "a here-document that ends in the bracket": 'v=$(cat <<E\nhi\nE)\necho "$v" > out',
    "here-documents in here-documents": (
        "cat > out <<OUTER\n$(cat <<INNER\nin\n$(cat <<LAST\nmost\nLAST\n)\nINNER)\nout\nOUTER"
    ),
    "a here-document with something run in it": 'v=$(cat <<E\n$(touch inner)\nE)\necho "$v" > out',
    "a here-document with tabs before its end": "v=$(cat <<-E\n\thi\n\tE); touch out",
}


@pytest.mark.parametrize("name", FORMS)
def test_what_a_form_of_the_grammar_writes_is_foretold(name: str, tmp_path: Path) -> None:
    analysis = analyse(FORMS[name], cwd=str(tmp_path), home="/h")
    subprocess.run(["bash", "-c", FORMS[name]], cwd=tmp_path, check=False, capture_output=True)
    written = {str(path) for path in tmp_path.iterdir()}
    assert str(tmp_path / "out") in written
    assert analysis.verdict != "no"
    assert written <= set(analysis.paths("write"))


@pytest.mark.parametrize(
    "command",
    [
        """echo "${v:-it's}" """,
        """echo "${v:-'$(touch x)'}" """,
        """echo "${v:-'a}b'}" """,
        r"""echo "${v:-"a\"b"}" """,
        "v=$( (cat <<E\nhi\nE) )",
        "exec {fd[$(touch x)]}<f",
        "exec {fd[i]}<f",
        "r<( )m victim",
    ],
)
def test_a_form_of_which_shells_make_different_things_is_not_guessed(command: str) -> None:
    assert analyse(command, cwd="/p", home="/h").verdict != "understood"


def test_what_quotes_in_quotes_leave_is_not_relied_upon() -> None:
    analysis = analyse("""v=a.txt; touch "${v%'.txt'}" """, cwd="/p", home="/h")
    assert analysis.verdict == "partly"
    assert analyse("""v=a; touch "${v:-$(basename "$0")}" """, cwd="/p", home="/h").paths("write") == ("/p/a",)


@pytest.mark.parametrize(
    "command",
    ["[[ a > b ]]", "ls &> b", "ls |& cat", "cat <<< b", "a=(b); ls", "cat <(ls)", "exec {fd}>b", "echo \"${v:-'a'}\""],
)
def test_a_form_that_plain_sh_takes_for_something_else_is_asked_about_there(command: str) -> None:
    assert analyse(command, cwd="/p", home="/h", shell="/bin/sh").verdict != "understood"
