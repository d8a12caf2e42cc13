"""Calls that a model got wrong, as they were recorded: which tool takes them, and how they end."""

from pathlib import Path

import pytest

from tests.vectors.layout import make_places, rows
from toolwright.call import call_from_text
from toolwright.calls.parts import ToolPart
from toolwright.definition import Call
from toolwright.events import Event, PartUpdated
from toolwright.protocols.json_types import Json

CHOICES = {
    "malformed-0013": "schema",  # the turn goes on: the model reads what was expected
    "malformed-0014": "schema",
    "malformed-0015": "schema",
}
"""What becomes of the rows whose recorded outcome is an accident."""

ROWS = list(rows("malformed"))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['id']} {row['note']}")
async def test_recorded_rows(tmp_path: Path, row: Json) -> None:
    places = make_places(tmp_path, project=row["files"])
    ran_as: list[str] = []

    def note(event: Event) -> None:
        if isinstance(event, PartUpdated) and isinstance(event.part, ToolPart):
            ran_as.append(event.part.tool)

    async with places.workspace() as workspace:
        workspace.bus.subscribe(note)
        result = await workspace.session().run_call(_call(places.fill(row["call"])))
    expected = row["result"]
    kind = CHOICES[row["id"]] if "quirk" in row else expected.get("error_kind")
    assert ran_as[-1] == expected["ran_as"]
    # What could not be made is an answer to the model in the record, and an error to who called.
    told = None if ran_as[-1] == "invalid" else (result.error.kind if result.error else None)
    assert told == kind


def _call(call: Json) -> Call:
    if "raw_arguments" in call:
        return call_from_text("call_1", call["tool"], call["raw_arguments"])
    return Call(id="call_1", tool=call["tool"], arguments=call["args"])
