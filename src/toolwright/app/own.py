"""Our own `/` commands: each a function whose name is the command and whose docstring is its help."""

import json
from collections.abc import Callable, Coroutine, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from toolwright.app.desk import Desk, Room, holds
from toolwright.app.outcome import AtScreen, FileChanges, Line, Outcome, OutputLines, Pick, brief, page
from toolwright.app.shown import view_of
from toolwright.app.who_answers import account, agent, connect, model, variant
from toolwright.app.words import money
from toolwright.calls.parts import Completed, Failed, ToolPart
from toolwright.errors import UsageError
from toolwright.messages import Message, ReasoningPart, TextPart
from toolwright.record import record

if TYPE_CHECKING:
    from toolwright.session.undo.file_back import FileUndo, Selection

LISTED = 500
OTHER_NAMES = {
    "exit": "quit",
    "q": "quit",
    "clear": "new",
    "resume": "sessions",
    "continue": "sessions",
    "models": "model",
    "summarize": "compact",
    "themes": "theme",
}
"""Names that people know them by from elsewhere."""
OTHERS = (
    "!COMMAND       run a command yourself; the agent is not told of it",
    "@path, @agent  in a prompt: send the file along, or have the agent called",
)

_LOOP_USE = "/loop 10m [--times N] [--if-fails CMD | --if-output CMD | --if-changed PATH] PROMPT"

Run = Callable[[Desk, str], Coroutine[Any, Any, Outcome]]


@record(frozen=True, slots=True, kw_only=True)
class OwnCommand:
    """One of our commands."""

    run: Run
    room: Room
    """Parts that a surface must have for it."""

    @property
    def name(self) -> str:
        return self.run.__name__.rstrip("_")

    @property
    def help(self) -> str:
        """Return the first sentence of the function's docstring, as it stands in a list."""
        text = (self.run.__doc__ or "").partition("\n")[0].rstrip(".")
        return text if text[:2].isupper() else text[:1].lower() + text[1:]


def own_commands(room: Room) -> dict[str, OwnCommand]:
    """Return those that a surface has, by name, in the order of the help."""
    return {name: one for name, one in _ALL.items() if holds(room, one.room)}


def own_command(name: str, room: Room) -> OwnCommand | None:
    """Return the one of a name, or of what it is called elsewhere, if the surface has it."""
    return own_commands(room).get(OTHER_NAMES.get(name, name))


async def help_(desk: Desk, _: str) -> Outcome:
    """This list."""
    named = {one.name: one.description or "yours" for one in await desk.project.commands()}
    known = {name: one.help for name, one in own_commands(desk.room).items()} | named
    lines: list[Line] = [(f"  /{name:<13}{text}", "") for name, text in known.items()]
    return OutputLines(title="Commands", lines=[*lines, *((f"  {line}", "remark") for line in OTHERS)])


# Sessions.


async def new(desk: Desk, _: str) -> Outcome:
    """Begin a new session."""
    desk.leave()
    return brief("the next prompt begins a new session")


async def sessions(desk: Desk, name: str) -> Outcome:
    """List the sessions, go on with one, or find those that say some words."""
    if name:
        from toolwright.app.naming import named_session

        try:
            session = await named_session(desk.project, name)
        except UsageError:
            if hits := await found_entries(desk, name):
                return Pick(title=f"Sessions that say {name}", entries=hits, hint="/sessions NAME goes on with one")
            raise
        await desk.open(session.id)
        return OutputLines(reread=True)
    infos = await desk.project.sessions(LISTED)
    entries = [(one.id, f"{one.slug or one.id:<22} {one.title}") for one in infos]
    chosen = desk.session.id if desk.session else ""
    return Pick(title="Sessions", entries=entries, chosen=chosen, hint="/sessions NAME goes on with one")


async def found_entries(desk: Desk, words: str) -> list[tuple[str, str]]:
    """Look words up in all sessions: each that holds them, with a passage of it."""
    hits = await desk.project.search(words)
    return [(one.info.id, f"{one.info.title}  ·  {one.passage.text}") for one in hits[:LISTED]]


async def rename(desk: Desk, title: str) -> Outcome:
    """Give the session another title."""
    session = desk.require_session()
    if not title:
        raise UsageError("/rename takes the new title.")
    desk.session = await desk.project.rename(session.id, title)
    return brief(f"the session is called {desk.session.title!r} now")


async def fork(desk: Desk, _: str) -> Outcome:
    """Go on with a copy of the session."""
    copy = await desk.project.fork(desk.require_session().id)
    await desk.open(copy.id)
    return brief(f"this is {copy.slug} now, a copy", reread=True)


async def export(desk: Desk, file: str) -> Outcome:
    """Write the session to a file: `.md` to be read, `.json` to be imported again."""
    from toolwright.machine.private_files import update

    session = desk.require_session()
    path = desk.project.here / (file or f"{session.slug or session.id}.json")
    if path.exists():
        raise UsageError(f"There is a file {path} already; name another.")
    if path.suffix == ".md":
        text = "\n\n".join([f"# {session.title}", *_passages(await desk.project.messages(session.id))]) + "\n"
    else:
        text = json.dumps(await desk.project.exported(session.id), indent=2, ensure_ascii=False) + "\n"
    update(path, lambda _: text)
    return brief(f"written to {path}")


def _passages(messages: Sequence[Message]) -> Iterator[str]:
    """Tell a session in Markdown: what was asked and answered, and the calls in a line each."""
    for message in messages:
        is_prompt = message.info.role == "user"
        for part in message.parts.values():
            if isinstance(part, TextPart) and not part.synthetic and part.text.strip():
                yield f"## {' '.join(part.text.split())[:200]}" if is_prompt else part.text.strip()
            elif isinstance(part, ToolPart):
                yield f"- `{part.tool}` {view_of(part).subject}".rstrip()


async def goal(desk: Desk, command: str) -> Outcome:
    """Work on until a command holds, `off` not to; without one, tell what is shown."""
    if command == "off":
        desk.goal = ""
        return brief("prompts are answered once again")
    if command:
        await desk.project.check_goal(command)
        desk.goal = command
        return brief(f"the next prompts are worked on until `{command}` holds; /goal off ends that")
    lines = [f"until `{desk.goal}` holds" if desk.goal else "no goal; /goal COMMAND sets one"]
    if desk.session is not None:
        lines += await desk.project.evidence(desk.session.id)
    return page("Goal", lines)


# Changes.


async def undo(desk: Desk, what: str) -> Outcome:
    """Undo the last turn, `file PATH`, `hunk PATH NUMBER` or `call ID`; `preview` shows it first."""
    words = what.split()
    preview = "preview" in words
    selection = selection_of([word for word in words if word != "preview"])
    plans = await desk.project.undo(desk.require_session().id, selection, preview=preview)
    if preview:
        return FileChanges(title="What undoing would do", plans=plans, undoing=True, none="no file would be changed")
    return undone(plans)


async def redo(desk: Desk, _: str) -> Outcome:
    """Make again what was undone."""
    plans = await desk.project.redo(desk.require_session().id)
    return OutputLines(lines=[*_counted(plans), ("made again", "remark")], brief=True, reread=True)


async def diff(desk: Desk, _: str) -> Outcome:
    """Show what the session has changed."""
    plans = await desk.project.changes(desk.require_session().id)
    none = "the session has changed nothing that still stands"
    return FileChanges(title="What the session has changed", plans=[plan.turned() for plan in plans], none=none)


# What the session is like.


async def compact(desk: Desk, _: str) -> Outcome:
    """Replace the conversation so far with a summary."""
    await desk.project.compact(desk.require_session().id, desk.model)
    return OutputLines(reread=True)


async def cost(desk: Desk, _: str) -> Outcome:
    """Tell what the session has cost."""
    use = await desk.project.use_of(desk.require_session().id)
    each = [f"  {name:<12} {money(spent)}" for name, spent in use.by_agent.items()]
    return page("Cost", [f"{money(use.cost)} and {use.tokens:,} tokens in this session", *each])


async def context(desk: Desk, _: str) -> Outcome:
    """Tell how full the model's context is."""
    session = desk.require_session()
    use = await desk.project.use_of(session.id)
    full = f" of {use.limit:,}, {100 * use.context // use.limit} %" if use.limit else ""
    shares = shares_of(await desk.project.messages(session.id))
    whole = sum(shares.values()) or 1
    ranked = sorted(shares.items(), key=lambda one: -one[1])
    bars = [f"  {kind:<20} {100 * size // whole:>3} %  {'█' * (30 * size // whole)}" for kind, size in ranked]
    lines = [f"{use.context:,} tokens{full}", "", "What fills the context:", *bars, ""]
    return page("Context", lines, "/compact makes room")


async def jobs(desk: Desk, _: str) -> Outcome:
    """List the commands that run in the background, and the subagents."""
    session = desk.require_session()
    running = [f"  {name:<10} {command}" for name, command in await desk.project.jobs(session.id)]
    views = [(part, view_of(part)) for one in await desk.project.messages(session.id) for part in one.calls]
    below = [f"  {part.state.status:<10} {view.subject}" for part, view in views if view.child]
    lines = running or ["no command runs in the background"]
    return page("In the background", [*lines, *(["", "subagents", *below] if below else [])])


async def agents(desk: Desk, what: str) -> Outcome:
    """List the agents in the background; `NAME WORDS` tells one something, `stop NAME` stops it."""
    from toolwright.app.background import agent_meant

    at_work = await desk.project.background(desk.require_session().id)
    name, _, rest = what.partition(" ")
    if not name:
        lines = [f"  {one.line}" for one in at_work] or ["no agent works in the background"]
        loops = [f"  {one.line}" for one in await desk.project.loops(desk.require_session().id)]
        lines += ["", "loops", *loops] if loops else []
        return page("Agents in the background", lines, "/agents NAME WORDS, /agents stop NAME" if at_work else "")
    if name == "stop":
        agent = agent_meant(at_work, rest.strip())
        await desk.project.abort(agent.session)
        return brief(f"{agent.name} is stopped")
    agent = agent_meant(at_work, name)
    if not rest.strip():
        return page(agent.name, [agent.line, *([agent.doing] if agent.doing else [])])
    heard = await desk.project.steer(agent.session, rest.strip())
    return brief(f"{agent.name} is told before its next step" if heard else f"{agent.name} has ended; it hears nothing")


async def loop(desk: Desk, what: str) -> Outcome:
    """Put a prompt again and again: `10m PROMPT`; `stop` ends that, alone it lists."""
    from toolwright.session.turns.loops import plan_of

    first, _, rest = what.partition(" ")
    if first == "stop":
        await desk.project.stop_loops(desk.require_session().id, rest.strip())
    elif first:
        plan, text = plan_of(what)
        await desk.project.begin_loop((await desk.begin()).id, desk.prompt_of(text), plan)
    active = await desk.project.loops(desk.session.id) if desk.session else []
    lines = [f"  {one.line}" for one in active] or ["nothing is put again and again"]
    return page("Loops", lines, "/loop stop NAME" if active else _LOOP_USE)


# What there is.


async def permissions(desk: Desk, _: str) -> Outcome:
    """List what is approved."""
    approvals = await desk.project.approvals()
    remark = "tw permission revoke ends one" if approvals else "nothing is approved for longer than once"
    lines = [f"  {scope:<9} {permission} {pattern}" for scope, permission, pattern in approvals]
    return page("Approved", lines, f"{remark}; /explain TOOL ARGUMENT tells what a call would need")


async def explain(desk: Desk, what: str) -> Outcome:
    """Tell what a call would need, and which rule decides."""
    tool, _, argument = what.partition(" ")
    if not tool:
        raise UsageError("/explain takes a tool and its argument, such as /explain bash git push.")
    return page(what, await desk.project.explain(tool, argument, desk.agent))


async def tools(desk: Desk, _: str) -> Outcome:
    """List the tools of the agent."""
    offered = await desk.project.tools(desk.agent)
    return page(f"The tools of {desk.agent}", [f"  {name:<14} {text}" for name, text in offered])


async def mcp(desk: Desk, _: str) -> Outcome:
    """MCP servers, language servers and formatters, and their status."""
    programs = await desk.project.programs()
    lines = [f"  {kind:<10} {name:<16} {state}" for kind, name, state in programs]
    return page("Servers and formatters", lines or ["none are configured; tw mcp add adds one"])


# What a terminal does by itself.


async def copy(desk: Desk, what: str) -> Outcome:
    """Copy the last answer or code of it; `list` shows what else there is."""
    from toolwright.app.copying import CODE, passages_of

    passages = list(passages_of(await desk.project.messages(desk.require_session().id)))
    if not passages:
        raise UsageError("There is nothing to copy yet.")
    has_code = passages[1:] and passages[1][0].startswith(CODE)
    if what == "list" or (not what and has_code):
        entries = [(str(number), label) for number, (label, _) in enumerate(passages, 1)]
        return Pick(title="Copy", entries=entries, hint="/copy NUMBER copies one of them")
    number = int(what or "1") if (what or "1").isdigit() else 0
    if not 0 < number <= len(passages):
        raise UsageError(f"/copy takes a number from 1 to {len(passages)}; /copy list shows what there is.")
    return AtScreen(act="copy", text=passages[number - 1][1])


async def editor(_: Desk, text: str) -> Outcome:
    """Write a prompt in your editor."""
    return AtScreen(act="edit", text=text)


async def theme(_: Desk, name: str) -> Outcome:
    """Choose how it looks."""
    return AtScreen(act="theme", text=name)


async def keys(_: Desk, __: str) -> Outcome:
    """Tell what each key does."""
    return AtScreen(act="keys")


async def demo(_: Desk, __: str) -> Outcome:
    """Watch a session that needs no model."""
    return AtScreen(act="demo")


async def subagents(_: Desk, __: str) -> Outcome:
    """Open a subagent, also while it works."""
    return AtScreen(act="subagents")


async def find(_: Desk, words: str) -> Outcome:
    """Search this conversation."""
    return AtScreen(act="find", text=words)


async def timeline(_: Desk, __: str) -> Outcome:
    """List the prompts of the session: jump to one, fork or undo there."""
    return AtScreen(act="timeline")


async def quit_(_: Desk, __: str) -> Outcome:
    """Leave."""
    return AtScreen(act="leave")


def selection_of(words: Sequence[str]) -> "Selection":
    """Return what is typed behind /undo, as what is undone; nothing is the last turn."""
    from toolwright.session.undo.file_back import Selection

    match words:
        case [] | ["turn"]:
            return Selection()
        case ["call", call]:
            return Selection(call=call)
        case ["file", path]:
            return Selection(file=path)
        case ["hunk", path, number] if number.isdigit():
            return Selection(file=path, hunks=(number,))
        case _:
            raise UsageError(
                "/undo takes nothing, `file PATH`, `hunk PATH NUMBER` or `call ID`, and `preview` to see it first."
            )


def shares_of(messages: Sequence[Message]) -> dict[str, int]:
    """Count the letters of a conversation by what they are."""
    shares: dict[str, int] = {}
    for message in messages:
        words = "your prompts" if message.info.role == "user" else "answers"
        for part in message.parts.values():
            match part:
                case TextPart(text=text):
                    kind = words
                case ReasoningPart(text=text):
                    kind = "thoughts"
                case ToolPart(state=Completed(output=text) | Failed(error=text)):
                    kind = f"results of {part.tool}"
                case _:
                    continue
            shares[kind] = shares.get(kind, 0) + len(text)
    return shares


def undone(plans: "Sequence[FileUndo]") -> OutputLines:
    """Tell what was undone."""
    if not plans:
        return brief(
            "the turn changed no file; what was said from it on is left out from now on. /redo brings it back",
            reread=True,
        )
    return OutputLines(lines=[*_counted(plans), ("undone; /redo makes it again", "remark")], brief=True, reread=True)


def _counted(plans: "Sequence[FileUndo]") -> Iterator[Line]:
    """Tell in a line each what became of files."""
    for plan in plans:
        additions, deletions = plan.counts()
        yield f"  {plan.kind:<9} +{additions} -{deletions}  {plan.path}", ""


def _in_order() -> Iterator[OwnCommand]:
    """All of them, in the order of the help."""
    by_room: Sequence[tuple[Room, Sequence[Run]]] = (
        ("session", (help_,)),
        ("desk", (new, sessions)),
        ("session", (rename,)),
        ("desk", (fork, connect, model, account, variant, agent)),
        ("session", (goal,)),
        ("session", (undo, redo, compact, diff, cost, context, permissions, explain, tools, mcp, jobs, agents, loop)),
        ("terminal", (export, copy, editor, theme, keys, demo, quit_)),
        ("screen", (find, subagents, timeline)),
    )
    for room, runs in by_room:
        yield from (OwnCommand(run=run, room=room) for run in runs)


_ALL = {one.name: one for one in _in_order()}
