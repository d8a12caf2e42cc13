"""Where a script is and what its variables hold, followed through lists, branches, loops and functions."""

import pytest

from toolwright.shell import analyse


def writes(command: str, shell: str = "bash") -> set[str]:
    return set(analyse(command, cwd="/p", home="/h", shell=shell).paths("write"))


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("cd d && touch x", {"/p/d/x"}),
        ("cd d; touch x", {"/p/d/x", "/p/x"}),
        ("cd d\ntouch x", {"/p/d/x", "/p/x"}),
        ("cd d || exit 1; touch x", {"/p/d/x"}),
        ("cd d || return; touch x", {"/p/d/x", "/p/x"}),
        ("set -e; cd d; touch x", {"/p/d/x"}),
        ("set -e; f() { cd d; touch x; }; f || true", {"/p/d/x", "/p/x"}),
        ("set -e; shopt -uo errexit; cd d; touch x", {"/p/d/x", "/p/x"}),
        ("set -e; shopt -o -u errexit; cd d; touch x", {"/p/d/x", "/p/x"}),
        ("shopt -so errexit; cd d; touch x", {"/p/d/x", "/p/x"}),
        ("set -e; shopt -so errexit; cd d; touch x", {"/p/d/x"}),
        ("set -e; set +e; cd d; touch x", {"/p/d/x", "/p/x"}),
        ("set -e; set +o errexit; cd d; touch x", {"/p/d/x", "/p/x"}),
        ("set -e; set +eu; cd d; touch x", {"/p/d/x", "/p/x"}),
        ("set -e; builtin set +e; cd d; touch x", {"/p/d/x", "/p/x"}),
        ("set -e; command set +e; cd d; touch x", {"/p/d/x", "/p/x"}),
        ("set -e; eval 'set +e'; cd d; touch x", {"/p/d/x", "/p/x"}),
        ("set -e; . ./rc; cd d; touch x", {"/p/d/x", "/p/x"}),
        ("set -e; f() { set +e; }; f; cd d; touch x", {"/p/d/x", "/p/x"}),
        ("f() { set -e; }; f; cd d; touch x", {"/p/d/x", "/p/x"}),
        ("env set -e; cd d; touch x", {"/p/d/x", "/p/x"}),
        ("coproc set -e; cd d; touch x", {"/p/d/x", "/p/x"}),
        ("exec set -e; cd d; touch x", {"/p/d/x", "/p/x"}),
        ("bash -e -c 'cd d; touch x'", {"/p/d/x", "/p/x"}),
        ("set -eo pipefail; cd d; touch x", {"/p/d/x"}),
        ("set -e; set -- +e; cd d; touch x", {"/p/d/x"}),
        ("set -e; cd d && true; touch x", {"/p/d/x", "/p/x"}),
        ("! cd d && touch x", {"/p/x"}),
        ("cd d && cd e && touch x", {"/p/d/e/x"}),
        ("cd d && cd .. && touch x", {"/p/x"}),
        ("(cd d && touch x) && touch y", {"/p/d/x", "/p/y"}),
        ("cd d & touch x", {"/p/x"}),
        ("cd d | touch x", {"/p/x"}),
        ("if cd d; then touch x; else touch y; fi", {"/p/d/x", "/p/y"}),
        ("pushd d && touch x", {"/p/d/x"}),
        ("cd && touch x", {"/h/x"}),
        ("cd -P && touch x", {"/h/x"}),
        ("cd -Pe && touch x", {"/h/x"}),
        ("cd -L d && touch x", {"/p/d/x"}),
        ("cd -- d && touch x", {"/p/d/x"}),
        ("cd ../q && touch x", {"/q/x"}),
        ("cd -P ../q && touch x", {"/q/x"}),
        ("cd d/../e && touch x", {"/p/e/x", "/p/d/../e/x"}),
        ("cd -P d/../e && touch x", {"/p/d/../e/x"}),
        ("cd -P d/.. && touch x", {"/p/d/../x"}),
        ("cd -L -P d/.. && touch x", {"/p/x", "/p/d/../x"}),
        ("cd d && cd ../e && touch x", {"/p/e/x", "/p/d/../e/x"}),
        ("pushd -n d && touch x", {"/p/x"}),
        ("pushd -n +1 && touch x", {"/p/x"}),
        ("cd d && pushd -n e && touch x", {"/p/d/x"}),
        ("pushd d && popd -n && touch x", {"/p/d/x"}),
        ("pushd d && popd -n +1 && touch x", {"/p/d/x"}),
        ("cd ~/e && touch x", {"/h/e/x"}),
        ("cd /e && touch x ../y", {"/e/x", "/e/../y"}),
        ("f() { cd d; }; f && touch x", {"/p/d/x", "/p/x"}),
        ("eval 'cd d' && touch x", {"/p/d/x", "/p/x"}),
        ("command cd d && touch x", {"/p/d/x"}),
        ("env cd d && touch x", {"/p/x"}),
        ("env -C d touch x && touch y", {"/p/d/x", "/p/y"}),
        ("git -C d init && touch y", {"/p/d", "/p/y"}),
        ("v=a; touch $v", {"/p/a"}),
        ("v=a; v=b; touch $v", {"/p/b"}),
        ("v=a; [ x ] && v=b; touch $v", {"/p/a", "/p/b"}),
        ("v=a; (v=b); touch $v", {"/p/a"}),
        ("v=a; v=b true; touch $v", set()),
        ("v=a; f() { v=b; }; f; touch $v", {"/p/a", "/p/b"}),
        ("v=a; f() { v=b; return; v=c; }; f; touch $v", {"/p/a", "/p/b", "/p/c"}),
        ("v=a; while :; do v=b; break; v=c; done; touch $v", {"/p/a", "/p/b", "/p/c"}),
        ("v=a; for i in 1 2; do v=b; continue; v=c; done; touch $v", {"/p/a", "/p/b", "/p/c"}),
        ("v=a; while read v; do v=b; done; touch $v", set()),
        ("v=a; case x in x) v=b ;& y) touch $v ;; esac", {"/p/a", "/p/b"}),
        ("if false; then cd() { :; }; fi; cd d && touch x", {"/p/d/x", "/p/x"}),
        ("cd d || { echo no; exit 1; }; touch x", {"/p/d/x"}),
        ("f() { cd d || exit; }; f; touch x", {"/p/d/x", "/p/x"}),
        ("if ! cd d; then exit 1; fi; touch x", {"/p/d/x"}),
        ("tar xfC a.tar d", {"/p/d"}),
        ("cp --target=d a", {"/p/d"}),
        ("cp --target d a", {"/p/d"}),
        ("echo a b | xargs touch", {"/p/a", "/p/b"}),
        ("echo 'a b' | xargs -I X touch X", {"/p/a b"}),
        ("echo x | xargs -I{} touch {} y", {"/p/x", "/p/y"}),
        ("v=a; f() { local v=b; }; f; touch $v", set()),
        ("v=a; read v; touch $v", set()),
        ("v=a; unset v; touch $v", set()),
        ("for v in a b; do touch $v.txt; done", {"/p/a.txt", "/p/b.txt"}),
        ("for v in *.txt; do touch ${v%.txt}.md; done", {"/p/*.md"}),
        ("f() { touch $1 $2; }; f a b", {"/p/a", "/p/b"}),
        ('f() { touch "$@"; }; f a b', {"/p/a", "/p/b"}),
        ("bash -c 'touch $0 $1' a b", {"/p/b"}),
        ("i=1; touch f$i f$((i+1))", {"/p/f1", "/p/f*"}),
        ("v='a b'; touch $v", {"/p/a", "/p/b"}),
        ("v='a b'; touch \"$v\"", {"/p/a b"}),
    ],
)
def test_files_are_found_where_the_script_is_by_then(command: str, expected: set[str]) -> None:
    assert writes(command) == expected


@pytest.mark.parametrize(
    "command",
    [
        "while cd d; do touch x; done",
        "for i in 1 2 3; do cd d; done; touch x",
        "popd; touch x",
        "pushd +1; touch x",
        "pushd; touch x",
        "pushd -P d; touch x",
        "cd -- -; touch x",
        "cd +1; touch x",
        "cd -q d; touch x",
        "CDPATH=/q; cd d; touch x",
        'set -e; set "$OPTIONS"; cd d; touch x',
        'set -e; set +o "$OPTION"; cd d; touch x',
        'set -e; shopt -uo "$OPTION"; cd d; touch x',
        "cd $UNKNOWN && touch x",
        "cd a b && touch x",
        "v=a; read v; touch $v",
        'v=a; eval "$(cat f)"; touch $v',
        "f() { f; touch x; }; f",
    ],
)
def test_what_is_lost_track_of_is_asked_about(command: str) -> None:
    assert analyse(command, cwd="/p", home="/h").verdict == "partly"


def test_a_loop_that_goes_nowhere_new_is_followed() -> None:
    assert analyse("for d in a b; do (cd $d && touch x); done", cwd="/p", home="/h").verdict == "understood"
    assert writes("for d in a b; do (cd $d && touch x); done") == {"/p/a/x", "/p/b/x"}


@pytest.mark.parametrize(
    ("command", "shell", "expected"),
    [
        ("touch {a,b}", "bash", {"/p/a", "/p/b"}),
        ("touch {a,b}", "/bin/sh", {"/p/a", "/p/b", "/p/{a,b}"}),
        ("sh -c 'touch {a,b}'", "bash", {"/p/a", "/p/b", "/p/{a,b}"}),
        ("v='a b'; touch $v", "/bin/zsh", {"/p/a", "/p/b", "/p/a b"}),
        ("noglob cd d && touch x", "/bin/zsh", {"/p/d/x", "/p/x"}),
    ],
)
def test_what_shells_disagree_on_is_taken_both_ways(command: str, shell: str, expected: set[str]) -> None:
    assert writes(command, shell=shell) == expected


@pytest.mark.parametrize(
    ("command", "shell"),
    [
        ("((rm x))", "sh"),
        ("sh -c '((rm x))'", "bash"),
        ("$'rm' x", "dash"),
        ("function f {\nrm x\n}", "sh"),
        ("y='a[1]'; echo $z[y]", "zsh"),
        ("=rm x", "zsh"),
        ("pushd -n d && touch x", "zsh"),
    ],
)
def test_what_means_something_else_to_another_shell_is_asked_about(command: str, shell: str) -> None:
    assert analyse(command, cwd="/p", home="/h", shell=shell).verdict != "understood"
