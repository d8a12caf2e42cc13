"""tw run: one prompt, answered by an agent, with its tools at work."""

import argparse
import asyncio
import os
import signal
import sys
from dataclasses import replace

from toolwright.cli.dispatch import DONE, FAILED, LIMIT, REFUSED, STOPPED
from toolwright.cli.options import note, open_from, parser
from toolwright.cli.progress import JsonLines, Live, Quiet
from toolwright.cli.questions import answerer
from toolwright.cli.terminal import read_line
from toolwright.errors import ToolwrightError, UsageError
from toolwright.session.budget import Budget
from toolwright.session.result import TurnResult
from toolwright.session.session import Session
from toolwright.workspace import Workspace


def main(arguments: list[str]) -> int:
    options = _parser().parse_args(arguments)
    return asyncio.run(_run(options))


def _parser() -> argparse.ArgumentParser:
    made = parser(
        "run",
        "Give an agent one prompt and watch it work. The answer goes to stdout, everything else to stderr.",
        examples=(
            "  tw run 'why does test_login fail?' --model anthropic/claude-sonnet-5-5\n"
            "  tw run 'and now fix it' --continue\n"
            "  tw run 'what changed here?' -f CHANGELOG.md --agent plan --format json\n"
            "  tw run --command review main\n"
            "  tw run 'play it' --model scripted/turns.json"
        ),
    )
    made.add_argument("prompt", nargs="*", help="what you want; read from stdin if it is piped in")
    made.add_argument("--command", default="", metavar="NAME", help="carry out a command; each word is an argument")
    made.add_argument("--agent", default="", help="the agent to ask (build)")
    made.add_argument("--model", "-m", default="", metavar="P/M", help="the model to use")
    made.add_argument("--variant", default="", metavar="NAME", help="how much it thinks: low, medium, high or max")
    made.add_argument("--continue", "-c", dest="go_on", action="store_true", help="go on with the last session")
    made.add_argument("--session", "-s", default="", metavar="ID", help="go on with this session")
    made.add_argument("--title", default="", help="name a new session")
    made.add_argument("--file", "-f", action="append", default=[], help="send a file along; may be given again")
    made.add_argument("--format", choices=("text", "json"), default="text", help="json: one event a line")
    made.add_argument("--yes", action="store_true", help="allow whatever is asked (what a rule denies stays denied)")
    made.add_argument("--no", action="store_true", help="refuse whatever is asked")
    made.add_argument("--max-steps", type=int, metavar="N", help="stop after so many steps")
    made.add_argument("--max-tokens", type=int, metavar="N", help="stop after so many tokens")
    made.add_argument("--max-cost", type=float, metavar="DOLLARS", help="stop after so much money")
    made.add_argument("--max-seconds", type=float, metavar="N", help="stop after so much time")
    return made


async def _run(options: argparse.Namespace) -> int:
    user = answerer(yes=options.yes, no=options.no)
    async with open_from(options, answer=user, keep=True) as workspace:
        options.model = options.model or await _offered_model(workspace, options)
        if options.command:
            workspace.commands[options.command]  # an unknown one leaves no empty session behind
        session = _session(workspace, options)
        result = await _answered(workspace, session, options)
        await workspace.titles.settled()
        return _told(result, options)


async def _offered_model(workspace: Workspace, options: argparse.Namespace) -> str:
    """A model that runs on this machine, if none is chosen anywhere and the person at the terminal wants it."""
    agent = workspace.agents.by_name.get(options.agent) if options.agent else workspace.agents.default()
    chosen = workspace.default_model or (agent.model if agent else "")
    if chosen or options.go_on or options.session or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return ""
    from toolwright.models.local_servers import find_local_servers

    names = [f"{server.provider}/{model.id}" for server in find_local_servers() for model in server.models]
    if not names:
        return ""
    note(f"No model is chosen, but {names[0]} runs on this machine. Use it? y yes, n no")
    return names[0] if (await read_line()).strip().lower() in ("y", "yes") else ""


def _session(workspace: Workspace, options: argparse.Namespace) -> Session:
    if options.session and options.go_on:
        raise UsageError("--session and --continue both say which session; give one of them.")
    sessions = workspace.sessions
    if options.session:
        return sessions.open(options.session)
    if options.go_on:
        return sessions.open(sessions.latest().id)
    return sessions.create(title=options.title)


def _budget(budget: Budget, options: argparse.Namespace) -> Budget:
    given = {
        "steps": options.max_steps,
        "tokens": options.max_tokens,
        "cost": options.max_cost,
        "seconds": options.max_seconds,
    }
    return replace(budget, **{name: value for name, value in given.items() if value is not None})


def _text(options: argparse.Namespace) -> str:
    text = " ".join(options.prompt)
    if not sys.stdin.isatty() and not text and not options.command:
        text = sys.stdin.read()
    return text


async def _answered(workspace: Workspace, session: Session, options: argparse.Namespace) -> TurnResult:
    if options.format == "json":
        workspace.bus.subscribe(JsonLines(session.id))
    elif sys.stdout.isatty():
        workspace.bus.subscribe(Live(session.id, colour=_wants_colour()))
    else:
        workspace.bus.subscribe(Quiet(session.id))
    task = asyncio.create_task(_asked(workspace, session, options))
    _stop_on_interrupt(session)
    try:
        return await task
    except ToolwrightError:
        # A prompt that could not even be taken leaves no empty session behind.
        if not session.conversation.messages:
            await workspace.sessions.delete(session.id)
        raise


async def _asked(workspace: Workspace, session: Session, options: argparse.Namespace) -> TurnResult:
    text, agent, model = _text(options), options.agent, options.model
    if options.command:
        from toolwright.commands import fill_in, is_subtask

        command = workspace.commands[options.command]
        text = await fill_in(command, options.prompt, session)
        agent, model = command.agent or agent, model or command.model
        if is_subtask(command, session):
            session = workspace.sessions.create(title=f"/{command.name}", parent=session)
    return await session.prompt(
        text,
        files=options.file,
        agent=agent,
        model=model,
        variant=options.variant,
        budget=_budget(workspace.turn_settings.budget, options),
    )


def _wants_colour() -> bool:
    return sys.stderr.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def _stop_on_interrupt(session: Session) -> None:
    """Ctrl-C once stops the turn and lets everything be put away; twice ends at once."""
    loop = asyncio.get_running_loop()
    stopping: list[asyncio.Task[None]] = []

    def interrupted() -> None:
        if stopping:
            raise KeyboardInterrupt
        note("stopping; once more to end at once")
        stopping.append(loop.create_task(session.abort()))

    loop.add_signal_handler(signal.SIGINT, interrupted)
    loop.add_signal_handler(signal.SIGTERM, interrupted)


_EXIT_CODES = {"MessageAbortedError": STOPPED, "LimitReachedError": LIMIT}


def _told(result: TurnResult, options: argparse.Namespace) -> int:
    """Print what is left to print, and say by exit code how it went."""
    if options.format == "text" and not sys.stdout.isatty() and result.text:
        print(result.text)
    if result.error is not None:
        note(f"tw: {result.error}")
        return _EXIT_CODES.get(result.error.kind, FAILED)
    if result.finish == "length":
        note("tw: the answer was truncated at the model's limit")
    refused = [call for call in result.refused if call.result.error and call.result.error.kind == "rejected"]
    for call in refused:
        note(f"refused: {call.tool} {call.result.output.splitlines()[0]}")
    if options.format == "text":
        note(f"session {result.session_id}")
    return REFUSED if refused else DONE
