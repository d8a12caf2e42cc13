"""Cutting: never over a limit, never inside a character, and the whole in a file that can be reached."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.contexts import HostedContext
from toolwright.calls.truncate import KEPT_DAYS, MAX_BYTES, MAX_LINES, OutputLimits, Truncator, cut
from toolwright.definition import Call, Result, ToolContext, tool
from toolwright.permission.rules import Rule
from toolwright.testing import make_session, make_workspace


@tool
async def echo(ctx: ToolContext) -> str:
    """Says nothing."""
    return ""


class Having:
    """Implements Host as far as truncation needs it: the tools an agent has."""

    def __init__(self, offered: tuple[str, ...]) -> None:
        self.offered = offered


ECHO = echo


def context(offered: tuple[str, ...]) -> ToolContext:
    host: Any = Having(offered)
    return HostedContext(
        session_id="ses_1", message_id="msg_1", call_id="call_1", agent="build", directory=Path(), host=host
    )


TEXTS = st.text(alphabet=st.sampled_from("ab\n\r é味😀"), max_size=80)
LIMITS = st.builds(
    OutputLimits,
    max_lines=st.integers(1, 8),
    max_bytes=st.integers(1, 40),
    direction=st.sampled_from(["head", "tail", "both"]),
)


def size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


@given(text=TEXTS, limits=LIMITS)
@example(text="a\nb\nc", limits=OutputLimits(max_lines=1, max_bytes=40, direction="both"))
@example(text="\n\n\n", limits=OutputLimits(max_lines=2, max_bytes=1, direction="both"))
@example(text="a\na", limits=OutputLimits(max_lines=2, max_bytes=2, direction="both"))
@example(text="a\ud83db" * 9, limits=OutputLimits(max_lines=2, max_bytes=7, direction="head"))
@example(text="a\ud83db" * 9, limits=OutputLimits(max_lines=2, max_bytes=7, direction="tail"))
def test_what_is_kept_is_an_end_of_the_text_within_both_limits(text: str, limits: OutputLimits) -> None:
    piece = cut(text, limits)
    lines = text.count("\n") + 1
    if piece is None:
        assert size(text) <= limits.max_bytes
        assert lines <= limits.max_lines
        return
    assert text.startswith(piece.head)
    assert text.endswith(piece.tail)
    assert len(piece.head) + len(piece.tail) < len(text)
    assert size(piece.head) + size(piece.tail) <= limits.max_bytes
    assert sum(part.count("\n") + 1 for part in (piece.head, piece.tail) if part) <= limits.max_lines
    assert piece.removed >= 1
    if limits.direction == "head":
        assert piece.tail == ""
    if limits.direction == "tail":
        assert piece.head == ""


@given(text=TEXTS, limits=LIMITS)
def test_only_a_line_that_does_not_fit_alone_is_cut_inside(text: str, limits: OutputLimits) -> None:
    piece = cut(text, limits)
    if piece is None or limits.direction == "both":
        return
    if limits.direction == "head":
        assert piece.head == text.split("\n", 1)[0][: len(piece.head)] or text[len(piece.head)] == "\n"
    else:
        before = len(text) - len(piece.tail) - 1
        assert "\n" not in piece.tail.rstrip("\n") or text[before] == "\n"


TABLE: list[tuple[str, OutputLimits, tuple[str, str, int, str] | None]] = [
    ("a\nb\nc", OutputLimits(), None),
    ("\n".join(map(str, range(100))), OutputLimits(max_lines=3), ("0\n1\n2", "", 97, "lines")),
    ("\n".join(map(str, range(10))), OutputLimits(max_lines=3, direction="tail"), ("", "7\n8\n9", 7, "lines")),
    ("\n".join(map(str, range(10))), OutputLimits(max_lines=4, direction="both"), ("0\n1", "8\n9", 6, "lines")),
    ("\n".join(map(str, range(10))), OutputLimits(max_lines=5, direction="both"), ("0\n1", "7\n8\n9", 5, "lines")),
    ("a" * 1000, OutputLimits(max_bytes=100), ("a" * 100, "", 900, "bytes")),
    ("a" * 1000, OutputLimits(max_bytes=100, direction="tail"), ("", "a" * 100, 900, "bytes")),
    ("é" * 10, OutputLimits(max_bytes=5), ("éé", "", 16, "bytes")),
    ("ab\ncd\nef", OutputLimits(max_bytes=5), ("ab\ncd", "", 3, "bytes")),
    ("ab\ncd\nef", OutputLimits(max_bytes=4), ("ab", "", 6, "bytes")),
]


@pytest.mark.parametrize(("text", "limits", "expected"), TABLE)
def test_the_table(text: str, limits: OutputLimits, expected: tuple[str, str, int, str] | None) -> None:
    piece = cut(text, limits)
    assert (piece and (piece.head, piece.tail, piece.removed, piece.unit)) == expected


def test_the_mission_limits_are_the_default() -> None:
    assert (OutputLimits().max_lines, OutputLimits().max_bytes, OutputLimits().direction) == (2000, 51_200, None)
    assert (MAX_LINES, MAX_BYTES, KEPT_DAYS) == (2000, 51_200, 7)


def test_the_whole_text_is_kept_byte_for_byte_under_ascending_names(tmp_path: Path) -> None:
    truncator = Truncator(folder=tmp_path / "out")
    texts = ["one\r\n", "zwei ä 😀\n", "half \ud83d"]
    paths = [truncator.keep(text) for text in texts]
    assert [path.read_bytes() for path in paths] == [text.encode("utf-8", "surrogatepass") for text in texts]
    assert paths == sorted(paths)
    assert {path.parent for path in paths} == {tmp_path / "out"}


def test_files_older_than_a_week_go_and_strangers_stay(tmp_path: Path) -> None:
    truncator = Truncator(folder=tmp_path)
    fresh, old = truncator.keep("fresh"), truncator.keep("old")
    stranger = tmp_path / "notes.txt"
    stranger.write_text("mine")
    long_ago = fresh.stat().st_mtime - (KEPT_DAYS * 24 + 1) * 3600
    for path in (old, stranger):
        os.utime(path, (long_ago, long_ago))
    assert truncator.remove_old() == 1
    assert sorted(tmp_path.iterdir()) == sorted([fresh, stranger])


def test_a_folder_that_is_not_there_has_nothing_to_remove(tmp_path: Path) -> None:
    assert Truncator(folder=tmp_path / "none").remove_old() == 0


@pytest.mark.parametrize(
    ("offered", "named", "not_named"),
    [
        (("task", "grep", "read"), ["task tool"], ["offset"]),
        (("grep", "read"), ["Use grep", "read it piece by piece"], ["task"]),
        (("read",), ["Read it piece by piece"], ["task", "grep"]),
        (("bash",), [], ["task", "grep", "piece by piece"]),
    ],
)
def test_the_hint_names_only_tools_the_agent_has(
    tmp_path: Path, offered: tuple[str, ...], named: list[str], not_named: list[str]
) -> None:
    truncator = Truncator(folder=tmp_path / "x", limits=OutputLimits(max_lines=1))
    result = truncator.apply(Result("1\n2"), ECHO, context(offered))
    hint = result.output.partition("truncated...")[2].replace(str(tmp_path), "")
    assert all(word in hint for word in named)
    assert not any(word in hint for word in not_named)
    assert result.metadata["outputPath"] in result.output


def test_what_a_tool_has_cut_itself_is_left_alone(tmp_path: Path) -> None:
    truncator = Truncator(folder=tmp_path / "x", limits=OutputLimits(max_lines=1))
    for said in (True, False):
        result = truncator.apply(Result("1\n2\n3", truncated=said), ECHO, context(()))
        assert (result.output, result.metadata) == ("1\n2\n3", {"truncated": said})
    assert not (tmp_path / "x").exists()


@tool
async def count(ctx: ToolContext) -> str:
    """Counts to twenty."""
    return "\n".join(map(str, range(1, 21)))


@pytest.mark.parametrize(
    ("config", "agent", "shown"),
    [
        ({"truncate": {"max_lines": 5}}, "build", 5),
        ({"tool_output": {"max_lines": 5}}, "build", 5),
        ({"truncate": {"max_lines": 5, "agent": {"plan": {"max_lines": 7}}}}, "build", 5),
        ({"truncate": {"max_lines": 5, "agent": {"plan": {"max_lines": 7}}}}, "plan", 7),
        ({"truncate": {"agent": {"plan": {"max_lines": 7}}, "tool": {"count": {"max_lines": 3}}}}, "plan", 3),
    ],
)
async def test_limits_are_set_for_all_for_an_agent_and_for_a_tool(
    project: Path, config: dict[str, Any], agent: str, shown: int
) -> None:
    write_config(project, config)
    session = make_session(project, tools=[count], agent=agent)
    result = await session.run_call(Call(id="call_1", tool="count", arguments={}))
    assert result.output.startswith("\n".join(map(str, range(1, shown + 1))) + "\n\n...")


async def test_every_agent_may_read_what_was_too_long_even_if_the_outside_is_denied(project: Path) -> None:
    write_config(project, {"truncate": {"max_lines": 5}, "permission": {"external_directory": "deny"}})
    workspace = make_workspace(project, tools=[count])
    session = workspace.session()
    result = await session.run_call(Call(id="call_1", tool="count", arguments={}))
    for agent in ("build", "plan", "explore", "general"):
        reader = workspace.session(agent, rules=[Rule("read", "*", "allow")])
        read = await reader.run_call(
            Call(id="call_2", tool="read", arguments={"filePath": result.metadata["outputPath"]})
        )
        assert read.error is None, agent
        assert "20" in read.output


def write_config(project: Path, config: dict[str, Any]) -> None:
    (project / "toolwright.json").write_text(json.dumps(config))


def test_a_command_keeps_both_ends_unless_told_otherwise(tmp_path: Path) -> None:
    assert Truncator(folder=tmp_path).limits_for("bash", "build", "both").direction == "both"
    assert Truncator(folder=tmp_path).limits_for("read", "build").direction == "head"
    assert (
        Truncator(folder=tmp_path, limits=OutputLimits(direction="tail")).limits_for("bash", "build", "both").direction
        == "tail"
    )
