"""tw run: one prompt, answered by an agent, with its tools at work."""

import argparse
import asyncio
import os
import signal
import sys
from dataclasses import replace

from toolwright.app import Workspace
from toolwright.cli.dispatch import DONE, FAILED, LIMIT, REFUSED, STOPPED
from toolwright.cli.options import note, open_from, parser
from toolwright.cli.progress import JsonLines, Live, Quiet
from toolwright.cli.questions import TerminalUser, answerer, terminal_responder
from toolwright.errors import ToolwrightError, UsageError
from toolwright.messages import Assistant, Message
from toolwright.services import Questions
from toolwright.session.budget import Budget
from toolwright.session.prompt import Attached, Prompt
from toolwright.session.questions import AskedQuestions
from toolwright.session.title import Titles
from toolwright.session.turns import Turns


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
            "  tw run 'play it' --model scripted/turns.json"
        ),
    )
    made.add_argument("prompt", nargs="*", help="what you want; read from stdin if it is piped in")
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
    workspace = open_from(options, answer=user, keep=True)
    if isinstance(user, TerminalUser):
        user.broker = workspace.broker
    try:
        options.model = options.model or _offered_model(workspace, options)
        turns = _session(workspace, options)
        questions = workspace.services.use(Questions)
        if isinstance(questions, AskedQuestions) and isinstance(user, TerminalUser):
            questions.respond = terminal_responder(questions)
        message = await _answered(workspace, turns, _prompt(options), options)
        await workspace.services.use(Titles).settled()
        return _told(turns, message, options)
    finally:
        await workspace.close()


def _offered_model(workspace: Workspace, options: argparse.Namespace) -> str:
    """A model that runs on this machine, if none is chosen anywhere and the person at the terminal wants it."""
    agent = workspace.agents.by_name.get(options.agent) if options.agent else workspace.agents.default()
    chosen = workspace.config.get("model", default="") or (agent.model if agent else "")
    if chosen or options.go_on or options.session or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return ""
    from toolwright.models.local_servers import find_local_servers

    names = [f"{server.provider}/{model.id}" for server in find_local_servers() for model in server.models]
    if not names:
        return ""
    note(f"No model is chosen, but {names[0]} runs on this machine. Use it? y yes, n no")
    return names[0] if sys.stdin.readline().strip().lower() in ("y", "yes") else ""


def _session(workspace: Workspace, options: argparse.Namespace) -> Turns:
    if options.session and options.go_on:
        raise UsageError("--session and --continue both say which session; give one of them.")
    sessions = workspace.sessions
    if options.session:
        turns = sessions.open(options.session)
    elif options.go_on:
        turns = sessions.open(sessions.latest().id)
    else:
        turns = sessions.create(title=options.title)
    turns.budget = _budget(turns.budget, options)
    return turns


def _budget(budget: Budget, options: argparse.Namespace) -> Budget:
    given = {
        "steps": options.max_steps,
        "tokens": options.max_tokens,
        "cost": options.max_cost,
        "seconds": options.max_seconds,
    }
    return replace(budget, **{name: value for name, value in given.items() if value is not None})


def _prompt(options: argparse.Namespace) -> Prompt:
    text = " ".join(options.prompt)
    if not sys.stdin.isatty() and not text:
        text = sys.stdin.read()
    return Prompt(
        text=text,
        agent=options.agent,
        model=options.model,
        variant=options.variant,
        files=tuple(Attached(url=name) for name in options.file),
    )


async def _answered(workspace: Workspace, turns: Turns, prompt: Prompt, options: argparse.Namespace) -> Message:
    session_id = turns.session.id
    if options.format == "json":
        workspace.bus.subscribe(JsonLines(session_id))
    elif sys.stdout.isatty():
        workspace.bus.subscribe(Live(session_id, colour=_wants_colour()))
    else:
        workspace.bus.subscribe(Quiet(session_id))
    task = asyncio.create_task(turns.prompt(prompt))
    _stop_on_interrupt(turns)
    try:
        return await task
    except ToolwrightError:
        # A prompt that could not even be taken leaves no empty session behind.
        if not turns.conversation.messages:
            await workspace.sessions.delete(session_id)
        raise


def _wants_colour() -> bool:
    return sys.stderr.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def _stop_on_interrupt(turns: Turns) -> None:
    """Ctrl-C once stops the turn and lets everything be put away; twice ends at once."""
    loop = asyncio.get_running_loop()
    stopping: list[asyncio.Task[None]] = []

    def interrupted() -> None:
        if stopping:
            raise KeyboardInterrupt
        note("stopping; once more to end at once")
        stopping.append(loop.create_task(turns.abort()))

    loop.add_signal_handler(signal.SIGINT, interrupted)
    loop.add_signal_handler(signal.SIGTERM, interrupted)


_EXIT_CODES = {"MessageAbortedError": STOPPED, "LimitReachedError": LIMIT}


def _told(turns: Turns, message: Message, options: argparse.Namespace) -> int:
    """Print what is left to print, and say by exit code how it went."""
    info = message.info
    assert isinstance(info, Assistant)
    if options.format == "text" and not sys.stdout.isatty() and message.text:
        print(message.text)
    if info.error is not None:
        note(f"tw: {info.error.data.get('message', info.error.name)}")
        if options.format == "text":
            note(f"session {turns.session.id}")
        return _EXIT_CODES.get(info.error.name, FAILED)
    if info.finish == "length":
        note("tw: the answer was cut off at the model's limit")
    if options.format == "text":
        note(f"session {turns.session.id}")
    refused = any(getattr(part.state, "kind", "") == "rejected" for part in message.calls)
    return REFUSED if refused else DONE
