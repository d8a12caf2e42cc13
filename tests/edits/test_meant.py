"""What is meant by an old text that is not in the file as given, one mistake at a time."""

import pytest

from toolwright.edits.numbers import without_numbers
from toolwright.edits.replacement import replace
from toolwright.errors import ToolError

TEXT = """\
import os

def total(items, rate):
    # Sums up what the items cost.
    subtotal = sum(item.price for item in items)
    discount = find_discount(items)
    taxed = (subtotal - discount) * rate
    log.info("taxed %s", taxed)
    return round(taxed, 2)

def show(items):
    print(total(items, 1.19))
"""
BLOCK = TEXT[TEXT.index("def total") : TEXT.index("\n\ndef show")]
MEANT = TEXT.replace("round(taxed, 2)", "round(taxed, 3)")


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        pytest.param("Sums up what", "Adds up what", id="a wrong word"),
        pytest.param("    discount = find_discount(items)\n", "", id="a line missing"),
        pytest.param("    discount", "    check(items)\n    discount", id="a line invented"),
        pytest.param("def total(items, rate):", "DEF TOTAL(ITEMS, RATE):", id="letters' case"),
        pytest.param('"taxed %s"', "“taxed %s”", id="look-alike quotes"),
        pytest.param("(subtotal - discount) * rate", "(subtotal-discount)*rate", id="blanks left out"),
        pytest.param("def total(items, rate):", "def something():", id="another first line"),
        pytest.param(
            "    discount = find_discount(items)\n    taxed = (subtotal - discount) * rate\n",
            "    # ... existing code ...\n",
            id="a mark for lines left out",
        ),
    ],
)
def test_a_mistake_carried_into_the_new_text_changes_nothing_in_the_file(right: str, wrong: str) -> None:
    old = BLOCK.replace(right, wrong)
    assert old != BLOCK
    assert replace(TEXT, old, old.replace("taxed, 2)", "taxed, 3)")).text == MEANT


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        pytest.param("Sums up what", "Adds up what", id="a wrong word"),
        pytest.param("    discount = find_discount(items)\n", "", id="a line missing"),
        pytest.param("    discount", "    check(items)\n    discount", id="a line invented"),
        pytest.param("    taxed = (subtotal", "    TAXED = (SUBTOTAL", id="letters' case"),
        pytest.param("taxed, 2)", "taxd, 2)", id="a wrong letter in the line that changes"),
    ],
)
def test_where_file_and_new_text_agree_the_old_text_may_be_wrong(right: str, wrong: str) -> None:
    done = replace(TEXT, BLOCK.replace(right, wrong), BLOCK.replace("taxed, 2)", "taxed, 3)"))
    assert done.text == MEANT
    assert done.strategy in ("context", "block_anchor", "alignment")


def test_a_wrong_old_text_does_no_harm_where_the_new_one_has_all_the_lines_there_and_more() -> None:
    old, new = BLOCK.replace("def total", "def sum_of"), BLOCK + "\n" + BLOCK
    assert replace(TEXT, old, new).text == TEXT.replace(BLOCK, new)


@pytest.mark.parametrize(
    ("wrong", "new"),
    [
        pytest.param(("taxed, 2)", "taxed, 4)"), ("taxed, 4)", "taxed, 3)"), id="the word that changes is another"),
        pytest.param(
            ("    discount = find_discount(items)\n", ""),
            ("items)\n    taxed", "items)\n    note()\n    taxed"),
            id="new lines where one is forgotten",
        ),
        pytest.param(
            ("find_discount(items)", "find_rebate(items)"), ("    discount = find_rebate(items)\n", ""), id="gone"
        ),
    ],
)
def test_where_nobody_knows_what_is_meant_nothing_is_done(wrong: tuple[str, str], new: tuple[str, str]) -> None:
    old = BLOCK.replace(*wrong)
    with pytest.raises(ToolError, match="Nearest:\n    3  def total") as caught:
        replace(TEXT, old, old.replace(*new))
    assert caught.value.kind == "not_found"


def numbered(text: str, first: int) -> str:
    return "\n".join(f"{number:05d}| {line}" for number, line in enumerate(text.split("\n"), first))


@pytest.mark.parametrize("both", [True, False])
def test_line_numbers_that_were_copied_are_left_out(both: bool) -> None:
    new = BLOCK.replace("taxed, 2)", "taxed, 3)")
    done = replace(TEXT, numbered(BLOCK, 3), numbered(new, 3) if both else new)
    assert done.text == MEANT
    assert done.strategy == "line_numbers"


def test_line_numbers_decide_between_places() -> None:
    assert replace("a\nb\na\nb\n", "00003| a", "00003| A").text == "a\nb\nA\nb\n"
    with pytest.raises(ToolError, match="lines 1, 3"):
        replace("a\nb\na\nb\n", "00007| a", "00007| A")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("00001| a\nb", "00001| A\nb"),
        ("00001| a\n00007| b", "x"),
        ("00001| a", "00001| A\nB"),
        ("1| a", "1| A"),
    ],
)
def test_numbers_that_not_every_line_has_are_text(old: str, new: str) -> None:
    assert without_numbers(old, new) is None


def test_lines_that_look_numbered_in_the_file_are_found_as_they_are() -> None:
    done = replace("00001| a\n00002| b\n", "00002| b", "00002| c")
    assert (done.text, done.strategy) == ("00001| a\n00002| c\n", "exact")


def test_a_first_line_copied_without_its_indentation_gets_it_once() -> None:
    old = "subtotal = sum(item.price for item in items)\n    discount = find_discount(items)"
    new = "    subtotal = add(items)\n    discount = find_discount(items)"
    assert replace(TEXT, old, new).text == TEXT.replace("sum(item.price for item in items)", "add(items)")


def test_of_two_blocks_much_alike_the_one_with_the_telling_line_is_meant() -> None:
    other = BLOCK.replace("def total", "def sum_up").replace("# Sums up", "# Adds")
    old = BLOCK.replace("find_discount", "look_up_discount")
    done = replace(f"{TEXT}\n{other}\n", old, old.replace("taxed, 2)", "taxed, 3)"))
    assert done.text == f"{MEANT}\n{other}\n"
    with pytest.raises(ToolError) as caught:
        replace(f"{TEXT}\n{BLOCK}\n", old, old.replace("taxed, 2)", "taxed, 3)"))
    assert caught.value.kind == "ambiguous"


def test_one_place_that_fits_in_two_ways_is_shown_and_not_called_several() -> None:
    text = "- name: a\n  run: go\n- name: b\n  run: go\n- name: c\n  run: go\n"
    with pytest.raises(ToolError) as caught:
        replace(text, "  run: go\n\n- name: c", "  run: go\n- name: d")
    assert caught.value.kind == "not_found"
    assert "1 places" not in str(caught.value)
    assert "oldString has a blank line, the file does not" in str(caught.value)


REFLOWED = """\
def report(items):
    total = add(items, start=0)
    print("There are %s items, and they come to %s." % (len(items), total))

    return total
"""
BROKEN = """\
def report(items):
    total = add(
        items, start=0)
    print("There are %s items, and they come to %s."
        % (len(items), total))

    return total
"""


def test_lines_that_are_broken_elsewhere_are_found_by_their_words_and_stay_where_they_are_kept() -> None:
    done = replace(BROKEN, REFLOWED, REFLOWED.replace("return total", "return round(total)"))
    assert done.text == BROKEN.replace("return total", "return round(total)")


def test_lines_that_are_broken_elsewhere_are_replaced_together() -> None:
    done = replace(BROKEN, REFLOWED, REFLOWED.replace("    total = add(items, start=0)\n", "    total = 0\n"))
    assert done.text == BROKEN.replace("    total = add(\n        items, start=0)\n", "    total = 0\n")


def test_a_part_of_a_line_that_is_broken_elsewhere_is_not_replaced() -> None:
    old = REFLOWED.replace("There are %s items", "There are %s\n items")
    with pytest.raises(ToolError):
        replace(BROKEN, old, old.replace("There are", "Here we have"))


@pytest.mark.parametrize("slip", ["subtotall", "sub_total", "subttal"])
def test_a_slip_in_the_first_line_is_seen_through_where_the_next_lines_are_there(slip: str) -> None:
    block = TEXT[TEXT.index("    subtotal") : TEXT.index("    log")]
    wrong = block.replace("    subtotal = sum", f"    {slip} = sum")
    done = replace(TEXT, wrong, "    taxed = 1\n")
    assert done.text == TEXT.replace(block, "    taxed = 1\n")


def test_another_name_in_the_first_line_is_no_slip() -> None:
    block = TEXT[TEXT.index("    subtotal") : TEXT.index("    log")]
    with pytest.raises(ToolError):
        replace(TEXT, block.replace("subtotal = sum", "total = sum"), "    taxed = 1\n")


def test_an_escaped_line_end_within_quotes_of_the_new_text_is_asked_about() -> None:
    with pytest.raises(ToolError, match="backslashes"):
        replace("a = 1\nb = 2\n", "a = 1\\nb = 2\\n", 'a = 1\\nc = re.compile("\\n\\r?\\n")\\nb = 2\\n')
