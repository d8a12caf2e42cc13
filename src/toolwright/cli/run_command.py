"""tw run: one prompt, answered by an agent, with its tools at work."""

import argparse
import asyncio
import os
import signal
import sys
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

from toolwright.chat.renderer import Renderer
from toolwright.cli.dispatch import DONE, FAILED, LIMIT, REFUSED, STOPPED, USAGE
from toolwright.cli.input import with_piped
from toolwright.cli.json_lines import JsonLines, line_schema
from toolwright.cli.options import named_session, note, open_from, parser, plural, positive, print_json
from toolwright.cli.other_setups import of_project, untrusted_files
from toolwright.cli.progress import Quiet
from toolwright.cli.questions import answerer
from toolwright.cli.refusals import Refusals
from toolwright.cli.terminal import is_terminal, read_line
from toolwright.display import visible
from toolwright.errors import ToolwrightError, UsageError
from toolwright.models.families import require_price, require_variant
from toolwright.session.asking import attached_file
from toolwright.session.budget import Budget
from toolwright.session.result import TurnResult
from toolwright.session.session import Session
from toolwright.workspace import Workspace


def main(arguments: list[str]) -> int:
    options = _parser().parse_args(arguments)
    if options.schema:
        print_json(line_schema())
        return DONE
    if options.output:
        _check_writable(options.output)
    if options.attach:
        from toolwright.cli.attached import run_attached

        return asyncio.run(run_attached(options))
    return asyncio.run(_run(options))


def _parser() -> argparse.ArgumentParser:
    made = parser(
        "run",
        "Give an agent one prompt and watch it work. The answer goes to stdout, everything else to stderr.",
        examples=(
            "  tw run 'why does test_login fail?' --model anthropic/claude-sonnet-5-5\n"
            "  tw run 'and now fix it' --continue\n"
            "  tw run 'what changed here?' -f CHANGELOG.md --agent plan --format json\n"
            "  git diff | tw run 'review this diff' --output review.md\n"
            "  tw run --command review main\n"
            "  tw run 'play it' --model scripted/turns.json"
        ),
    )
    made.add_argument("prompt", nargs="*", default=[], help="what you want; what is piped in is added to it")
    made.add_argument("--command", default="", metavar="NAME", help="carry out a command; each word is an argument")
    made.add_argument("--agent", default="", help="the agent to ask (build)")
    made.add_argument("--model", "-m", default="", metavar="P/M", help="the model to use")
    made.add_argument("--variant", default="", metavar="NAME", help="how much it thinks: low, medium, high or max")
    made.add_argument("--continue", "-c", dest="go_on", action="store_true", help="go on with the last session")
    made.add_argument("--session", "-s", default="", metavar="ID", help="go on with this session")
    made.add_argument("--title", default="", help="name a new session")
    made.add_argument("--file", "-f", action="append", default=[], help="send a file along; may be given again")
    made.add_argument("--attach", default="", metavar="URL", help="have it answered by this server (tw serve)")
    made.add_argument("--format", choices=("text", "json"), default="text", help="json: one event per line")
    made.add_argument("--output", "-o", default="", metavar="FILE", help="write the answer to this file too")
    made.add_argument("--schema", action="store_true", help="print the JSON Schema of the lines of --format json")
    made.add_argument("--yes", action="store_true", help="allow whatever is asked (what a rule denies stays denied)")
    made.add_argument("--no", action="store_true", help="refuse whatever is asked")
    made.add_argument("--max-steps", type=positive(int), metavar="N", help="stop after so many steps")
    made.add_argument("--max-tokens", type=positive(int), metavar="N", help="stop after so many tokens")
    made.add_argument("--max-cost", type=positive(float), metavar="DOLLARS", help="stop after so much money")
    made.add_argument("--max-seconds", type=positive(float), metavar="N", help="stop after so much time")
    return made


async def _run(options: argparse.Namespace) -> int:
    user = answerer(options)
    text = "" if options.command else with_piped(" ".join(options.prompt))
    async with open_from(options, answer=user, keep=True) as workspace:
        options.model = options.model or await _offered_model(workspace, options)
        if options.command:
            if ":" in options.command and workspace.settings.mcp:
                await workspace.mcp.known()
            workspace.commands[options.command]  # an unknown one leaves no empty session behind
        with _told_as_line(view_of("", options)):
            _check(workspace, options)
        _tell_no_command(workspace, text)
        session = await _session(workspace, options)
        view = view_of(session.id, options)
        refusals = Refusals()
        workspace.bus.subscribe(view)
        workspace.bus.subscribe(refusals)
        with _told_as_line(view):
            async with view.ticking() if isinstance(view, Renderer) else nullcontext():
                result = await _answered(workspace, session, text, options)
        if result.error is None:
            await workspace.titles.settled()
        return told(result, view, refusals, options)


def _check(workspace: Workspace, options: argparse.Namespace) -> None:
    """Raise for whatever can be known to be wrong before there is a session."""
    agent = workspace.agents[options.agent] if options.agent else None
    for name in options.file:
        attached_file(workspace.directory, name)
    goes_on = options.session or options.go_on
    name = options.model or (agent.model if agent else "") or ("" if goes_on else workspace.default_model)
    if not name:
        return
    info = workspace.connections.open(name).info
    require_variant(info, options.variant)
    if options.max_cost is not None:
        require_price(info)


def _tell_no_command(workspace: Workspace, text: str) -> None:
    """What looks like a command and is none is a prompt like any other; a misspelt one should not go unnoticed."""
    name = text[1:].split(maxsplit=1)[0] if text[:1] == "/" and text[1:].strip() else ""
    if name.replace("-", "").isalnum() and name not in workspace.commands and not Path(f"/{name}").exists():
        note(f"There is no command /{name} (tw command list has them); it is sent as words.")


async def _offered_model(workspace: Workspace, options: argparse.Namespace) -> str:
    """A model that runs on this machine, if none is chosen anywhere and the person at the terminal wants it."""
    agent = workspace.agents.by_name.get(options.agent) if options.agent else workspace.agents.default()
    chosen = workspace.default_model or (agent.model if agent else "")
    if chosen or options.go_on or options.session or not (is_terminal(sys.stdin) and is_terminal(sys.stderr)):
        return ""
    from toolwright.models.local_servers import find_local_servers

    names = [f"{server.provider}/{model.id}" for server in find_local_servers() for model in server.models]
    if not names:
        return ""
    note(f"No model is chosen, but {names[0]} runs on this machine. Use it? y yes, n no")
    return names[0] if (await read_line()).strip().lower() in ("y", "yes") else ""


View = JsonLines | Renderer | Quiet


@contextmanager
def _told_as_line(view: View) -> Iterator[None]:
    """Who reads JSON is told of a prompt that could not even be taken as of any other."""
    try:
        yield
    except ToolwrightError as error:
        if isinstance(view, JsonLines):
            usage = isinstance(error, UsageError)
            view.fail(error, USAGE if usage else FAILED, "usage" if usage else "failed")
        raise


def view_of(session_id: str, options: argparse.Namespace) -> View:
    """What shows the session as it works."""
    if options.format == "json":
        return JsonLines(session_id)
    return Renderer.of_terminal(session_id) if is_terminal(sys.stdout) else Quiet(session_id)


async def _session(workspace: Workspace, options: argparse.Namespace) -> Session:
    if options.session and options.go_on:
        raise UsageError("--session and --continue both say which session; give one of them.")
    sessions = workspace.sessions
    if options.session:
        return await sessions.open((await named_session(workspace, options.session)).id)
    if options.go_on:
        return await sessions.open((await sessions.latest()).id)
    if not await sessions.listed(1):
        _tell_what_is_not_used(workspace)
    return sessions.create(title=options.title)


def _tell_what_is_not_used(workspace: Workspace) -> None:
    """Once for a project: whoever comes from another program should not wonder where things have gone."""
    found = of_project(workspace.directory, workspace.folders, workspace.config)
    kinds = dict.fromkeys(f"{one.kind} of {one.program}" for one in found if one.why)
    if kinds:
        note(f"not used here: {', '.join(kinds)}; tw doctor tells why")
    waiting = [] if workspace.trusted else untrusted_files(workspace.directory, workspace.folders)
    if waiting:
        brought = plural(len(waiting), "file")
        note(f"not used until you trust the project: {brought} of agents, commands and code; tw trust shows them")


def _budget(budget: Budget, options: argparse.Namespace) -> Budget:
    given = {
        "steps": options.max_steps,
        "tokens": options.max_tokens,
        "cost": options.max_cost,
        "seconds": options.max_seconds,
    }
    return replace(budget, **{name: value for name, value in given.items() if value is not None})


def _check_writable(file: str) -> None:
    """Whether the answer can be written there, found out before anything is sent."""
    try:
        Path(file).open("a").close()
    except OSError as error:
        raise UsageError(f"--output {file} cannot be written: {error.strerror}.") from error


async def _answered(workspace: Workspace, session: Session, text: str, options: argparse.Namespace) -> TurnResult:
    task = asyncio.create_task(_asked(workspace, session, text, options))
    stop_on_interrupt(session.abort)
    try:
        return await task
    except ToolwrightError:
        # A prompt that could not even be taken leaves no empty session behind.
        if not session.conversation.messages:
            await workspace.sessions.delete(session.id)
        raise


async def _asked(workspace: Workspace, session: Session, text: str, options: argparse.Namespace) -> TurnResult:
    agent, model = options.agent, options.model
    if options.command or text.startswith("/"):
        from toolwright.commands import called_by, fill_in, is_subtask

        called = called_by(text, workspace.commands)
        if options.command:
            called = workspace.commands[options.command], options.prompt
        if called is not None:
            command, words = called
            text = await fill_in(command, words, session)
            agent, model = command.agent or agent, model or command.model
            # A conversation that begins with a command has nothing to keep it apart from, and is gone on with.
            if session.conversation.messages and is_subtask(command, session):
                session = workspace.sessions.create(title=f"/{command.name}", parent=session)
    return await session.prompt(
        text,
        files=options.file,
        agent=agent,
        model=model,
        variant=options.variant,
        budget=_budget(workspace.turn_settings.budget, options),
    )


def stop_on_interrupt(abort: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Ctrl-C once stops the turn and lets everything be put away; twice ends this program at once."""
    loop = asyncio.get_running_loop()
    stopping: list[asyncio.Task[None]] = []

    def interrupted() -> None:
        if stopping:
            # Not an exception: on its way up it would wait for whatever has made the person press it again.
            os._exit(STOPPED)
        note("stopping; once more to end at once")
        stopping.append(loop.create_task(abort()))

    loop.add_signal_handler(signal.SIGINT, interrupted)
    loop.add_signal_handler(signal.SIGTERM, interrupted)


_ENDS = {"MessageAbortedError": (STOPPED, "stopped"), "LimitReachedError": (LIMIT, "limit")}


def _end(result: TurnResult, refusals: Refusals) -> tuple[int, str]:
    """The exit code, and the word for it."""
    if result.error is not None:
        return _ENDS.get(result.error.kind, (FAILED, "failed"))
    if refusals.answered_no:
        return REFUSED, "refused"
    return DONE, "truncated" if result.finish == "length" else "done"


def told(result: TurnResult, view: View, refusals: Refusals, options: argparse.Namespace) -> int:
    """Print what is left to print, and say by exit code how it went."""
    code, reason = _end(result, refusals)
    if options.output:
        Path(options.output).write_text(f"{result.text}\n" if result.text else "", "utf-8")
    if isinstance(view, Quiet) and result.text:
        print(visible(result.text) if is_terminal(sys.stdout) else result.text)
    if result.error is not None:
        note(f"tw: {result.error}")
    if result.finish == "length":
        note("tw: the answer was truncated at the model's limit")
    if code == REFUSED:
        for one in refusals.answered_no:
            note(visible(f"refused: {one.tool}, which asked for {one.what}", lines=False))
    if isinstance(view, JsonLines):
        view.end(result, refusals.of(result), code, reason)
    else:
        note(_summary(result))
    return code


def _summary(result: TurnResult) -> str:
    spent = f"{plural(result.steps, 'step')}, {plural(result.tokens.total, 'token')}"
    cost = f", ${result.cost:.4f}" if result.cost else ""
    return f"session {result.session_id}  {spent}{cost}"
