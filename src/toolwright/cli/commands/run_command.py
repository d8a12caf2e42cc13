"""tw run: one prompt, answered by an agent, with its tools at work."""

import argparse
import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager, nullcontext, suppress
from functools import partial
from pathlib import Path
from typing import Any

from toolwright.app.desk import Desk
from toolwright.app.line import NamedPrompts, OwnLine, PromptLine, meaning_of
from toolwright.app.naming import named_session
from toolwright.app.project import LocalProject, Project
from toolwright.app.words import plural
from toolwright.cli.actions.foreign_configs import of_project, untrusted_files
from toolwright.cli.dispatch import DONE, FAILED, LIMIT, REFUSED, STOPPED, USAGE
from toolwright.cli.options import note, open_from, print_json
from toolwright.cli.output import say_result
from toolwright.cli.run.input import with_piped
from toolwright.cli.run.json_lines import JsonLines, line_schema
from toolwright.cli.run.options import budget_of, goal_from, output_of, require_writable, run_parser
from toolwright.cli.run.progress import Quiet
from toolwright.cli.run.questions import answerer
from toolwright.cli.run.refusals import Refusals
from toolwright.commands import given_call
from toolwright.deadline import time_limit
from toolwright.errors import ToolwrightError, UsageError
from toolwright.events import Event
from toolwright.inbox import Answerer
from toolwright.models.known.families import require_price, require_variant
from toolwright.proof.evidence import Evidence
from toolwright.session.asking import attached_file
from toolwright.session.events import SessionIdle
from toolwright.session.prompt import Prompt
from toolwright.session.result import TurnResult
from toolwright.terminal.renderer import Renderer
from toolwright.terminal.typed import is_terminal, read_line
from toolwright.text.display import visible
from toolwright.workspace import Workspace

_parser = run_parser
REST = 1.0
"""Seconds that the news of a turn may take behind its answer."""


def main(arguments: list[str]) -> int:
    options = _parser().parse_args(arguments)
    if options.schema:
        print_json(line_schema())
        return DONE
    if options.output:
        require_writable(options.output)
    options.wanted = output_of(options.json_schema) if options.json_schema else None
    options.goal = goal_from(options)
    options.budget = None
    if options.fork and not (options.session or options.go_on):
        raise UsageError("--fork copies a session: say which with --session or --continue.")
    if options.every:
        from toolwright.cli.run.repeated import run_every

        return run_every(options, lambda: _once(argparse.Namespace(**vars(options))))
    for name in ("if_fails", "if_output", "if_changed"):
        if getattr(options, name):
            raise UsageError(f"--{name.replace('_', '-')} goes with --every.")
    return _once(options)


def _once(options: argparse.Namespace) -> int:
    """Run here, in the background, in copies or in a conversation, as the options say."""
    if options.bg:
        from toolwright.cli.run.background import begin_run

        return asyncio.run(begin_run(options))
    if options.parallel is not None:
        from toolwright.cli.commands.run_in_parallel import run_in_parallel

        return asyncio.run(run_in_parallel(options))
    if options.check or options.keep_all:
        raise UsageError(
            "--check and --keep-all go with --parallel; --until has a single run go on until a command holds."
        )
    if options.copy:
        from toolwright.cli.run.copy import run_in_copy

        return run_in_copy(options, lambda: asyncio.run(_run(options)))
    if options.interactive:
        return _converse(options)
    return asyncio.run(_run(options))


async def _run(options: argparse.Namespace) -> int:
    """Give a prompt to a project of this machine or of a server, show what happens, and return how it went."""
    text = "" if options.command else with_piped(" ".join(options.prompt))
    async with _project(options, answerer(options)) as project:
        with _errors_as_lines(view_of("", options)):
            prompt = prompt_of(project, text, options)
        if text.startswith("/"):
            tell_no_command(text, {one.name for one in await project.commands()})
        desk = await _desk(project, options)
        session_id = desk.require_session().id
        view, refusals, rested = view_of(session_id, options), Refusals(), asyncio.Event()

        def hear(event: Event) -> None:
            view(event)
            refusals(event)
            if isinstance(event, SessionIdle) and event.session_id == session_id:
                rested.set()

        project.subscribe(hear)
        stop_on_interrupt(partial(project.abort, session_id))
        with _errors_as_lines(view):
            async with view.ticking() if isinstance(view, Renderer) else nullcontext():
                result = await desk.prompt(prompt)
                # What a server tells of the turn is shown before its end is.
                with suppress(TimeoutError):
                    async with time_limit(REST):
                        await rested.wait()
        if result.error is None and isinstance(project, LocalProject):
            await project.workspace.titles.settled()
        return told(result, view, refusals, options)


@asynccontextmanager
async def _project(options: argparse.Namespace, user: Answerer | None) -> AsyncIterator[Project]:
    """The project that is asked, ready to be asked."""
    if options.attach:
        from toolwright.cli.run.attached import on_server

        async with on_server(options, user) as project:
            yield project
        return
    async with open_from(options, answer=user, keep=True) as workspace:
        options.model = options.model or await _offered_model(workspace, options)
        if options.command:
            if ":" in options.command and workspace.settings.mcp:
                await workspace.mcp.known()
            workspace.commands[options.command]  # an unknown one leaves no empty session behind
        with _errors_as_lines(view_of("", options)):
            _check(workspace, options)
        options.budget = budget_of(workspace.turn_settings.budget, options)
        if not (options.session or options.go_on or await workspace.sessions.listed(1)):
            _tell_what_is_not_used(workspace)
        yield LocalProject(workspace)


def _converse(options: argparse.Namespace) -> int:
    """Begin a conversation with the prompt instead of answering it alone."""
    from toolwright.cli.commands import chat_command

    words = ["--trust"] if getattr(options, "trust", False) else []
    words += [f"--directory={options.directory}"] if "directory" in options else []
    for name in ("agent", "model", "session"):
        words += [f"--{name}={value}"] if (value := getattr(options, name)) else []
    refusable = {"fork": options.fork, "attach": options.attach, "command": options.command, "file": options.file}
    if refused := [name for name, value in refusable.items() if value]:
        raise UsageError(f"--interactive cannot be given with --{refused[0]}: say it in the conversation.")
    return chat_command.main([*words, *(["--continue"] if options.go_on else []), "--", *options.prompt])


def _check(workspace: Workspace, options: argparse.Namespace) -> None:
    """Raise for whatever can be known to be wrong before there is a session."""
    agent = workspace.agents[options.agent] if options.agent else None
    goes_on = options.session or options.go_on
    name = options.model or (agent.model if agent else "") or ("" if goes_on else workspace.default_model)
    if not name:
        return
    info = workspace.connections.open(name).info
    require_variant(info, options.variant)
    if options.max_cost is not None:
        require_price(info)


def tell_no_command(text: str, named: NamedPrompts) -> None:
    """Say that what looks like a command is none: it is a prompt like any other, but a misspelt one is not meant so."""
    match meaning_of(text, named, "screen"):
        case PromptLine(unknown=str(name)) if name:
            note(f"There is no command /{name} (tw command list has them); it is sent as words.")
        case OwnLine(command=command):
            note(f"/{command.name} is a command of conversations (tw), not of tw run; it is sent as words.")
        case _:
            pass


async def _offered_model(workspace: Workspace, options: argparse.Namespace) -> str:
    """A model that runs on this machine, if none is chosen anywhere and the person at the terminal wants it."""
    agent = workspace.agents.find(options.agent) if options.agent else workspace.agents.default()
    chosen = workspace.default_model or (agent.model if agent else "")
    if chosen or options.go_on or options.session or not (is_terminal(sys.stdin) and is_terminal(sys.stderr)):
        return ""
    from toolwright.models.known.local_servers import find_local_servers

    names = [f"{server.provider}/{model.id}" for server in find_local_servers() for model in server.models]
    if not names:
        return ""
    note(f"No model is chosen, but {names[0]} runs on this machine. Use it? y yes, n no")
    return names[0] if (await read_line()).strip().lower() in ("y", "yes") else ""


View = JsonLines | Renderer | Quiet


@contextmanager
def _errors_as_lines(view: View) -> Iterator[None]:
    """Report a refused prompt as a line too, with --format json."""
    try:
        yield
    except ToolwrightError as error:
        if isinstance(view, JsonLines):
            usage = isinstance(error, UsageError)
            view.fail(error, USAGE if usage else FAILED, "usage" if usage else "failed")
        raise


def view_of(session_id: str, options: argparse.Namespace) -> View:
    """Return the view that shows the session as it works."""
    if options.format == "json":
        return JsonLines(session_id)
    if is_terminal(sys.stdout):
        return Renderer.of_terminal(session_id, thinking=options.thinking)
    return Quiet(session_id, thinking=options.thinking)


async def _desk(project: Project, options: argparse.Namespace) -> Desk:
    """Begin a session, or go on with the one that is named, or with a copy of it."""
    if options.session and options.go_on:
        raise UsageError("--session and --continue both say which session; give one of them.")
    desk = Desk(project=project, agent=options.agent)
    if name := options.session or ("last" if options.go_on else ""):
        chosen = await named_session(project, name)
        desk.session = await (project.fork(chosen.id) if options.fork else project.resume(chosen.id))
    else:
        await desk.begin(options.title)
    return desk


def _tell_what_is_not_used(workspace: Workspace) -> None:
    """Once for a project: whoever comes from another program should not wonder where things have gone."""
    setups = of_project(workspace.directory, workspace.folders, workspace.config)
    kinds = dict.fromkeys(f"{one.kind} of {one.program}" for one in setups if one.why)
    if kinds:
        note(f"not used here: {', '.join(kinds)}; tw doctor tells why")
    waiting = [] if workspace.trusted else untrusted_files(workspace.directory, workspace.folders)
    if waiting:
        brought = plural(len(waiting), "file")
        note(f"not used until you trust the project: {brought} of agents, commands and code; tw trust shows them")


def prompt_of(project: Project, text: str, options: argparse.Namespace) -> Prompt:
    """Return what the command line asks for."""
    folder = Path.cwd() if options.attach else project.directory
    return Prompt(
        text=text,
        command=given_call(options.command, options.prompt) if options.command else None,
        files=tuple(attached_file(folder, file) for file in options.file),
        agent=options.agent,
        model=options.model,
        variant=options.variant,
        budget=options.budget,
        output=options.wanted,
        until=options.goal,
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


_ENDS = {
    "aborted": (STOPPED, "stopped"),
    "limit": (LIMIT, "limit"),
    "goal": (LIMIT, "limit"),
}


def _end(result: TurnResult, refusals: Refusals) -> tuple[int, str]:
    """The exit code, and the word for it."""
    if result.error is not None:
        return _ENDS.get(result.error.kind, (FAILED, "failed"))
    if refusals.answered_no:
        return REFUSED, "refused"
    if result.evidence is not None and result.evidence.verdict != "proven":
        return LIMIT, "limit"
    return DONE, "truncated" if result.finish == "length" else "done"


def told(result: TurnResult, view: View, refusals: Refusals, options: argparse.Namespace) -> int:
    """Print what is left to print, and say by exit code how it went."""
    code, reason = _end(result, refusals)
    text = result.text if options.wanted is None or result.error else json.dumps(result.output, ensure_ascii=False)
    if options.output:
        Path(options.output).write_text(f"{text}\n" if text else "", "utf-8")
    if isinstance(view, Quiet) and text:
        say_result(text)
    if result.error is not None:
        note(f"tw: {result.error}")
    if result.evidence is not None:
        _tell_verdict(result.evidence)
    if result.finish == "length":
        note("tw: the answer was truncated at the model's limit")
    if code == REFUSED:
        for refusal in refusals.answered_no:
            note(visible(f"refused: {refusal.tool}, which asked for {refusal.what}", lines=False))
    if isinstance(view, JsonLines):
        view.end(result, refusals.of(result), code, reason)
    else:
        note(_summary(result))
    return code


def _tell_verdict(evidence: Evidence) -> None:
    note(f"{evidence.verdict.replace('_', ' ')}: {plural(len(evidence.checks), 'check')}")
    for reason in evidence.reasons:
        note(visible(f"  {reason.kind}: {reason.text}", lines=False))


def _summary(result: TurnResult) -> str:
    spent = f"{plural(result.steps, 'step')}, {plural(result.tokens.total, 'token')}"
    cost = f", ${result.cost:.4f}" if result.cost else ""
    return f"session {result.session_id}  {spent}{cost}"
