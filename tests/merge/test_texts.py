"""Two sides of one text: put together where that is clear, left as a conflict where it is not."""

import pytest

from toolwright.merge.blocks import Conflict
from toolwright.merge.texts import merge_texts

MODULE = '''\
"""A shop."""

import os
from shop.prices import net

LISTED = [
    "apple",
    "pear",
]


def total(prices):
    return sum(prices)


class Basket:
    """What is bought."""

    def __init__(self):
        self.items = []

    def add(self, item):
        self.items.append(item)
'''


def put(before: str, after: str, text: str = MODULE) -> str:
    assert before in text
    return text.replace(before, after, 1)


def merged(ours: str, theirs: str, base: str = MODULE, path: str = "shop.py") -> str:
    result = merge_texts(path, base, ours, theirs)
    assert result == merge_texts(path, base, ours, theirs)
    return result


def test_changes_of_different_lines_are_both_there() -> None:
    ours, theirs = put("return sum(prices)", "return round(sum(prices), 2)"), put('"pear"', '"plum"')
    assert merged(ours, theirs) == put('"pear"', '"plum"', ours)


def test_two_functions_added_at_the_same_place_are_both_there_ours_first() -> None:
    end = "        self.items.append(item)\n"
    ours = put(end, f"{end}\n\ndef ours():\n    return 1\n")
    theirs = put(end, f"{end}\n\ndef theirs():\n    return 2\n")
    assert merged(ours, theirs) == put(end, f"{end}\n\ndef ours():\n    return 1\n\n\ndef theirs():\n    return 2\n")


def test_two_methods_added_at_the_same_place_are_both_there() -> None:
    end = "        self.items.append(item)\n"
    ours = put(end, f"{end}\n    def clear(self):\n        self.items.clear()\n")
    theirs = put(end, f"{end}\n    def count(self):\n        return len(self.items)\n")
    result = merged(ours, theirs)
    assert result.index("def add") < result.index("def clear") < result.index("def count")
    compile(result, "shop.py", "exec")


def test_imports_added_on_both_sides_are_all_there() -> None:
    ours = put("from shop.prices import net", "from shop.prices import gross, net")
    theirs = put("from shop.prices import net", "from shop.prices import net, tax")
    assert "from shop.prices import gross, net, tax\n" in merged(ours, theirs)
    assert merged(put("import os", "import os\nimport re"), put("import os", "import os\nimport sys")) == put(
        "import os", "import os\nimport re\nimport sys"
    )


def test_an_import_that_one_side_takes_away_goes() -> None:
    base = put("import net", "import gross, net, tax")
    result = merged(put("gross, net, tax", "net, tax", base), put("gross, net, tax", "gross, net, vat", base), base)
    assert "from shop.prices import net, vat\n" in result


def test_elements_added_to_the_same_list_are_all_there() -> None:
    ours, theirs = put('"pear",\n', '"pear",\n    "fig",\n'), put('"pear",\n', '"pear",\n    "kiwi",\n')
    assert '    "pear",\n    "fig",\n    "kiwi",\n]' in merged(ours, theirs)


def test_a_function_moved_by_one_side_and_changed_by_the_other_is_moved_and_changed() -> None:
    function = "def total(prices):\n    return sum(prices)\n\n\n"
    moved = put(function, "").rstrip("\n") + "\n\n\n" + function.rstrip("\n") + "\n"
    changed = put("return sum(prices)", "return sum(prices, 0)")
    for result in (merged(moved, changed), merged(changed, moved)):
        assert result.index("class Basket") < result.index("def total")
        assert "return sum(prices, 0)" in result
        assert result.count("def total") == 1


@pytest.mark.parametrize(
    ("ours", "theirs", "reason"),
    [
        (("sum(prices)", "max(prices)"), ("sum(prices)", "min(prices)"), "both sides change total"),
        (("def total(prices):\n    return sum(prices)\n", ""), ("sum(prices)", "min(prices)"), "the other removes it"),
        (
            ("\n\nclass", "\n\ndef a():\n    return 1\n\n\nclass"),
            ("\n\nclass", "\n\ndef a():\n    return 2\n\n\nclass"),
            "add a",
        ),
        (
            ('"""A shop."""', '"""A shop.\n\nBig."""'),
            ('"""A shop."""', '"""A stall."""'),
            "both sides change docstring",
        ),
    ],
)
def test_what_contradicts_is_a_conflict_that_says_what(
    ours: tuple[str, str], theirs: tuple[str, str], reason: str
) -> None:
    with pytest.raises(Conflict, match=reason):
        merged(put(*ours), put(*theirs))


def test_a_function_that_both_sides_add_in_different_places_is_a_conflict_and_not_defined_twice() -> None:
    new = "def helper():\n    return 1\n\n\n"
    ours, theirs = put("def total", f"{new}def total"), put("class Basket", f"{new.replace('1', '2')}class Basket")
    with pytest.raises(Conflict, match="both sides add helper"):
        merged(ours, theirs)


def test_overloads_and_setters_are_not_taken_for_the_same_function_twice() -> None:
    getter = "    @property\n    def size(self):\n        return 1\n\n"
    new = f"{getter}    @size.setter\n    def size(self, size):\n        pass\n\n"
    ours = put("    def add(", f"{new}    def add(")
    assert merged(ours, put("import os", "import os\nimport re")).count("def size") == 2


def test_of_other_texts_the_same_lines_are_a_conflict() -> None:
    with pytest.raises(Conflict, match="the same lines"):
        merged("a\nx\nc\n", "a\ny\nc\n", "a\nb\nc\n", "notes.txt")
    assert merged("a\nb\nc\nd\n", "z\nb\nc\n", "a\nb\nc\n", "notes.txt") == "z\nb\nc\nd\n"


def test_lines_that_touch_are_a_conflict() -> None:
    with pytest.raises(Conflict):
        merged("A\nb\nc\n", "a\nB\nc\n", "a\nb\nc\n", "notes.txt")


def test_python_that_does_not_parse_is_merged_by_lines_alone() -> None:
    base = "def a(:\n    one\n    two\n    three\n    four\n"
    assert merged(put("one", "1", base), put("four", "4", base), base) == "def a(:\n    1\n    two\n    three\n    4\n"


def test_a_file_without_a_last_newline_keeps_its_lines_apart() -> None:
    base = "a = 1\nb = 2"
    assert merged("a = 1\nb = 2\nc = 3", "a = 1\nb = 2\nd = 4", base) == "a = 1\nb = 2\nc = 3\nd = 4"


def test_one_module_imported_under_two_names_is_two_imports() -> None:
    ours, theirs = put("import os", "import os\nimport re as words"), put("import os", "import os\nimport re as marks")
    assert merged(ours, theirs) == put("import os", "import os\nimport re as words\nimport re as marks")


FOUR = "".join(f"def {name}():\n    return {number}\n\n\n" for number, name in enumerate(("a", "b", "c", "d")))


def order(*names: str) -> str:
    numbers = {name: number for number, name in enumerate("abcd")}
    return "".join(f"def {name}():\n    return {numbers[name]}\n\n\n" for name in names)


def test_different_functions_moved_on_both_sides_are_both_moved() -> None:
    assert merged(order("b", "a", "c", "d"), order("a", "b", "d", "c"), FOUR) == order("b", "a", "d", "c")


def test_one_function_moved_to_two_places_is_a_conflict() -> None:
    with pytest.raises(Conflict, match="both sides move a"):
        merged(order("b", "c", "d", "a"), order("b", "c", "a", "d"), FOUR)


def test_a_function_that_one_side_moves_and_the_other_changes_or_removes() -> None:
    moved = order("b", "c", "a", "d")
    assert merged(moved, FOUR.replace("return 0", "return 5"), FOUR) == moved.replace("return 0", "return 5")
    assert "def a" not in merged(order("b", "c", "d"), order("a", "c", "b", "d").replace("return 3", "return 4"), FOUR)
    with pytest.raises(Conflict, match="removes it"):
        merged(order("b", "c", "d"), moved.replace("return 0", "return 5"), FOUR)
