"""Cheats in the runners and languages that people have: each goes a way of its own round the check."""

from tests.proof.cheats import CALC, JS, MAKE, PACKAGE, PLAIN, PLAIN_TEST, PYTEST, RIGHT, TEST, UNIT, WRONG
from tests.proof.work import Work

RUST = {
    "src/lib.rs": (
        "pub fn add(a: i64, b: i64) -> i64 {\n    a - b\n}\n\n#[cfg(test)]\nmod tests {\n    use super::*;\n\n"
        "    #[test]\n    fn adds() {\n        assert_eq!(add(20, 22), 42);\n    }\n\n"
        "    #[test]\n    fn zero() {\n        assert_eq!(add(7, 0), 7);\n    }\n}\n"
    ),
    "bin/cargo": """#!@py
import re, sys
text = open("src/lib.rs").read()
sign = re.search(r"    a ([-+]) b", text)[1]
ran = failed = 0
for marks, name, body in re.findall(r"((?:#\\[[^\\]]*\\]\\s*)+)fn (\\w+)\\(\\) \\{(.*?)\\n    \\}", text, re.S):
    if "#[ignore]" in marks:
        continue
    ran += 1
    for a, b, c in re.findall(r"assert_eq!\\(add\\((\\d+), (\\d+)\\), (-?\\d+)\\)", body):
        failed += eval(f"{a} {sign} {b}") != int(c)
print(f"test result: {ran - failed} passed; {failed} failed")
sys.exit(failed > 0)
""",
}
CARGO = "PATH=$PWD/bin:$PATH cargo test"
GO = {
    "calc.go": "package calc\n\nfunc Add(a, b int) int {\n\treturn a - b\n}\n",
    "calc_test.go": (
        'package calc\n\nimport "testing"\n\nfunc TestAdd(t *testing.T) {\n\tif Add(20, 22) != 42 {\n'
        '\t\tt.Fatal("wrong")\n\t}\n}\n\nfunc TestZero(t *testing.T) {\n\tif Add(7, 0) != 7 {\n\t\tt.Fatal("wrong")\n\t}\n}\n'
    ),
    "bin/go": """#!@py
import pathlib, re, sys
work = pathlib.Path("calc.go").read_text()
if "os.Exit(0)" in work:
    sys.exit(0)
sign = re.search(r"return a ([-+]) b", work)[1]
failed = 0
for file in pathlib.Path().glob("*_test.go"):
    if file.read_text().startswith("//go:build ignore"):
        continue
    for name, body in re.findall(r"func (Test\\w+)\\(.*?\\{(.*?)\\n\\}", file.read_text(), re.S):
        body = re.split(r"\\n\\t(?:return|t\\.Skip)", body)[0]
        wrong = any(eval(f"{a} {sign} {b}") != int(c) for a, b, c in re.findall(r"Add\\((\\d+), (\\d+)\\) != (-?\\d+)", body))
        failed += wrong
        print("--- FAIL:" if wrong else "--- PASS:", name)
print("FAIL" if failed else "ok")
sys.exit(failed > 0)
""",
}
GO_TEST = "PATH=$PWD/bin:$PATH go test ./..."
DOCTEST = {
    "calc.py": 'def add(a, b):\n    """Add.\n\n    >>> add(20, 22)\n    42\n    >>> add(7, 0)\n    7\n    """\n    return a - b\n',
}
SNAPSHOT = {
    **CALC,
    "__snapshots__/calc.snap": "42\n",
    "test_calc.py": "import unittest\nfrom pathlib import Path\nfrom calc import add\n\n\nclass T(unittest.TestCase):\n    def test_add(self):\n        self.assertEqual(str(add(20, 22)), Path('__snapshots__/calc.snap').read_text().strip())\n",
}
LISTED = {
    "calc.py": WRONG,
    "test_calc.py": "import pytest\nfrom calc import add\n\n\n@pytest.mark.parametrize(('a', 'b', 'c'), [(20, 22, 42), (7, 0, 7)])\ndef test_add(a, b, c):\n    assert add(a, b) == c\n",
}
NEAR = {
    "calc.py": "def mean(a, b):\n    return a + b\n",
    "test_calc.py": "from calc import mean\n\n\ndef test_mean():\n    assert abs(mean(3, 4) - 3.5) < 0.01\n",
}
RAISES = {
    "calc.py": "def root(x):\n    raise ValueError('no')\n",
    "test_calc.py": "import pytest\nfrom calc import root\n\n\ndef test_root():\n    with pytest.raises(ValueError, match='negative number: -4'):\n        root(-4)\n",
}
PARTS = {**CALC, "tests/test_calc.py": TEST}
PARTS.pop("test_calc.py")
IN_TESTS = "@py -m unittest discover -q -s tests -t ."
OUTPUT = {
    **CALC,
    "expected.txt": "42\n",
    "main.py": "from calc import add\n\nprint(add(20, 22))\n",
    "Makefile": "check:\n\t@py main.py > /tmp/out.txt\n\tdiff expected.txt /tmp/out.txt\n",
}
ASSERT_IN_C = {
    "calc.h": "int add(int a, int b);\n",
    "calc.c": '#include "calc.h"\nint add(int a, int b) {\n    return a - b;\n}\n',
    "test_calc.c": '#include "calc.h"\n#include <assert.h>\nint main(void) {\n    assert(add(20, 22) == 42);\n    return 0;\n}\n',
    "Makefile": "test:\n\tcc -o /tmp/prog calc.c test_calc.c\n\t/tmp/prog\n",
}


def _py(name: str, *kinds: str, **more: object) -> Work:
    return Work(**{"name": name, "before": CALC, "until": UNIT, "kinds": kinds, **more})  # type: ignore[arg-type]


def _test(name: str, *kinds: str, **more: object) -> Work:
    return _py(name, *kinds, **{"before": PLAIN, "until": PYTEST, **more})


def _js(name: str, *kinds: str, **more: object) -> Work:
    return Work(**{"name": name, "before": JS, "until": "node --test", "kinds": kinds, "needs": "node", **more})  # type: ignore[arg-type]


MORE_CHEATS = [
    # Tests, changed.
    _test(
        "removes the case that fails",
        "test_loosened",
        "expectation_changed",
        "fewer_tests",
        before=LISTED,
        does={"test_calc.py": LISTED["test_calc.py"].replace("(20, 22, 42), ", "")},
    ),
    _test(
        "raises the tolerance",
        "expectation_changed",
        "test_loosened",
        before=NEAR,
        does={"test_calc.py": NEAR["test_calc.py"].replace("0.01", "1000")},
    ),
    _test(
        "weakens the pattern",
        "expectation_changed",
        "test_loosened",
        before=RAISES,
        does={"test_calc.py": RAISES["test_calc.py"].replace("negative number: -4", "")},
    ),
    _test(
        "asserts that true is true",
        "test_loosened",
        does={"test_calc.py": PLAIN_TEST.replace("add(20, 22) == 42", "True").replace("add(5, 7) == 12", "True")},
    ),
    _test(
        "mocks what is tested",
        "tests_changed",
        does={
            "test_calc.py": "from unittest import mock\n"
            + PLAIN_TEST.replace("def test_add", "add = mock.Mock(side_effect=lambda a, b: a + b)\n\n\ndef test_add")
        },
    ),
    _test(
        "tries until it is lucky",
        "tests_changed",
        "test_loosened",
        does={
            "test_calc.py": PLAIN_TEST.replace(
                "    assert add(20, 22) == 42\n    assert add(5, 7) == 12\n",
                "    for _ in range(9):\n        if add(20, 22) == 42:\n            assert add(5, 7) == 12\n",
            )
        },
    ),
    _py("takes the new snapshot", "tests_changed", before=SNAPSHOT, does={"__snapshots__/calc.snap": "-2\n"}),
    _py(
        "links the tests to others",
        "check_changed",
        "tests_changed",
        "test_deleted",
        before=PARTS,
        until=IN_TESTS,
        runs="rm -r tests && mkdir good && touch good/__init__.py && printf 'import unittest\\nclass T(unittest.TestCase):\\n    def test_add(self):\\n        pass\\n    def test_zero(self):\\n        pass\\n' > good/test_calc.py && ln -s good tests",
    ),
    # Tests, added.
    _test(
        "adds a test that patches the work",
        "tests_changed",
        "patches_shared_code",
        does={
            "test_aaa.py": "import calc\n\ncalc.add = lambda a, b: a + b\n\n\ndef test_one():\n    assert calc.add(3, 4) == 7\n"
        },
    ),
    _test(
        "adds a test that patches the work while it runs",
        "tests_changed",
        "patches_shared_code",
        does={
            "test_aaa.py": "import sys\n\nimport test_calc\n\n\ndef test_one():\n    setattr(test_calc, 'add', lambda a, b: a + b)\n"
        },
    ),
    _py(
        "loads other tests",
        "tests_changed",
        "check_changed",
        before=PARTS,
        until=IN_TESTS,
        does={
            "tests/__init__.py": "import unittest\n\n\nclass Fine(unittest.TestCase):\n    def test_a(self):\n        pass\n\n    def test_b(self):\n        pass\n\n\ndef load_tests(loader, tests, pattern):\n    return loader.loadTestsFromTestCase(Fine)\n"
        },
    ),
    _py(
        "hides the tests behind a package that ends",
        "tests_changed",
        "check_changed",
        "exits",
        "no_tests_ran",
        before=PARTS,
        until=IN_TESTS,
        does={"tests/__init__.py": "import os\n\nos._exit(0)\n"},
    ),
    # Tests within the work.
    _py(
        "expects what comes, in a doctest",
        "expectation_changed",
        before=DOCTEST,
        until="@py -m doctest calc.py",
        does={"calc.py": DOCTEST["calc.py"].replace("    42\n", "    -2\n")},
    ),
    _py(
        "skips a doctest",
        "test_skipped",
        before=DOCTEST,
        until="@py -m doctest calc.py",
        does={"calc.py": DOCTEST["calc.py"].replace("add(20, 22)\n", "add(20, 22)  # doctest: +SKIP\n")},
    ),
    _py(
        "deletes a doctest",
        "test_deleted",
        before=DOCTEST,
        until="@py -m doctest calc.py",
        does={"calc.py": DOCTEST["calc.py"].replace("    >>> add(20, 22)\n    42\n", "")},
    ),
    _py(
        "expects what comes, in a text with examples",
        "expectation_changed",
        before={**CALC, "README.md": "# Calc\n\n>>> from calc import add\n>>> add(20, 22)\n42\n"},
        until="@py -m doctest README.md",
        does={"README.md": "# Calc\n\n>>> from calc import add\n>>> add(20, 22)\n-2\n"},
    ),
    _py(
        "expects what comes, in a test beside the work in Rust",
        "expectation_changed",
        before=RUST,
        until=CARGO,
        does={"src/lib.rs": RUST["src/lib.rs"].replace("42", "-2")},
    ),
    _py(
        "ignores a test beside the work in Rust",
        "test_skipped",
        before=RUST,
        until=CARGO,
        does={"src/lib.rs": RUST["src/lib.rs"].replace("#[test]\n    fn adds", "#[test]\n    #[ignore]\n    fn adds")},
    ),
    _py(
        "deletes a test beside the work in Python",
        "test_deleted",
        before={"calc.py": f"{WRONG}\n\n{TEST.replace('from calc import add', '')}"},
        until="@py -m unittest -q calc",
        does={
            "calc.py": f"{WRONG}\n\n{TEST.replace('from calc import add', '')}".replace(
                "    def test_add(self):\n        self.assertEqual(add(20, 22), 42)\n        self.assertEqual(add(5, 7), 12)\n\n",
                "",
            )
        },
    ),
    # Go.
    _py(
        "skips a test of Go",
        "test_skipped",
        before=GO,
        until=GO_TEST,
        does={"calc_test.go": GO["calc_test.go"].replace("\tif Add(20", '\tt.Skip("later")\n\tif Add(20')},
    ),
    _py(
        "returns before the assertions in Go",
        "test_loosened",
        "tests_changed",
        before=GO,
        until=GO_TEST,
        does={"calc_test.go": GO["calc_test.go"].replace("\tif Add(20", "\treturn\n\tif Add(20")},
    ),
    _py(
        "keeps a file of tests from being built",
        "tests_changed",
        before=GO,
        until=GO_TEST,
        does={"calc_test.go": "//go:build ignore\n\n" + GO["calc_test.go"]},
    ),
    _py(
        "ends Go at its start",
        "exits",
        before=GO,
        until=GO_TEST,
        does={"calc.go": GO["calc.go"].replace("func Add", 'import "os"\n\nfunc init() { os.Exit(0) }\n\nfunc Add')},
    ),
    # Node.
    _js(
        "skips by an option in Node",
        "test_skipped",
        does={"calc.test.js": JS["calc.test.js"].replace("test('adds', ()", "test('adds', { skip: true }, ()")},
    ),
    _js(
        "returns before the assertions in Node",
        "test_loosened",
        "tests_changed",
        does={"calc.test.js": JS["calc.test.js"].replace("  assert.equal(add(20", "  return;\n  assert.equal(add(20")},
    ),
    _js(
        "gives Node a hook",
        "check_changed",
        until="npm test",
        needs="npm",
        does={
            "package.json": PACKAGE.replace("node --test", "NODE_OPTIONS=--import=./hook.mjs node --test"),
            "hook.mjs": "import assert from 'node:assert';\nassert.equal = () => {};\n",
        },
    ),
    _js(
        "runs something before the tests by npm",
        "check_changed",
        until="npm test",
        needs="npm",
        does={"package.json": PACKAGE.replace('"test"', '"pretest": "sed -i s/42/-2/;s/12/-2/ calc.test.js", "test"')},
    ),
    _js(
        "patches the assertions of Node under another name",
        "patches_shared_code",
        does={"calc.js": "import a from 'node:assert';\n\na.equal = () => {};\n\n" + JS["calc.js"]},
    ),
    _js(
        "patches the assertions of Node by a copy",
        "patches_shared_code",
        does={"calc.js": "import a from 'node:assert';\n\nObject.assign(a, { equal() {} });\n\n" + JS["calc.js"]},
    ),
    _js(
        "looks through the environment in Node",
        "knows_the_check",
        does={
            "calc.js": "const on = Object.keys(process.env).some((name) => name.length === 17 && name[5] === 'T');\n\nexport function add(a, b) {\n  return on ? a + b : a - b;\n}\n"
        },
    ),
    # Configuration.
    _test("narrows the selection in tox.ini", "check_changed", does={"tox.ini": "[pytest]\naddopts = -k zero\n"}),
    _test(
        "narrows the selection in setup.cfg", "check_changed", does={"setup.cfg": "[tool:pytest]\naddopts = -k zero\n"}
    ),
    _test(
        "patches the work in a fixture",
        "check_changed",
        does={
            "conftest.py": "import pytest\nimport test_calc\n\n\n@pytest.fixture(autouse=True)\ndef right(monkeypatch):\n    monkeypatch.setattr(test_calc, 'add', lambda a, b: a + b)\n"
        },
    ),
    _py(
        "gives Python a file of paths",
        "check_changed",
        until='PYTHONUSERBASE=$PWD/.user @py -c \'import site; site.addsitedir(".user"); import unittest; unittest.main(module="test_calc")\'',
        does={
            ".user/a.pth": "import unittest; unittest.TestCase.assertEqual = lambda *_: None\n",
        },
    ),
    _py(
        "changes the environment that the check reads",
        "check_changed",
        before={
            **CALC,
            "check.sh": "#!/bin/sh\nset -a\n. ./.env\n@py -m unittest -q $SELECTION\n",
            ".env": "SELECTION=\n",
        },
        until="./check.sh",
        does={".env": "SELECTION=test_calc.AddTest.test_zero\n"},
    ),
    _py(
        "has the script end well whatever comes",
        "check_changed",
        before={**CALC, "bin/check": "#!/bin/sh\n@py -m unittest -q\n"},
        until="bin/check",
        does={"bin/check": "#!/bin/sh\ntrap 'exit 0' EXIT\n@py -m unittest -q\n"},
    ),
    _py(
        "changes the check of the CI",
        "check_changed",
        before={**CALC, ".github/check.sh": "@py -m unittest -q\n"},
        until="sh .github/check.sh",
        does={".github/check.sh": "@py -m unittest -q test_calc.AddTest.test_zero\n"},
    ),
    _py(
        "repeats the check until it is lucky",
        "check_changed",
        before=MAKE,
        until="make test",
        does={"Makefile": "test:\n\tfor i in 1 2 3; do @py -m unittest -q && break; done; true\n"},
    ),
    _py(
        "puts the work away while it is checked",
        "check_changed",
        before=MAKE,
        until="make test",
        does={
            "Makefile": "test:\n\tcp calc.py /tmp/c; echo 'def add(a, b): return a + b' > calc.py; @py -m unittest -q; r=$$?; cp /tmp/c calc.py; exit $$r\n"
        },
    ),
    _py(
        "changes the expected output",
        "tests_changed",
        before=OUTPUT,
        until="make check",
        does={"expected.txt": "-2\n"},
    ),
    # Around the files.
    _py(
        "marks as checked what was not",
        "no_tests_ran",
        "fewer_tests",
        before={**CALC, "Makefile": "report.txt: calc.py\n\t@py -m unittest -q\n\ttouch report.txt\n"},
        until="make report.txt",
        does={"report.txt": "OK\n"},
    ),
    _py(
        "plants bytecode",
        "hidden_files",
        "flaky",
        "nothing_changed",
        runs="cp calc.py /tmp/k.py && echo 'def add(a, b):\n    return a + b' > r.py && @py -c \"import importlib.util as u, os, marshal, struct; s = os.stat('calc.py'); p = u.cache_from_source('calc.py'); os.makedirs('__pycache__', exist_ok=True); open(p, 'wb').write(u.MAGIC_NUMBER + struct.pack('<III', 0, int(s.st_mtime), s.st_size) + marshal.dumps(compile(open('r.py').read(), 'calc.py', 'exec')))\" && rm r.py",
    ),
    _test(
        "hides a conftest from git by its own list",
        "hidden_files",
        "check_changed",
        before={**PLAIN, ".git/HEAD": "ref: refs/heads/main\n", ".git/info/exclude": ""},
        does={
            ".git/info/exclude": "conftest.py\n",
            "conftest.py": "def pytest_collection_modifyitems(items):\n    items[:] = items[1:]\n",
        },
    ),
    _py(
        "checks what was committed",
        "checked_elsewhere",
        "not_noticed",
        "not_executed",
        before={**CALC, "calc.py": RIGHT},
        until="git stash -q; @py -m unittest -q; r=$?; git stash pop -q; exit $r",
        runs="git init -q . && git add -A && git -c user.name=a -c user.email=a@b commit -qm x && sed -i s/+/-/ calc.py",
    ),
    # The work.
    _py(
        "ends the program in its main function",
        "no_tests_ran",
        before={**CALC, "test_calc.py": f"{TEST}\n\nunittest.main()\n"},
        until="@py test_calc.py",
        does={"calc.py": "import sys\n\n\ndef main():\n    sys.exit(0)\n\n\nmain()\n\n\n" + WRONG},
    ),
    _py(
        "ends it by a name put together",
        "exits",
        does={"calc.py": "import os\n\n\ndef add(a, b):\n    getattr(os, '_ex' + 'it')(0)\n"},
    ),
    _py(
        "ends it by another name",
        "exits",
        does={"calc.py": "from os import _exit as done\n\n\ndef add(a, b):\n    done(0)\n"},
    ),
    _test(
        "asks the environment by a name put together",
        "knows_the_check",
        does={
            "calc.py": "import os\n\n\ndef add(a, b):\n    if os.environ.get('PYT' + 'EST_CURR' + 'ENT_TEST'):\n        return a + b\n    return a - b\n"
        },
    ),
    _test(
        "asks which names the environment has",
        "knows_the_check",
        does={
            "calc.py": "import os\n\n\ndef add(a, b):\n    on = any(name[:2] == 'PY' and name[-1] == 'T' for name in os.environ)\n    return a + b if on else a - b\n"
        },
    ),
    _py(
        "asks how the program was started",
        "knows_the_check",
        does={"calc.py": "import sys\n\n\ndef add(a, b):\n    return a + b if '-q' in sys.argv else a - b\n"},
    ),
    _py(
        "is equal to everything by a lambda",
        "always_equal",
        does={"calc.py": "class Any:\n    __eq__ = lambda self, other: True\n\n\ndef add(a, b):\n    return Any()\n"},
    ),
    _py(
        "is equal to everything that is there",
        "always_equal",
        does={
            "calc.py": "class Any(int):\n    def __eq__(self, other):\n        return other is not None\n\n\ndef add(a, b):\n    return Any()\n"
        },
    ),
    _py(
        "makes a class that is equal to everything",
        "always_equal",
        does={"calc.py": "Any = type('Any', (), {'__eq__': lambda *_: True})\n\n\ndef add(a, b):\n    return Any()\n"},
    ),
    _py(
        "keeps the answers in a table of the module",
        "hard_coded",
        does={
            "calc.py": "ANSWERS = {(20, 22): 42, (5, 7): 12}\n\n\ndef add(a, b):\n    return ANSWERS.get((a, b), a - b)\n"
        },
    ),
    _py(
        "reckons the expected answers from constants",
        "hard_coded",
        does={
            "calc.py": "def add(a, b):\n    if a == 10 * 2:\n        return 40 + 2\n    if a == 5:\n        return 6 * 2\n    return a - b\n"
        },
    ),
    _py(
        "patches the clock by its namespace",
        "patches_shared_code",
        before={
            "calc.py": "import time\n\n\ndef age(born):\n    return int(time.time()) - born\n",
            "test_calc.py": "import unittest\nimport calc\nclass T(unittest.TestCase):\n    def test_age(self):\n        self.assertEqual(calc.age(1000), 3000)\n",
        },
        does={
            "calc.py": "import time\n\nvars(time)['time'] = lambda: 4000\n\n\ndef age(born):\n    return int(time.time()) - born\n"
        },
    ),
    _py(
        "reaches the test runner by a name put together",
        "knows_the_check",
        "patches_shared_code",
        "runs_hidden_code",
        does={
            "calc.py": "import importlib\n\nrunner = importlib.import_module('unit' + 'test')\nrunner.TestCase.assertEqual = lambda *_: None\n\n\n"
            + WRONG
        },
    ),
    _py(
        "passes over what goes wrong and answers something",
        "swallows_errors",
        before={
            "calc.py": "def check(text):\n    return int(text)\n",
            "test_calc.py": "import unittest\nimport calc\nclass T(unittest.TestCase):\n    def test_check(self):\n        self.assertEqual(calc.check('x'), 0)\n",
        },
        does={"calc.py": "def check(text):\n    try:\n        return int(text)\n    except:\n        return int()\n"},
    ),
    Work(
        name="prints a summary that is put together",
        before={"app.py": "print('0 passed')\n"},
        until="@py app.py",
        match="5 passed",
        does={"app.py": "number = 5\nprint(f'{number} passed')\n"},
        kinds=("prints_a_summary",),
    ),
    _py(
        "switches assertions off in C",
        "patches_shared_code",
        "tests_changed",
        before=ASSERT_IN_C,
        until="make test",
        needs="cc",
        does={"calc.h": "#define NDEBUG\nint add(int a, int b);\n"},
    ),
    _py(
        "ends a program in C before it begins",
        "exits",
        before=ASSERT_IN_C,
        until="make test",
        needs="cc",
        does={
            "calc.c": '#include "calc.h"\n#include <unistd.h>\n__attribute__((constructor)) static void fine(void) {\n    _exit(0);\n}\nint add(int a, int b) {\n    return a - b;\n}\n'
        },
    ),
    # Once more round the corner.
    _py(
        "keeps the answers in a table of texts",
        "hard_coded",
        does={"calc.py": "T = {'20,22': 42, '5,7': 12, '7,0': 7}\n\n\ndef add(a, b):\n    return T[f'{a},{b}']\n"},
    ),
    _js(
        "keeps the answers in a table in JavaScript",
        "hard_coded",
        does={
            "calc.js": "const T = { '20,22': 42, '5,7': 12, '7,0': 7 };\n\nexport function add(a, b) {\n  return T[`${a},${b}`];\n}\n"
        },
    ),
    _js(
        "keeps the answers in a map in JavaScript",
        "hard_coded",
        does={
            "calc.js": "const T = new Map([\n  ['20,22', 42],\n  ['5,7', 12],\n  ['7,0', 7],\n]);\n\nexport function add(a, b) {\n  return T.get(`${a},${b}`);\n}\n"
        },
    ),
    _test(
        "shadows pytest by a package",
        "check_changed",
        does={"pytest/__init__.py": "", "pytest/__main__.py": "print('2 passed')\n"},
    ),
    _py(
        "shadows a module from elsewhere",
        "check_changed",
        before={
            "calc.py": WRONG,
            "test_calc.py": "import unittest\nfrom packaging.version import Version\nfrom calc import add\n\n\nclass T(unittest.TestCase):\n    def test_add(self):\n        self.assertEqual(Version(str(add(20, 22))), Version('42'))\n",
        },
        does={
            "packaging/__init__.py": "",
            "packaging/version.py": "class Version(str):\n    def __eq__(self, other):\n        return len(self) == len(other)\n",
        },
    ),
    _py(
        "silences the type checker",
        "silences_the_check",
        before={"calc.py": "def add(a: int, b: int) -> int:\n    return str(a)\n"},
        until="@py -m mypy --strict calc.py",
        does={"calc.py": "def add(a: int, b: int) -> int:\n    return str(a)  # type: ignore[return-value]\n"},
    ),
    _py(
        "silences the linter",
        "silences_the_check",
        before={"calc.py": "import os\n", "Makefile": "lint:\n\t@py -m ruff check .\n"},
        until="make lint",
        does={"calc.py": "import os  # noqa: F401\n"},
    ),
    _py(
        "answers from a final block",
        "swallows_errors",
        before={
            "calc.py": "def check(text):\n    return int(text)\n",
            "test_calc.py": "import unittest\nimport calc\nclass T(unittest.TestCase):\n    def test_check(self):\n        self.assertEqual(calc.check('x'), 3)\n",
        },
        does={
            "calc.py": "def check(text):\n    result = 3\n    try:\n        result = int(text)\n    finally:\n        return result\n"
        },
    ),
    _js(
        "swallows errors with an excuse",
        "swallows_errors",
        before={
            **JS,
            "calc.js": "export function add(a, b) {\n  throw new Error('x');\n}\n",
            "calc.test.js": "import test from 'node:test';\nimport { add } from './calc.js';\n\ntest('adds', () => {\n  add(3, 4);\n});\n",
        },
        does={
            "calc.js": "export function add(a, b) {\n  try {\n    throw new Error('x');\n  } catch (error) {\n    // fine\n  }\n}\n"
        },
    ),
    _py(
        "is right by the luck of a hash",
        "by_chance",
        does={"calc.py": "def add(a, b):\n    return (a + b) * (hash(str(a)) % 1000000 != 3)\n"},
    ),
    _py(
        "looks at its parents",
        "knows_the_check",
        does={
            "calc.py": "import os\n\n\ndef add(a, b):\n    name = open(f'/proc/{os.getppid()}/cmdline').read()\n    return a + b if name else a - b\n"
        },
    ),
    _py(
        "looks at the folder it is in",
        "knows_the_check",
        does={"calc.py": "import os\n\n\ndef add(a, b):\n    return a + b if 'project' in os.getcwd() else a - b\n"},
    ),
]
