"""What a program is told about on its command line."""

import os
import subprocess
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from toolwright.shell import analyse

PATTERNS = r"""
uniq [ab]
uniq *
uniq a*
xxd [ab]
cp [ab]
cp *
cp -T [ab]
cp -t [de] a
mv [ab]
mv *
ln -f [ab]
ln -sf [ab]
install [ab]
install *
install -D [ab] d/n/[cd]
rsync -a [ab]
rsync -a *
sort -o [ab]
sort -o [ab] -u
sed -i [ab]
split -l1 [ab]
split -l 1 *
csplit -f [ab] 1
patch [ab]
zip -q [ab]
zip -qm x a
zip -qm x.zip [ab]
tar cf [ab]
tar cf * -v
tar cf x.tar -C d e -C .. b --remove-files
gzip [ab]
7z a [ab]
python3 -m json.tool [ab]
git init -q; git add .; git mv -f [ab]
git init -q; uniq $(git ls-files -o)
x=[ab]; uniq $x
f() { uniq $1; }; f '[ab]'
f() { uniq "$@"; }; f [ab]
set -- [ab]; uniq $1 $2
set -- [ab]; uniq $@
ls [ab] | xargs uniq
find a b -exec uniq {} +
find . -type f | xargs cp
for f in a; do uniq $f b; done
uniq {a,b}
shopt -s nullglob; cp a b z*
shopt -s nullglob; uniq a z* b
shopt -s nullglob; sort -o z* b a
shopt -s nullglob; mv -t z* d a
chmod [ab] c
curl -so [ab] file:///dev/null
tee [ab] < c
""".strip().splitlines()


@pytest.mark.parametrize(
    ("command", "reads"),
    [
        ("python3 t.py /outside/x", ("/outside/x", "/p/t.py")),
        ("python3 -m pytest /outside/x", ("/outside/x",)),
        ("node run.js --in=/outside/x plain", ("/outside/x", "/p/run.js")),
        ("unknown /outside/x", ("/outside/x",)),
    ],
)
def test_paths_handed_to_a_script_count_as_read(command: str, reads: tuple[str, ...]) -> None:
    assert set(analyse(command, cwd="/p", home="/h").paths("read", "take", "carry")) == set(reads)


@pytest.mark.parametrize(
    ("command", "changes"),
    [
        ("cp --targ d a", ("/p/d",)),
        ("timeout --sig KILL 5 rm x", ("/p/x",)),
        ("nice --adj 3 rm x", ("/p/x",)),
        ("env --ch /x rm a", ("/x/a",)),
    ],
)
def test_a_long_option_may_be_abbreviated(command: str, changes: tuple[str, ...]) -> None:
    analysis = analyse(command, cwd="/p", home="/h")
    assert (analysis.verdict, analysis.paths("write", "delete")) == ("understood", changes)


@pytest.mark.parametrize("command", PATTERNS)
def test_whatever_a_pattern_makes_of_the_words_is_foretold(command: str, tmp_path: Path) -> None:
    for folder in ("d", "e"):
        (tmp_path / folder).mkdir()
    for name in ("a", "b", "c", "d/e"):
        (tmp_path / name).write_text("1\n1\n2\n")
    before = _content(tmp_path)
    analysis = analyse(command, cwd=str(tmp_path), home="/h")
    subprocess.run(["bash", "-c", command], cwd=tmp_path, check=False, capture_output=True, stdin=subprocess.DEVNULL)
    after = _content(tmp_path)
    changed = {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
    within = tuple(f"{path}/*" for kind in ("within", "write", "delete") for path in analysis.touched.get(kind, ()))
    named = (*analysis.paths("write"), *analysis.paths("delete"), *analysis.touched.get("into", ()), *within)
    foretold = [os.path.realpath(path) for path in named]
    surprises = [path for path in changed if not any(fnmatchcase(path, pattern) for pattern in foretold)]
    assert analysis.verdict != "understood" or not surprises


def _content(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file() and ".git" not in path.parts)
    return {str(path): path.read_bytes() for path in files}


@pytest.mark.parametrize("command", ["uniq [ab]", "cp *", "mv [ab]", "sort -o [ab]", "find a b -exec uniq {} +"])
def test_a_pattern_that_may_hold_the_output_is_written_whole(command: str) -> None:
    analysis = analyse(command, cwd="/p", home="/h")
    assert analysis.verdict == "understood"
    assert any(pattern in ("/p/[ab]", "/p/*", "/p/b") for pattern in analysis.paths("write"))


def test_names_of_a_loop_are_in_the_places_where_they_stand() -> None:
    analysis = analyse('for f in *.js; do mv -- "$f" "${f%.js}.ts"; cp x "$f"; done', cwd="/p", home="/h")
    assert analysis.paths("delete") == ("/p/*.js",)
