"""Changes by rename and codeAction: shown and asked for file by file, made all together or not at all."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolwright.calls.request import Request
from toolwright.deadline import time_limit
from toolwright.definition import Result, ToolContext
from toolwright.errors import ToolError
from toolwright.files.paths import Place
from toolwright.files.store import Files
from toolwright.lsp.client import LanguageClient
from toolwright.lsp.languages import ASKED
from toolwright.lsp.workspace_edit import Revised, revised
from toolwright.protocols.jsonrpc import RpcClosed, RpcError
from toolwright.text.diff import compare
from toolwright.tools.changes.remarks import diagnostics, with_remarks
from toolwright.tools.changes.request import edit_request

if TYPE_CHECKING:
    from toolwright.tools.symbols.question import SymbolQuestion

_LISTED = 50


async def change(
    ctx: ToolContext, question: "SymbolQuestion", answers: list[tuple[LanguageClient, Any]], problems: Sequence[str]
) -> Result:
    """Apply what the servers answered, or list what could be applied."""
    if not answers:
        if problems:
            raise ToolError(" ".join(problems))
        return Result(question.nothing, title=question.title)
    if question.operation == "rename":
        return await _apply(ctx, question, answers[0][0], [answers[0][1]], "Renamed")
    actions = [(client, one) for client, one in answers if isinstance(one, dict) and one.get("title")]
    if not question.query:
        titles = [f"- {one['title']}{_why_not(one)}" for _, one in actions[:_LISTED]]
        how = "Call codeAction again with query set to the title of the one to apply."
        return Result("\n".join((*titles, how)), title=f"{len(titles)} code actions")
    client, action = _chosen(question.query, actions)
    try:
        async with time_limit(ASKED):
            edits = await _edits(client, action)
            return await _apply(ctx, question, client, edits, f"Applied {action['title']!r}")
    except TimeoutError as error:
        raise ToolError(f"{client.name} did not answer within {ASKED:.0f} s.", "timeout") from error
    except (RpcError, RpcClosed) as error:
        raise ToolError(f"{client.name} failed: {error}") from error


def _chosen(query: str, actions: list[tuple[LanguageClient, Any]]) -> tuple[LanguageClient, Any]:
    exact = [pair for pair in actions if pair[1]["title"] == query]
    near = exact or [pair for pair in actions if query.lower() in pair[1]["title"].lower()]
    if not near:
        titles = "; ".join(str(one["title"]) for _, one in actions[:_LISTED]) or "none"
        raise ToolError(f"There is no code action {query!r} here. There are: {titles}.", "not_found")
    if len(near) > 1 and not exact:
        titles = "; ".join(str(one["title"]) for _, one in near[:_LISTED])
        raise ToolError(f"{query!r} fits several code actions. Give one title in full: {titles}.", "ambiguous")
    if _why_not(near[0][1]):
        raise ToolError(f"{query!r} cannot be applied here{_why_not(near[0][1])}.")
    return near[0]


def _why_not(action: Any) -> str:
    disabled = action.get("disabled")
    return f" (not now: {disabled.get('reason')})" if isinstance(disabled, dict) else ""


async def _edits(client: LanguageClient, action: Any) -> list[Any]:
    """Return the edits of an action: stated at once, worked out when asked, or sent by the command it runs."""
    if "edit" not in action and "command" not in action and action.get("data") is not None:
        action = await client.request("codeAction/resolve", action)
    edits = [action["edit"]] if action.get("edit") else []
    command = action.get("command")
    if isinstance(command, str):  # the whole action is a command
        command = action
    if isinstance(command, dict):
        edits += await client.execute(command)
    return edits


async def _apply(
    ctx: ToolContext, question: "SymbolQuestion", client: LanguageClient, edits: Sequence[Any], done: str
) -> Result:
    files = ctx.use(Files)
    wanted = [revision for edit in edits for revision in await revised(files, edit)]
    home = _repository(question.place)
    changed = [revision for revision in wanted if _repository(revision.place) == home]
    for revision in changed:
        known = client.documents.get(revision.place.path)
        if known is not None and known.text != revision.before:
            raise ToolError(
                f"{revision.place.path} has changed in the meantime. Nothing was done; call again.", "stale"
            )
    others = [revision.place.relative for revision in wanted if revision not in changed]
    left = f"\n{_left(others)}" if others else ""
    if not changed:
        return Result(f"Nothing would change.{left}", title="no change")
    return await commit(ctx, changed, done, note=left)


def _repository(place: Place) -> Path:
    """Return the repository in the project that a file belongs to: a clone within it is a project of its own."""
    root = place.tree.root
    above = (folder for folder in place.path.parents if folder.is_relative_to(root))
    return next((folder for folder in above if os.path.lexists(folder / ".git")), root)


def _left(names: Sequence[str]) -> str:
    """Say which files a change leaves alone; a server may know only half of what is in them."""
    listed = ", ".join(names[:_LISTED])
    return f"Left as they are, since they belong to another repository within this one: {listed}."


async def commit(ctx: ToolContext, changed: Sequence[Revised], done: str, *, note: str = "") -> Result:
    """Show the changes, ask for each file, and make all of them or none."""
    diffs = [compare(one.before, one.after) for one in changed]
    patches = [diff.unified(str(one.place.path)) for one, diff in zip(changed, diffs, strict=True)]
    external = {request.patterns: request for one in changed for request in one.place.external()}
    await ctx.ask_all(*external.values(), *map(_request, changed, patches))
    outcomes = await ctx.use(Files).commit(
        [one.change for one in changed], session_id=ctx.session_id, call_id=ctx.call_id
    )
    lines = [
        f"{one.place.relative} (+{diff.additions} -{diff.deletions})" for one, diff in zip(changed, diffs, strict=True)
    ]
    count = f"{len(changed)} file{'' if len(changed) == 1 else 's'}"
    metadata = {"diff": "\n".join(patches), "files": [str(one.place.path) for one in changed]}
    return Result(
        with_remarks("\n".join((f"{done} in {count}:", *lines)) + note, outcomes),
        title=f"{done} in {count}",
        metadata={**metadata, "diagnostics": diagnostics(outcomes)},
    )


def _request(revision: Revised, patch: str) -> Request:
    metadata = {"filepath": str(revision.place.path), "diff": patch}
    return edit_request([revision.place], metadata)
