"""The commands that a turn has run, as its records have them."""

from collections.abc import Iterator, Sequence

from toolwright.proof.said import RecordedRun
from toolwright.session.result import MadeCall
from toolwright.tools import built_in


def recorded_runs(calls: Sequence[MadeCall]) -> list[RecordedRun]:
    """Return the commands of a turn in their order, each with whether a file was edited after it."""
    return list(_runs(calls))


def _runs(calls: Sequence[MadeCall]) -> Iterator[RecordedRun]:
    last_edit = max((index for index, one in enumerate(calls) if _edits(one)), default=-1)
    for index, call in enumerate(calls):
        command = call.arguments.get("command")
        if call.tool == "bash" and isinstance(command, str) and call.result.error is None:
            code = call.result.metadata.get("exit")
            yield RecordedRun(
                command=command,
                exit=code if isinstance(code, int) else None,
                output=call.result.output,
                call=call.id,
                stale=index < last_edit,
            )


def _edits(call: MadeCall) -> bool:
    tool = built_in(call.tool)
    return tool is not None and bool(tool.writes) and tool.permission == "edit" and call.result.error is None
