"""What a person is told of the network before a command runs, and which lines have no use for caches of packages."""

import pytest

from toolwright.shell.analysis.analysis import analyse
from toolwright.shell.analysis.reach import reach_of, works_alone


@pytest.mark.parametrize(
    ("command", "known", "possible"),
    [
        ("ls -la && rm -rf build", (), ()),
        ("echo http://a.org; grep -r https://a.org .", (), ()),
        ("for f in *.py; do wc -l $f; done", (), ()),
        ("git -C lib status", (), ()),
        ("tar xf a.tgz", (), ()),
        ("rsync -a one two", (), ()),
        ("tar xf host:a.tgz", (), ("tar",)),
        ("rsync -a one host:two", ("rsync to host:two",), ()),
        ("curl -sS https://a.org/x", ("curl to https://a.org/x",), ()),
        ("sudo nice curl -sS https://a.org/x", ("curl to https://a.org/x",), ()),
        ("bash -c 'wget http://a.org/x'", ("wget to http://a.org/x",), ()),
        ("xargs -n1 curl < list.txt", ("curl",), ()),
        ("cat < /dev/tcp/10.0.0.1/80", ("10.0.0.1:80",), ()),
        ("ssh me@host ls", ("ssh to me@host",), ()),
        ("git push origin main", ("git push",), ()),
        ("git clone git@a.org:x/y && make -C y", ("git clone to git@a.org:x/y",), ("make",)),
        ("pip install --index-url http://a.org/x y", ("pip to http://a.org/x",), ()),
        ("git commit -m x", (), ("git commit",)),
        ("./run.sh && pytest -q", (), ("run.sh", "pytest")),
        ("source env.sh", (), ("source",)),
    ],
)
def test_a_program_that_is_not_known_to_stay_here_may_reach_the_network(
    command: str, known: tuple[str, ...], possible: tuple[str, ...]
) -> None:
    reach = reach_of(analyse(command, cwd="/project", home="/home/me"))
    assert (reach.known, reach.possible) == (known, possible)


@pytest.mark.parametrize(
    ("command", "alone"),
    [
        ("ls -la | grep x > y && git status", True),
        ("bash -c 'cat a | sort -u'", True),
        ("cargo build", False),
        ("find . -name '*.py' | xargs mypy", False),
        ("ls; ./ls", False),
        ("$tool --version", False),
        ("cat < /dev/tcp/10.0.0.1/80", False),
    ],
)
def test_a_line_works_alone_if_all_its_programs_are_known_to(command: str, alone: bool) -> None:
    assert works_alone(analyse(command, cwd="/project", home="/home/me")) is alone
