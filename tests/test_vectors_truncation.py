"""The general limits on outputs, as they were recorded: how much is kept, and what is said of the rest."""

import json
from pathlib import Path

import pytest

from tests.vectors.layout import Places, make_places, rows, text_of
from tests.web.site import serving
from toolwright.calls.truncate import MAX_BYTES
from toolwright.definition import Call, Result, ToolContext, tool
from toolwright.protocols.json_types import Json

ROWS = list(rows("truncation"))

# Our grep shows its matches within the general limits, so a row about exceeding them does not arise.
GREP_ROWS = {"trunc-0081"}


def named(row: Json) -> str:
    return f"{row['id']} {row['tool']}: {row['note']}"


@pytest.mark.parametrize("row", [row for row in ROWS if "quirk" not in row], ids=named)
async def test_recorded_rows(tmp_path: Path, row: Json) -> None:
    places = make_places(tmp_path)
    full = text_of(row["content"])
    result, delegates = await _run(places, row, full)
    expected = row["result"]
    assert result.error is None
    assert result.metadata["truncated"] == expected["truncated"]
    if row["tool"] == "bash":
        assert result.metadata["exit"] == expected["exit"]
        assert len(result.metadata["output"]) == expected["metadata_output_chars"]
    if not expected["truncated"]:
        assert result.output == full
        return
    kept, note = _parts(result)
    assert (len(kept.encode()), kept.count("\n") + 1) == (expected["kept_bytes"], expected["kept_lines"])
    assert full.startswith(kept)
    assert f"...{expected['removed']} {expected['unit']} truncated..." in note
    assert ("task tool" in note) == delegates
    _check_overflow(places, result, full)


@pytest.mark.parametrize("row", [row for row in ROWS if "quirk" in row and row["id"] not in GREP_ROWS], ids=named)
async def test_of_a_first_line_that_is_too_long_as_much_as_fits_is_shown(tmp_path: Path, row: Json) -> None:
    places = make_places(tmp_path)
    full = text_of(row["content"])
    result, _ = await _run(places, row, full)
    kept, note = _parts(result)
    assert kept == full[:MAX_BYTES]
    assert f"...{len(full) - MAX_BYTES} bytes truncated..." in note
    _check_overflow(places, result, full)


@pytest.mark.parametrize("row", [row for row in ROWS if row["id"] in GREP_ROWS], ids=named)
async def test_what_grep_shows_stays_within_the_general_limits(tmp_path: Path, row: Json) -> None:
    places = make_places(tmp_path)
    (places.project / "searched.txt").write_text(text_of(row["content"]))
    async with places.workspace() as workspace:
        result = await workspace.call("grep", pattern="needle")
    assert result.error is None
    assert len(result.output.encode()) <= MAX_BYTES


async def _run(places: Places, row: Json, full: str) -> tuple[Result, bool]:
    """The result, and whether the agent can delegate."""

    @tool
    async def custom(ctx: ToolContext) -> str:
        """Returns what it was given."""
        return full

    if row["tool"] == "webfetch":
        return await _fetch(places, full)
    places.write_config({"truncate": {"tool": {"bash": {"direction": "head"}}}})
    arguments = {}
    if row["tool"] == "bash":
        (places.project / "full.txt").write_bytes(full.encode())
        target = " >&2" if row.get("via_stderr") else ""
        arguments = {"command": f"cat full.txt{target}", "description": "print it"}
    async with places.workspace(tools=(custom,)) as workspace:
        session = workspace.session()
        result = await session.run_call(Call(id="call_1", tool=row["tool"], arguments=arguments))
        return result, "task" in session.offered()


async def _fetch(places: Places, full: str) -> tuple[Result, bool]:
    async with serving() as site:
        url = site.page("/full.txt", full, "text/plain")
        places.write_config({"permission": {"webfetch": {url: "allow"}}})
        async with places.workspace() as workspace:
            session = workspace.session()
            result = await session.run_call(Call(id="call_1", tool="webfetch", arguments={"url": url}))
            return result, "task" in session.offered()


def _parts(result: Result) -> tuple[str, str]:
    """What is kept, and the note below it."""
    kept, mark, note = result.output.rpartition("\n\n...")
    return kept, f"...{note}" if mark else result.output


def _check_overflow(places: Places, result: Result, full: str) -> None:
    path = Path(result.metadata["outputPath"])
    assert path.parent.parent == places.data / "tool-output"
    assert path.name.startswith("tool_")
    assert path.read_bytes() == full.encode()
    assert json.dumps(str(path))[1:-1] in result.output
