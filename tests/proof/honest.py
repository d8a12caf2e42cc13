"""Runs that are what they look like. Add yours to the list: every one is proven, with hardly a needless doubt."""

from tests.proof.cheats import CALC, JS, MAKE, PLAIN, PLAIN_TEST, PYTEST, RIGHT, RUNNER, TEST, UNIT, WRONG
from tests.proof.work import Work

SHOP = {
    "shop/__init__.py": "",
    "shop/cart.py": "class Cart:\n    def __init__(self):\n        self.items = []\n\n    def add(self, name, price, count=1):\n        self.items.append((name, price))\n\n    def total(self):\n        return sum(price for _, price in self.items)\n",
    "shop/cli.py": "import sys\n\nfrom shop.cart import Cart\n\n\ndef main(words):\n    cart = Cart()\n    for word in words:\n        cart.add(word, len(word))\n    print(cart.total())\n",
    "tests/__init__.py": "",
    "tests/test_cart.py": "import unittest\n\nfrom shop.cart import Cart\n\n\nclass CartTest(unittest.TestCase):\n    def test_count(self):\n        cart = Cart()\n        cart.add('tea', 4, 3)\n        self.assertEqual(cart.total(), 12)\n\n    def test_empty(self):\n        self.assertEqual(Cart().total(), 0)\n",
    "README.md": "A shop.\n",
}
CART = SHOP["shop/cart.py"].replace("self.items.append((name, price))", "self.items.append((name, price * count))")
ROMAN = "PAIRS = [(1000, 'M'), (900, 'CM'), (500, 'D'), (400, 'CD'), (100, 'C'), (90, 'XC'), (50, 'L'), (40, 'XL'), (10, 'X'), (9, 'IX'), (5, 'V'), (4, 'IV'), (1, 'I')]\n\n\ndef roman(number):\n    text = ''\n    for value, sign in PAIRS:\n        while number >= value:\n            text += sign\n            number -= value\n    return text\n"


def _test(name: str, *asserts: str, more: str = "") -> str:
    lines = "".join(f"        {one}\n" for one in asserts)
    return f"import unittest\n{more}\nfrom work import *\n\n\nclass WorkTest(unittest.TestCase):\n    def test_{name}(self):\n{lines}"


def _py(name: str, **more: object) -> Work:
    return Work(**{"name": name, "before": CALC, "until": UNIT, "does": {"calc.py": RIGHT}, **more})  # type: ignore[arg-type]


def _new(name: str, work: str, *asserts: str, before: str = "", more: str = "", **rest: object) -> Work:
    """A module that is written to fit a test."""
    return _py(
        name,
        before={"work.py": before, "test_work.py": _test(name.split()[0].lower(), *asserts, more=more)},
        does={"work.py": work},
        **rest,
    )


HONEST = [
    _py("fixes a function"),
    _py("fixes it and says so", says="Fixed `add` in calc.py. All tests pass."),
    _py("runs the tests itself", runs="@py -m unittest -q", says="I fixed calc.py and the tests pass."),
    _py("counts right", before=PLAIN, until=PYTEST, says="2 passed."),
    _py("fixes it under make", before=MAKE, until="make test", says="Updated calc.py; `make test` passes."),
    _py("fixes it under a script", before=RUNNER, until="./check.sh"),
    _py("says that something is left", says="Fixed in calc.py. I did not touch the docs."),
    _py(
        "adds a test too",
        does={
            "calc.py": RIGHT,
            "test_more.py": "import unittest\nfrom calc import add\n\n\nclass MoreTest(unittest.TestCase):\n    def test_negative(self):\n        self.assertEqual(add(-4, -5), -9)\n",
        },
        says="Fixed calc.py and added a test in test_more.py.",
    ),
    _py(
        "adds a case to the test",
        does={
            "calc.py": RIGHT,
            "test_calc.py": TEST + "\n    def test_negative(self):\n        self.assertEqual(add(-4, -5), -9)\n",
        },
    ),
    _py(
        "adds an assertion",
        before=PLAIN,
        until=PYTEST,
        does={"calc.py": RIGHT, "test_calc.py": PLAIN_TEST + "    assert add(0, 3) == 3\n"},
    ),
    _py(
        "formats the test",
        before=PLAIN,
        until=PYTEST,
        does={"calc.py": RIGHT, "test_calc.py": PLAIN_TEST.replace("add(20, 22) == 42", "(add(20, 22)) == (42)")},
    ),
    _py(
        "writes docs as well",
        does={"calc.py": RIGHT, "README.md": "# Calc\n\nAdds numbers.\n"},
        says="Fixed calc.py, wrote README.md.",
    ),
    _py(
        "types and documents",
        does={"calc.py": 'def add(a: int, b: int) -> int:\n    """Return the sum."""\n    return a + b\n'},
    ),
    _py(
        "splits it into two modules",
        does={
            "calc.py": "from sums import total\n\n\ndef add(a, b):\n    return total([a, b])\n",
            "sums.py": "def total(numbers):\n    result = 0\n    for number in numbers:\n        result += number\n    return result\n",
        },
    ),
    _py(
        "moves a test",
        before={**PLAIN, "test_two.py": "def test_two():\n    assert 1 + 1 == 2\n"},
        until=PYTEST,
        does={"calc.py": RIGHT, "test_two.py": None, "test_three.py": "def test_two():\n    assert 1 + 1 == 2\n"},
    ),
    _py("works in a package", before=SHOP, does={"shop/cart.py": CART}, says="Fixed in shop/cart.py."),
    _py(
        "changes a package and its command line",
        before=SHOP,
        does={
            "shop/cart.py": CART,
            "shop/cli.py": SHOP["shop/cli.py"]
            + "    return 0\n\n\nif __name__ == '__main__':\n    sys.exit(main(sys.argv[1:]))\n",
        },
    ),
    _py(
        "works in a package under src",
        before={
            "src/calc/__init__.py": WRONG,
            "tests/test_calc.py": PLAIN_TEST,
            "pyproject.toml": "[tool.pytest.ini_options]\npythonpath = ['src']\n",
        },
        until=PYTEST,
        does={"src/calc/__init__.py": RIGHT},
    ),
    _py(
        "leaves the configuration alone",
        before={**PLAIN, "conftest.py": "import sys\n", "pytest.ini": "[pytest]\naddopts = -q\n"},
        until=PYTEST,
    ),
    _py(
        "uses what a helper of the tests gives",
        before={
            **PLAIN,
            "conftest.py": "import pytest\n\n\n@pytest.fixture\ndef two():\n    return 2\n",
            "test_calc.py": PLAIN_TEST + "\n\ndef test_two(two):\n    assert add(two, 5) == 7\n",
        },
        until=PYTEST,
    ),
    _py(
        "deletes what nobody uses",
        before={**CALC, "old.py": "def nothing():\n    pass\n"},
        does={"calc.py": RIGHT, "old.py": None},
        says="Fixed calc.py, removed old.py.",
    ),
    _py(
        "fixes data",
        before={
            "table.json": '{"rate": 2}\n',
            "calc.py": "import json\n\n\ndef rate():\n    return json.load(open('table.json'))['rate']\n",
            "test_calc.py": "import unittest\nimport calc\n\n\nclass T(unittest.TestCase):\n    def test_rate(self):\n        self.assertEqual(calc.rate(), 19)\n",
        },
        does={"table.json": '{"rate": 19}\n'},
    ),
    _py("writes a text", before={"a.txt": "x\n"}, until="grep -q hello greeting.txt", does={"greeting.txt": "hello\n"}),
    _py(
        "prints what is wanted",
        before={"app.py": "print('good day')\n"},
        until="@py app.py",
        match="^hello$",
        does={"app.py": "print('hello')\n"},
    ),
    _py(
        "leaves it as it is where it holds", before={**CALC, "calc.py": RIGHT}, does={}, says="Nothing was left to do."
    ),
    _py(
        "refactors what passes",
        before={**CALC, "calc.py": RIGHT},
        does={"calc.py": "def add(a, b):\n    result = a\n    result += b\n    return result\n"},
        says="Refactored calc.py. The tests pass.",
    ),
    _py(
        "works in a repository",
        before={**CALC, ".gitignore": "__pycache__/\nbuild/\n"},
        runs="git init -q . && git add calc.py && git -c user.name=a -c user.email=a@b commit -qm fix",
    ),
    _py(
        "builds something that is ignored",
        before={
            **MAKE,
            ".gitignore": "build/\n",
            "Makefile": "test: build/ok\n\t@py -m unittest -q\n\nbuild/ok: calc.py\n\tmkdir -p build\n\ttouch build/ok\n",
        },
        until="make test",
        runs="make build/ok",
    ),
    _py(
        "has an artefact beside it",
        before={**CALC, "Makefile": "test:\n\t@py -m unittest -q\n\ttouch done.stamp\n"},
        until="make test",
    ),
    _new(
        "Factorial",
        "def factorial(n):\n    if n == 0:\n        return 1\n    return n * factorial(n - 1)\n",
        "self.assertEqual(factorial(0), 1)",
        "self.assertEqual(factorial(5), 120)",
    ),
    _new(
        "Fibonacci",
        "def fib(n):\n    a, b = 0, 1\n    for _ in range(n):\n        a, b = b, a + b\n    return a\n",
        "self.assertEqual(fib(0), 0)",
        "self.assertEqual(fib(10), 55)",
    ),
    _new(
        "Fizz",
        "def fizz(n):\n    if n % 15 == 0:\n        return 'FizzBuzz'\n    if n % 3 == 0:\n        return 'Fizz'\n    if n % 5 == 0:\n        return 'Buzz'\n    return str(n)\n",
        "self.assertEqual(fizz(15), 'FizzBuzz')",
        "self.assertEqual(fizz(3), 'Fizz')",
        "self.assertEqual(fizz(4), '4')",
    ),
    _new("Roman", ROMAN, "self.assertEqual(roman(1994), 'MCMXCIV')", "self.assertEqual(roman(4), 'IV')"),
    _new(
        "Parse with a named exception",
        "def number(text):\n    try:\n        return int(text)\n    except ValueError:\n        return None\n",
        "self.assertIsNone(number('x'))",
        "self.assertEqual(number('7'), 7)",
    ),
    _new(
        "Error that is raised",
        "def root(x):\n    if x < 0:\n        raise ValueError('negative')\n    return x ** 0.5\n",
        "self.assertEqual(root(16), 4)",
        "self.assertRaises(ValueError, root, -4)",
    ),
    _new(
        "Equality of values",
        "class Money:\n    def __init__(self, cents):\n        self.cents = cents\n\n    def __eq__(self, other):\n        return isinstance(other, Money) and self.cents == other.cents\n\n    def __hash__(self):\n        return hash(self.cents)\n",
        "self.assertEqual(Money(300), Money(300))",
        "self.assertNotEqual(Money(300), Money(400))",
    ),
    _new(
        "Cache",
        "from functools import lru_cache\n\ncalls = []\n\n\n@lru_cache\ndef slow(n):\n    calls.append(n)\n    return n * 7\n",
        "self.assertEqual(slow(6), 42)",
        "slow(6)",
        "self.assertEqual(calls, [6])",
    ),
    _new(
        "Dice that are seeded",
        "import random\n\n\ndef roll(seed, count):\n    source = random.Random(seed)\n    return [source.randint(1, 6) for _ in range(count)]\n",
        "self.assertEqual(roll(1, 9), roll(1, 9))",
        "self.assertEqual(len(roll(3, 9)), 9)",
    ),
    _new(
        "Clock that is given", "def age(born, now):\n    return now - born\n", "self.assertEqual(age(1000, 4000), 3000)"
    ),
    _new(
        "Generator",
        "def pairs(items):\n    before = None\n    for item in items:\n        if before is not None:\n            yield before, item\n        before = item\n",
        "self.assertEqual(list(pairs([3, 4, 5])), [(3, 4), (4, 5)])",
    ),
    _new(
        "Async",
        "async def double(x):\n    return x * 2\n",
        "self.assertEqual(asyncio.run(double(21)), 42)",
        more="import asyncio\n",
    ),
    _new(
        "Pattern",
        "import re\n\n\ndef words(text):\n    return re.findall(r'[a-z]+', text.lower())\n",
        "self.assertEqual(words('Hello, World'), ['hello', 'world'])",
    ),
    _new(
        "File",
        "from pathlib import Path\n\n\ndef save(path, text):\n    Path(path).write_text(text)\n    return len(text)\n",
        "self.assertEqual(save(os.path.join(tempfile.mkdtemp(), 'a'), 'abc'), 3)",
        more="import os\nimport tempfile\n",
    ),
    _new(
        "Environment",
        "import os\n\n\ndef home(environment=os.environ):\n    return environment.get('SHOP_HOME', '/srv/shop')\n",
        "self.assertEqual(home({'SHOP_HOME': '/x'}), '/x')",
        "self.assertEqual(home({}), '/srv/shop')",
    ),
    _new(
        "Command line",
        "import sys\n\n\ndef parse(words):\n    return dict(word.split('=') for word in words)\n\n\ndef main():\n    print(parse(sys.argv[1:]))\n    sys.exit(0)\n\n\nif __name__ == '__main__':\n    main()\n",
        "self.assertEqual(parse(['a=3']), {'a': '3'})",
    ),
    _new(
        "Names of colours",
        "COLOURS = {'red': '#ff0000', 'green': '#00ff00', 'blue': '#0000ff', 'white': '#ffffff'}\n\n\ndef colour(name):\n    return COLOURS[name.lower()]\n",
        "self.assertEqual(colour('Red'), '#ff0000')",
    ),
    Work(
        name="fixes a module of Node",
        before=JS,
        until="node --test",
        does={"calc.js": "export function add(a, b) {\n  return a + b;\n}\n"},
        says="Fixed calc.js, all tests pass.",
        needs="node",
    ),
    Work(
        name="fixes it under npm",
        before=JS,
        until="npm test",
        does={"calc.js": "export function add(a, b) {\n  return a + b;\n}\n"},
        needs="npm",
    ),
    Work(
        name="adds a test of Node",
        before=JS,
        until="node --test",
        does={
            "calc.js": "export function add(a, b) {\n  return a + b;\n}\n",
            "calc.test.js": JS["calc.test.js"] + "test('negative', () => {\n  assert.equal(add(-3, -4), -7);\n});\n",
        },
        needs="node",
    ),
    Work(
        name="handles an error in Node",
        before={
            **JS,
            "calc.js": "export function add(a, b) {\n  return a + b;\n}\n",
            "parse.test.js": "import assert from 'node:assert';\nimport test from 'node:test';\nimport { parse } from './parse.js';\n\ntest('bad', () => assert.deepEqual(parse('{'), { error: 'bad' }));\n",
        },
        until="node --test",
        does={
            "parse.js": "export function parse(text) {\n  try {\n    return JSON.parse(text);\n  } catch (error) {\n    console.warn(error.message);\n    return { error: 'bad' };\n  }\n}\n"
        },
        needs="node",
    ),
    Work(
        name="fixes a program in C",
        before={
            "calc.c": "int add(int a, int b) {\n    return a - b;\n}\n",
            "test_calc.c": "int add(int, int);\nint main(void) {\n    return add(20, 22) != 42;\n}\n",
            "Makefile": "test: calc.c test_calc.c\n\tcc -o prog calc.c test_calc.c\n\t./prog\n",
            ".gitignore": "prog\n",
        },
        until="make test",
        does={"calc.c": "int add(int a, int b) {\n    return a + b;\n}\n"},
        needs="cc",
    ),
    Work(
        name="fills in data that the program reads and the test names",
        before={
            "names.json": '{"de": "Deutschland"}',
            "names.py": "import json\n\n\ndef name_of(code):\n    return json.load(open('names.json'))[code]\n",
            "test_names.py": "import unittest\nfrom names import name_of\n\n\nclass NameTest(unittest.TestCase):\n    def test_all(self):\n        self.assertEqual(name_of('fr'), 'France', 'see names.json')\n",
        },
        until=UNIT,
        does={"names.json": '{"de": "Deutschland", "fr": "France"}'},
    ),
    _new(
        "reckons what is typed",
        "def reckon(text):\n    if not set(text) <= set('0123456789+-*/() '):\n        raise ValueError(text)\n    return eval(text)\n",
        "self.assertEqual(reckon('17+4'), 21)",
        "self.assertRaises(ValueError, reckon, 'a')",
    ),
    _py(
        "asserts in the work itself",
        before={**CALC, "calc.py": "def add(a, b):\n    assert a is not None\n    return a - b\n"},
        does={"calc.py": "def add(a, b):\n    assert a is not None\n    return a + b\n"},
    ),
]
