"""What people read in a line: counted things, money, times, calls with their notes, models with their prices."""

from pathlib import Path
from typing import Any

import pytest

from toolwright.app.history import LARGEST, REMEMBERED, PromptHistory
from toolwright.app.model_choices import RECENT, ModelChoice, ProviderChoice, RecentModels, connectable, ordered
from toolwright.app.shown import Looks
from toolwright.app.words import duration, end_line, first_line, first_sentence, money, plural, summary_line
from toolwright.calls.look import CallView
from toolwright.calls.parts import Completed, Span, ToolPart


def test_things_money_and_times_are_told_in_small_words() -> None:
    assert [plural(count, "file") for count in (0, 1, 2, 1000)] == ["0 files", "1 file", "2 files", "1,000 files"]
    assert [money(one) for one in (0.01234, 0.99999, 1, 2.345)] == ["$0.0123", "$1.0000", "$1.00", "$2.35"]
    assert [duration(one) for one in (0, 59.9, 60, 61, 3600)] == ["0 s", "59 s", "1 min 0 s", "1 min 1 s", "60 min 0 s"]
    assert [first_line(text) for text in ("", " \n\n  a \nb", "a")] == ["", "a", "a"]
    assert first_sentence("\nDo this. And that.\nMore.") == "Do this"
    assert (end_line("the user stopped the turn"), end_line("no key")) == ("Stopped.", "! no key")
    assert summary_line(None).startswith("what was said before is summarised")
    assert summary_line("No room.").startswith("! What was said before could not be summarised: No room.")


def view(tool: str, arguments: dict[str, Any], metadata: dict[str, Any], title: str = "") -> CallView:
    """How a call that has come to its result is shown."""
    state = Completed(input=arguments, output="", title=title, metadata=metadata, time=Span(start=1, end=2))
    part = ToolPart(id="p", session_id="s", message_id="m", call_id="c", tool=tool, state=state)
    return Looks(directory="/p").call(part)


TWO = "--- a\n+++ a\n@@ -1 +1,2 @@\n-x\n+y\n+z\n"


@pytest.mark.parametrize(
    ("metadata", "arguments", "counted"),
    [
        ({"diff": TWO}, {}, (2, 1)),
        ({"files": [{"diff": TWO}, {"diff": TWO}]}, {}, (4, 2)),
        ({"files": [{"diff": TWO}], "diff": TWO}, {}, (4, 2)),
        ({"files": [{}, 7]}, {"content": "a\nb\n"}, (2, 0)),
        ({"files": [{"diff": ""}], "diff": TWO}, {}, (None, None)),
        ({}, {"content": "a\nb"}, (2, 0)),
        ({}, {"content": ""}, (0, 0)),
        ({}, {}, (None, None)),
    ],
)
def test_the_lines_that_a_call_has_changed_are_counted(
    metadata: dict[str, Any], arguments: dict[str, Any], counted: tuple[int | None, int | None]
) -> None:
    shown = view("write", {"filePath": "/p/a", **arguments}, metadata)
    assert (shown.additions, shown.deletions) == counted
    assert shown.subject == "a"


@pytest.mark.parametrize(
    ("tool", "arguments", "metadata", "note"),
    [
        ("bash", {"command": "x"}, {"exit": 0}, ""),
        ("bash", {"command": "x"}, {"exit": 3}, "exit 3"),
        ("grep", {"pattern": "x"}, {"matches": 1}, "1 match"),
        ("grep", {"pattern": "x"}, {"matches": 2}, "2 matches"),
        ("glob", {"pattern": "x"}, {"count": 1}, "1 file"),
        ("glob", {"pattern": "x"}, {"count": 0}, "0 files"),
        ("todowrite", {"todos": [{"status": "completed"}, {"status": "pending"}, 7]}, {}, "1 done"),
        ("read", {"filePath": "x"}, {}, ""),
    ],
)
def test_a_call_that_is_over_has_a_note(
    tool: str, arguments: dict[str, Any], metadata: dict[str, Any], note: str
) -> None:
    assert view(tool, arguments, metadata).note == note


def test_a_call_is_called_by_its_command_by_its_subject_or_by_the_title_of_its_result() -> None:
    assert view("bash", {"command": "make"}, {}).title == "make"
    assert view("read", {"filePath": "/p/a"}, {}).title == "Read a"
    assert view("mine", {}, {}, "Seven").title == "mine Seven"


@pytest.mark.parametrize(
    ("choice", "told"),
    [
        ({"full_name": "a/m", "name": "m", "ready": True}, ["free"]),
        ({"full_name": "a/m", "name": "M 1"}, ["M 1", "no key"]),
        ({"full_name": "a/m", "context": 200_000, "input_price": 0.5}, ["no key", "200k", "$0.5 in, $0 out"]),
        (
            {"full_name": "a/m", "output_price": 3.0, "ready": True, "can": ("see", "think")},
            ["$0 in, $3 out", "see, think"],
        ),
    ],
)
def test_a_model_is_shown_with_what_is_known_of_it(choice: dict[str, Any], told: list[str]) -> None:
    assert ModelChoice(**choice).line == f"{'a/m':<36} {' · '.join(told)}"


def test_the_present_model_comes_first_then_those_chosen_lately_then_those_that_can_be_used() -> None:
    models = [ModelChoice(full_name=name, ready=name in ("c", "d")) for name in "abcd"]
    names = [one.full_name for one in ordered(models, ["b", "z", "d"], "d")]
    assert names == ["d", "b", "z", "c", "a"]
    assert [one.full_name for one in ordered(models, [], "")] == ["c", "d", "a", "b"]


def test_servers_on_this_machine_come_before_providers_and_those_with_a_key_before_others() -> None:
    providers = [
        ProviderChoice(id="zed", name="Zed", ready=True),
        ProviderChoice(id="other", name="Other"),
        ProviderChoice(id="anything", name="anything"),
        ProviderChoice(id="openai", name="OpenAI", login=True),
        ProviderChoice(id="anthropic", name="Anthropic"),
    ]
    listed = [(name, line[37:]) for name, line in connectable(providers, ["ollama"])]
    assert listed == [
        ("ollama", "runs on this machine"),
        ("zed", "connected"),
        ("anthropic", "paste a key"),
        ("openai", "paste a key or log in"),
        ("anything", "paste a key"),
        ("other", "paste a key"),
    ]


def test_the_models_chosen_last_are_remembered_each_once_and_the_newest_first(tmp_path: Path) -> None:
    recent = RecentModels(file=tmp_path / "models")
    for name in ("a", "b", "b", "a", *(f"m{number}" for number in range(RECENT - 1)), "a"):
        recent.remember(name)
    assert recent.names() == ["a", *(f"m{number}" for number in reversed(range(RECENT - 1)))]
    assert (tmp_path / "models").read_text().count('"b"') == 1


def test_so_many_prompts_are_kept_and_none_that_is_too_long(tmp_path: Path) -> None:
    history = PromptHistory(file=tmp_path / "folder" / "history")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "history").write_text("".join(f'"{number}"\n' for number in range(REMEMBERED)))
    history.remember("x" * (LARGEST + 1))
    assert len(list(history.prompts())) == REMEMBERED
    history.remember("x" * LARGEST)
    kept = list(history.prompts())
    assert (len(kept), kept[0], len(kept[-1])) == (REMEMBERED, "1", LARGEST)
    (tmp_path / "folder" / "history").write_text('{"a": 1}\nno json\n"fine"\n')
    assert list(history.prompts()) == ["fine"]
    PromptHistory().remember("x")
    assert list(PromptHistory().prompts()) == []
