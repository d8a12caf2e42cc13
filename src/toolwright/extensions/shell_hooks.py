"""Programs run at certain moments, by Claude Code's protocol: JSON in, an exit code or JSON out."""

import json
import logging
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolwright.deadline import time_limit
from toolwright.errors import ToolError
from toolwright.extension import ExtensionProblem
from toolwright.extensions.hook_forms import HookRefused, question, refusal_in, told_by_address
from toolwright.process.running.run import ProgramResult, run_program
from toolwright.process.running.scope import Program
from toolwright.protocols.json_text import read_json
from toolwright.protocols.json_types import Json
from toolwright.record import record
from toolwright.tools import built_in

if TYPE_CHECKING:
    from toolwright.process.running.scope import Scopes

log = logging.getLogger(__name__)

SECONDS = 60.0
"""Seconds that a program may take, unless its entry says otherwise."""
BLOCKED = 2
"""The exit code that blocks what is about to happen; what is on stderr says why."""
NOT_RUN = (126, 127)
"""Exit codes of a shell that could not run its program."""
_OTHER = re.compile(r"[^A-Za-z0-9_-]")


@record(frozen=True, slots=True, kw_only=True)
class ShellHook:
    """One entry: when, for which tools, and what to run."""

    event: str
    command: str
    matcher: str = ""
    """A regular expression for the whole name of a tool, ours or theirs; empty and `*` are any."""
    seconds: float = SECONDS
    origin: str = ""
    missing: str = ""
    """Why there is nothing that could be run."""
    agent: str = ""
    """The agent whose file names it, and for whom alone it is run."""
    url: str = ""
    """An address that gets the data instead of a program, with `headers`, into which only `variables` are filled."""
    headers: tuple[tuple[str, str], ...] = ()
    variables: tuple[str, ...] = ()
    prompt: str = ""
    """A question to a model in the place of a program."""
    model: str = ""

    @property
    def shown(self) -> str:
        """Return it in one line: its command, address or prompt."""
        return (self.command or self.url or self.prompt).replace("\n", " ")[:80]

    @property
    def guards(self) -> bool:
        """Tell whether something must not happen without its consent."""
        return self.event in ("PreToolUse", "PermissionRequest")

    def fits(self, names: Sequence[str]) -> bool:
        if self.matcher in ("", "*") or not names:
            return True
        try:
            return any(re.fullmatch(self.matcher, one) for one in names)
        except re.error:
            return True  # a guard whose matcher is broken guards everything


@record(frozen=True, slots=True, kw_only=True)
class HookVerdict:
    """Joint verdict of the programs of one moment."""

    blocked: str = ""
    """Why it must not happen; empty if it may."""
    decision: str = ""
    """allow, deny or ask, where one was given."""
    reason: str = ""
    arguments: Json | None = None
    """In place of the tool's own."""
    context: str = ""
    """Words for the model."""
    stopped: str = ""
    """Why the turn should end; empty if it should not."""


@record(slots=True, kw_only=True, eq=False)
class ShellHooks:
    """The programs of a workspace, and the running of them."""

    hooks: Sequence[ShellHook]
    scopes: "Callable[[], Scopes]"
    directory: Path
    environment: Mapping[str, str]
    servers: Sequence[str] = ()
    """The MCP servers of the settings, whose tools this protocol names `mcp__server__tool`."""
    problems: list[ExtensionProblem] = field(default_factory=list[ExtensionProblem])
    tell: Callable[[str, str], None] = lambda _session, _words: None
    """Says something to the user of a session."""
    ask: Callable[[str, str, str], Awaitable[str]] | None = None
    """Asks a model: for a session, a model by name or empty, a text."""
    runs: Counter[ShellHook] = field(default_factory=Counter[ShellHook])
    blocks: Counter[ShellHook] = field(default_factory=Counter[ShellHook])
    """Number of times that each was run, and that it blocked."""

    def has(self, event: str) -> bool:
        return any(hook.event == event for hook in self.hooks)

    async def run(self, event: str, session_id: str, name: str = "", *, agent: str = "", **more: Any) -> HookVerdict:
        """Run the programs of a moment one after the other; the first that blocks has the last word."""
        verdict = HookVerdict()
        data: Json = {
            "session_id": session_id,
            "transcript_path": "",
            "cwd": str(self.directory),
            "permission_mode": "default",
            "hook_event_name": event,
            **more,
        }
        known = built_in(name)
        names = (name, self.their_name(name), *(known.known_as if known else ())) if name else ()
        fitting = [hook for hook in self.hooks if hook.event == event and hook.fits(names)]
        fitting = [hook for hook in fitting if hook.agent in ("", agent)]
        # The same command in two files is one.
        for hook in {(one.shown, one.command, one.missing): one for one in fitting}.values():
            verdict = _joined(verdict, await self._verdict(hook, data))
            self.runs[hook] += 1
            if verdict.blocked:
                self.blocks[hook] += 1
                break
        return verdict

    def their_name(self, tool: str) -> str:
        """The name by which programs of this protocol know a tool."""
        known = built_in(tool)
        if known is not None and known.known_as:
            return known.known_as[0]
        prefixes = {server: f"{_OTHER.sub('_', server)}_" for server in self.servers}
        server = max((one for one in prefixes if tool.startswith(prefixes[one])), key=len, default="")
        return f"mcp__{server}__{tool.removeprefix(prefixes[server])}" if server else tool

    async def _verdict(self, hook: ShellHook, data: Json) -> HookVerdict:
        if hook.missing:
            return HookVerdict(
                blocked=f"A hook in {hook.origin} guards this, and {hook.missing}." if hook.guards else ""
            )

        try:
            async with time_limit(hook.seconds):
                return await self._answer(hook, data)
        except TimeoutError:
            return self._trouble(hook, data, f"it took longer than {hook.seconds:g} seconds", unanswered=True)
        except ToolError as error:
            return self._trouble(hook, data, str(error), unanswered=True)
        except HookRefused as error:
            return self._trouble(hook, data, str(error), unanswered=False)

    async def _answer(self, hook: ShellHook, data: Json) -> HookVerdict:
        if hook.url:
            text = await told_by_address(hook.url, dict(hook.headers), hook.variables, self.environment, data)
            return read_answer(text, hook.event)
        if hook.prompt:
            if self.ask is None:
                raise ToolError("there is no model to ask", "missing")
            return HookVerdict(
                blocked=refusal_in(await self.ask(data["session_id"], hook.model, question(hook.prompt, data)))
            )
        return self._verdict_of(hook, data, await self._ran(hook, data))

    async def _ran(self, hook: ShellHook, event: Json) -> ProgramResult:
        env = {
            **self.environment,
            "CLAUDE_PROJECT_DIR": str(self.directory),
            "TOOLWRIGHT_PROJECT_DIR": str(self.directory),
            "TOOLWRIGHT_FILE": str((event.get("tool_input") or {}).get("filePath") or ""),
        }
        data = json.dumps(event, ensure_ascii=False, default=str).encode("utf-8", "replace")
        program = Program(argv=("/bin/sh", "-c", hook.command), cwd=self.directory, env=env)
        return await run_program(self.scopes(), program, data)

    def _verdict_of(self, hook: ShellHook, data: Json, done: ProgramResult) -> HookVerdict:
        if done.code == BLOCKED:
            return HookVerdict(blocked=done.err.strip() or f"{hook.command} refused it")
        if done.code != 0:
            lines = done.err.strip().splitlines()
            reason = f"it {done.how}{f': {lines[-1]}' if lines else ''}"
            return self._trouble(hook, data, reason, unanswered=done.code in NOT_RUN)
        return read_answer(done.out, hook.event)

    def _trouble(self, hook: ShellHook, data: Json, reason: str, *, unanswered: bool) -> HookVerdict:
        """One that fails decides nothing, but a guard that could not be run or asked in time lets nothing pass."""
        problem = ExtensionProblem(name=f"{hook.origin} {hook.event}: {hook.shown}", reason=reason)
        if problem not in self.problems:
            self.problems.append(problem)
            self.tell(data["session_id"], f"The hook {hook.shown!r} ({hook.event}) failed: {reason}")
        log.warning("%s: %s", problem.name, reason)
        blocks = unanswered and hook.guards
        return HookVerdict(blocked=f"The hook {hook.shown!r} did not answer: {reason}." if blocks else "")


def read_answer(text: str, event: str) -> HookVerdict:
    """Read the output of a program that ended well: JSON, or plain text that is context for the model."""
    text = text.strip()
    try:
        answer: Any = read_json(text) if text.startswith("{") else None
    except ValueError:
        answer = None
    if not isinstance(answer, dict):
        plain = event in ("UserPromptSubmit", "SessionStart", "SubagentStart")
        return HookVerdict(context=text if plain else "")
    inner = answer.get("hookSpecificOutput")
    more: Json = inner if isinstance(inner, dict) else {}
    decided = more.get("decision")
    nested: Json = decided if isinstance(decided, dict) else {}
    decision = str(more.get("permissionDecision") or nested.get("behavior") or _older(answer.get("decision")) or "")
    reason = str(more.get("permissionDecisionReason") or nested.get("message") or answer.get("reason") or "")
    changed = more.get("updatedInput") or nested.get("updatedInput")
    blocks = decision == "deny" and event != "PermissionRequest"
    return HookVerdict(
        blocked=(reason or "a hook refused it") if blocks else "",
        decision=decision,
        reason=reason,
        arguments=changed if isinstance(changed, dict) else None,
        context=str(more.get("additionalContext") or ""),
        stopped=str(answer.get("stopReason") or "a hook ended it") if answer.get("continue") is False else "",
    )


def _older(decision: Any) -> str:
    return {"block": "deny", "deny": "deny", "approve": "allow", "allow": "allow", "ask": "ask"}.get(str(decision), "")


def _joined(first: HookVerdict, second: HookVerdict) -> HookVerdict:
    strictness = ("deny", "ask", "allow", "")
    return HookVerdict(
        blocked=first.blocked or second.blocked,
        decision=min(
            first.decision, second.decision, key=lambda one: strictness.index(one) if one in strictness else 3
        ),
        reason=second.reason or first.reason,
        arguments=second.arguments or first.arguments,
        context="\n\n".join(filter(None, (first.context, second.context))),
        stopped=first.stopped or second.stopped,
    )
