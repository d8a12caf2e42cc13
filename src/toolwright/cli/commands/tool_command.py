"""tw tool: list the tools, show one, call one through the door."""

import argparse
import asyncio
import json
import sys
import time
from collections.abc import Awaitable
from contextlib import suppress
from typing import Any

from toolwright.call import call_from_text
from toolwright.calls.builtin import INVALID
from toolwright.cli.options import (
    exit_code,
    json_object,
    note,
    open_from,
    parser,
    print_json,
    print_table,
    split_model,
    subcommand,
)
from toolwright.cli.output import say, say_json, say_result
from toolwright.definition import Call, Result, Tool
from toolwright.errors import ToolError, UsageError
from toolwright.inbox import NOBODY, Answerer, Question, Reply, Said
from toolwright.permission.approvals import offered
from toolwright.permission.gate import AskedRequest, DryRunOver
from toolwright.protocols.client_json import to_json
from toolwright.protocols.json_types import Json
from toolwright.record import record
from toolwright.session.session import Session
from toolwright.text.ids import new_id
from toolwright.workspace import Workspace

WAITING = 5
"""Files that are named, of those a project brings."""


def main(arguments: list[str]) -> int:
    options = _parser().parse_args(arguments)
    match options.action:
        case "list":
            return asyncio.run(_list(options))
        case "show":
            return asyncio.run(_show(options))
        case _:
            return asyncio.run(_call(options))


def _parser() -> argparse.ArgumentParser:
    root = parser(
        "tool",
        "The tools: what a model is offered, and any of them called by hand through the same door.",
        examples=(
            "  tw tool list --agent explore\n"
            "  tw tool show edit --json\n"
            "  tw tool call grep 'def main'\n"
            '  tw tool call write \'{"filePath": "a.txt", "content": "hi"}\' --dry-run\n'
            '  echo \'{"tool": "read", "args": {"filePath": "a.txt"}}\' | tw tool call --stdin'
        ),
    )
    actions = root.add_subparsers(dest="action", required=True, metavar="list|show|call")
    listing = subcommand(actions, "list", "The tools an agent on a model is offered, in order")
    showing = subcommand(actions, "show", "One tool: its text and its schema")
    showing.add_argument("id")
    calling = subcommand(actions, "call", "Call a tool")
    calling.add_argument("id", nargs="?", help="the tool")
    calling.add_argument(
        "args", nargs="*", default=[], help="its path, command or the like; or all arguments as a JSON object"
    )
    calling.add_argument("--stdin", action="store_true", help="one JSON object per line in, one per line out")
    calling.add_argument("--fresh", action="store_true", help="with --stdin: a session of its own for each line")
    calling.add_argument(
        "--dry-run", action="store_true", help="run nothing; list what would be asked, and the answers"
    )
    calling.add_argument("--yes", action="store_true", help="allow whatever is asked (what a rule denies stays denied)")
    calling.add_argument("--no", action="store_true", help="refuse whatever is asked")
    calling.add_argument("--defaults", action="store_true", help="fill in the forms of MCP servers by their defaults")
    for sub in (listing, showing, calling):
        sub.add_argument("--agent", default="", help="as this agent")
        sub.add_argument("--model", default="", metavar="P/M", help="as offered to this model")
        sub.add_argument("--json", action="store_true", help="machine-readable")
    return root


async def _list(options: argparse.Namespace) -> int:
    async with open_from(options) as workspace:
        session = workspace.session(options.agent)
        tools = await workspace.registry.tools(*split_model(options.model), session.ruled_agent)
        if options.json:
            print_json([_described(workspace, tool) for tool in tools])
        else:
            print_table([(tool.id, _first_sentence(tool.description)) for tool in tools])
        for clash in workspace.registry.clashes:
            note(f"warning: {clash}")
        for problem in workspace.left_out():
            note(f"warning: {problem.name} is left out: {problem.reason}")
        return 0


async def _show(options: argparse.Namespace) -> int:
    async with open_from(options) as workspace:
        await _look_for(workspace, options.id)
        return await _show_tool(workspace, options)


async def _look_for(workspace: Workspace, tool_id: str) -> None:
    """Have tools loaded that may be of this name; nothing is waited for on account of a built-in one."""
    registry = workspace.registry
    if tool_id in registry.fixed:
        return
    with suppress(ToolError):  # told when it is called
        await registry.find(tool_id)
    if registry.refresh is not None:
        await registry.refresh(tool_id)
    if workspace.settings.mcp:
        await workspace.mcp.known()


async def _show_tool(workspace: Workspace, options: argparse.Namespace) -> int:
    tool = workspace.registry[options.id]
    session = workspace.session(options.agent)
    form = await tool.for_agent(session.ruled_agent)
    if options.json:
        print_json(_described(workspace, form))
        return 0
    say(f"{form.id}  (permission: {form.permission}, from {workspace.registry.origin(form.id)})")
    say(f"\n{form.description}\n", lines=True)
    print_json(form.parameters)
    return 0


def _described(workspace: Workspace, tool: Tool) -> Json:
    return {
        "id": tool.id,
        "description": tool.description,
        "parameters": tool.parameters,
        "permission": tool.permission,
        "origin": workspace.registry.origin(tool.id),
    }


def _first_sentence(text: str) -> str:
    line = text.strip().splitlines()[0] if text.strip() else ""
    return line if len(line) <= 100 else f"{line[:99]}…"


async def _call(options: argparse.Namespace) -> int:
    from toolwright.cli.run.questions import answerer  # a list asks nobody

    script = LineUser(answerer(options))
    async with open_from(options, answer=script) as workspace:
        calls = Calls(workspace, options, script)
        return await (_call_lines(calls) if options.stdin else _call_once(calls, options))


async def _call_once(calls: "Calls", options: argparse.Namespace) -> int:
    if not options.id:
        raise UsageError(
            'Name a tool to call, as in tw tool call read \'{"filePath": "a.txt"}\'; tw tool list has them.'
        )
    args = await _arguments(calls.workspace, options.id, " ".join(options.args))
    answer = await calls.answer({"tool": options.id, "args": args})
    if options.json or options.dry_run:
        print_json(answer)
    elif answer["kind"] == "unknown_tool":
        note(answer["output"])
        _tell_what_waits(calls.workspace)
    elif answer["status"] == "error":
        note(answer["error"])
    else:
        say_result(answer["output"])
    return exit_code(None, answer.get("kind"))


def _tell_what_waits(workspace: Workspace) -> None:
    """Tell of files that are not used yet: who has not trusted a project would look for them in vain."""
    from toolwright.cli.actions.foreign_configs import untrusted_files

    waiting = [] if workspace.trusted else untrusted_files(workspace.directory, workspace.folders)
    if waiting:
        note(f"Not used until you trust the project (tw trust, or --trust for once): {', '.join(waiting[:WAITING])}.")


async def _arguments(workspace: Workspace, tool_id: str, text: str) -> Json:
    """The arguments as JSON, or as the one text that a tool needs; a text for a tool that is not there is dropped."""
    from toolwright.policy.expectations import arguments_for

    if not text:
        return {}
    if text.startswith(("{", "[", '"')):
        return arguments_for(tool_id, text)
    registry = workspace.registry
    await _look_for(workspace, tool_id)
    tool_id = registry.resolved(tool_id)
    if tool_id not in registry:
        return {}
    parameters = registry[tool_id].parameters
    properties = parameters.get("properties", {})
    needed = parameters.get("required") or list(properties)
    alone = len(needed) == 1 and properties.get(needed[0], {}).get("type") == "string"
    # Only the text itself: what a decision about it may make up, such as the new content of a file, is not for a call.
    return {needed[0] if alone else next(iter(arguments_for(tool_id, text))): text}


async def _call_lines(calls: "Calls") -> int:
    for line in sys.stdin.buffer:
        if not line.strip():
            continue
        answer = await calls.answer_line(line)
        say_json(json.dumps(answer, ensure_ascii=False, separators=(",", ":")))
    return 0


@record(slots=True)
class LineUser:
    """Answers with the reply that came with the line, or else as the command line said."""

    otherwise: Answerer | None
    reply: Reply | None = None

    def __call__(self, question: Question) -> "Said | Awaitable[Said]":
        if self.reply is not None:
            return self.reply
        return self.otherwise(question) if self.otherwise else Reply(kind="reject", message=NOBODY)


@record(slots=True)
class Calls:
    """Carries calls out, all in one session unless each is to have its own."""

    workspace: Workspace
    options: argparse.Namespace
    user: LineUser
    _session: Session | None = None

    async def answer_line(self, data: bytes) -> Json:
        try:
            line = json_object(_text_of(data), "A line")
            if not isinstance(line.get("tool"), str):
                raise UsageError('A line needs a "tool", as in {"tool": "read", "args": {"filePath": "a.txt"}}.')
            return await self.answer(line)
        except UsageError as error:
            return _answer("", Result.failed(ToolError(str(error), "schema")), [], 0.0)

    async def answer(self, line: Json) -> Json:
        dry = bool(line.get("dryRun", self.options.dry_run))
        agent = line.get("agent") or self.options.agent
        if not isinstance(agent, str):
            raise UsageError(f'"agent" must be the name of an agent, not {agent!r}.')
        session = self._current()
        turn = session.idle_terms(agent)
        call = _call_of(line)
        self.user.reply = _reply_of(line.get("reply"))
        log: list[AskedRequest] = []
        started = time.perf_counter()
        result = await session.run_call(call, turn, log=log, gate=self.workspace.dry_gate() if dry else None)
        if isinstance(result.error, DryRunOver):
            result = Result(str(result.error), title="dry run")
        _, parsed = self.workspace.caller.found(call)
        return _answer(parsed.tool, result, log, time.perf_counter() - started)

    def _current(self) -> Session:
        if self._session is None or self.options.fresh:
            provider, model = split_model(self.options.model)
            self._session = self.workspace.session(provider=provider, model=model)
        return self._session


def _text_of(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(f"A line is not UTF-8 text: {error.reason} at byte {error.start}.") from error


def _call_of(line: Json) -> Call:
    arguments = line.get("args", {})
    if isinstance(arguments, str):
        return call_from_text(new_id("call"), line["tool"], arguments)
    return Call(id=new_id("call"), tool=line["tool"], arguments=arguments)


def _reply_of(value: Any) -> Reply | None:
    """`"once"`, or an object with more to say. A lasting approval given by a program ends with its session."""
    if value is None:
        return None
    fields = {"reply": value} if isinstance(value, str) else value
    if not isinstance(fields, dict) or fields.get("reply") not in ("once", "always", "reject"):
        raise UsageError(f'"reply" must be once, always or reject, not {value!r}.')
    return Reply(kind=fields["reply"], message=fields.get("message", ""), scope=fields.get("scope", "session"))


def _answer(tool: str, result: Result, log: list[AskedRequest], seconds: float) -> Json:
    # A call that could not be made is answered, as the reference has it; its kind tells what was wrong.
    failed = result.error is not None and tool != INVALID
    kind = result.error.kind if result.error is not None else None
    return {
        "status": "error" if failed else "completed",
        "tool": tool,
        "title": result.title,
        "output": "" if failed else result.output,
        "metadata": to_json(result.metadata),
        "attachments": to_json(result.attachments),
        "error": result.output if failed else None,
        "kind": kind,
        "requests": [_request(entry) for entry in log],
        "ms": round(seconds * 1000, 3),
    }


def _request(entry: AskedRequest) -> Json:
    request = entry.judgement.request
    fields: Json = {
        "permission": request.permission,
        "patterns": list(request.patterns),
        "always": [one.text for one in offered(request)],
        "decision": entry.judgement.action,
        "metadata": to_json(request.metadata),
    }
    return fields | ({"reply": entry.reply} if entry.reply else {})
