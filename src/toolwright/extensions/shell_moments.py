"""The moments at which programs of the user are run: around calls, prompts, questions, summaries and sessions."""

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from typing import Any

from toolwright.agents import Agent
from toolwright.definition import Call, Result, ToolContext
from toolwright.errors import PermissionDenied, ToolError, UsageError
from toolwright.events import Event, PermissionAsked
from toolwright.extension import Hook
from toolwright.extensions.answering import answering_first
from toolwright.extensions.home import ExtensionHome
from toolwright.extensions.shell_entries import hook_entries
from toolwright.extensions.shell_hooks import ShellHooks
from toolwright.hooks import Proceed
from toolwright.inbox import Question, Reply
from toolwright.messages import Assistant, User
from toolwright.protocols.json_types import Json
from toolwright.session.events import SessionStatus
from toolwright.session.prompt import Prompt
from toolwright.session.result import TurnEnd
from toolwright.text.ids import new_id

AGAIN = 3
"""Times that a program may send the agent back to work at the end of a turn."""


@asynccontextmanager
async def with_shell_hooks(workspace: ExtensionHome) -> AsyncIterator[None]:
    """Join the programs of the settings to a workspace, as long as it is open."""
    entries, problems = hook_entries(workspace.config, workspace.folders)
    hooks = ShellHooks(
        hooks=entries,
        scopes=lambda: workspace.scopes,
        directory=workspace.directory,
        environment=workspace.lookup.around_theirs(workspace.environment),
        servers=tuple(workspace.config.settings.mcp),
        problems=problems,
        ask=partial(_asked, workspace),
        tell=lambda session_id, words: workspace.bus.publish(
            SessionStatus(session_id=session_id, status={"type": "busy", "notice": words})
        ),
    )
    workspace.shell_hooks = hooks
    workspace.reports.append(lambda: list(hooks.problems))
    moments = Moments(hooks, workspace)
    hook = Hook(call=moments.call, prompt=moments.prompt, compaction=moments.compaction)
    workspace.hooks.append(hook)
    workspace.caller.hooks.append(moments.call)
    workspace.inbox.answer = answering_first(moments.decide, workspace.inbox.answer)
    stop = workspace.bus.subscribe(moments.hear)
    workspace.scopes  # noqa: B018 - before this is left, so that it is closed after it
    try:
        yield
    finally:
        stop()
        await moments.end()


async def _asked(workspace: ExtensionHome, session_id: str, named: str, text: str) -> str:
    """Ask a model the question of a hook: the one it names, else a small one of those that the session uses."""
    from toolwright.session.models import small_model
    from toolwright.session.turns.title import ask_once

    connections = workspace.connections
    if "/" in named:
        model = connections.open(named)
    else:
        session = workspace.sessions_open.get(session_id)
        last = (
            next((one.info for one in reversed(session.conversation.messages) if isinstance(one.info, User)), None)
            if session is not None
            else None
        )
        used = f"{last.model.provider_id}/{last.model.model_id}" if last is not None else workspace.default_model
        if not used:
            raise ToolError("there is no model to ask", "missing")
        model = small_model(connections, workspace.config.settings.small_model, connections.open(used))
    return await ask_once(model, Agent(name="hook"), text, purpose="hook")


class Moments:
    """Moments at which programs are run, and what their verdicts have us do."""

    def __init__(self, hooks: ShellHooks, workspace: ExtensionHome) -> None:
        self._hooks = hooks
        self._workspace = workspace
        self._allowed: set[str] = set()
        """Calls for which a program has said that no question is needed."""
        self._sessions: set[str] = set()
        self._notices: set[asyncio.Task[Any]] = set()

    async def call(self, proceed: Proceed, call: Call, ctx: ToolContext) -> Result:
        arguments = call.arguments if isinstance(call.arguments, dict) else {}
        data: Json = {"tool_name": self._hooks.their_name(call.tool), "tool_input": both_names(arguments)}
        if self._hooks.has("PreToolUse"):
            verdict = await self._hooks.run("PreToolUse", ctx.session_id, call.tool, agent=ctx.agent, **data)
            if verdict.blocked or verdict.stopped:
                raise PermissionDenied(verdict.blocked or verdict.stopped)
            if verdict.arguments is not None:
                call = replace(call, arguments=our_names(verdict.arguments, arguments))
            if verdict.decision == "allow":
                self._allowed.add(ctx.call_id)
        try:
            result = await proceed(call)
        finally:
            self._allowed.discard(ctx.call_id)
        failed = result.error is not None
        event = "PostToolUseFailure" if failed else "PostToolUse"
        refused = result.error is not None and result.error.kind in ("denied", "rejected")
        if not refused and self._hooks.has(event):
            response = {"output": result.output, "title": result.title, "success": not failed}
            more: Json = {"error": result.output, "is_interrupt": _is_stopped(result)} if failed else {}
            more |= {"tool_response": response}
            verdict = await self._hooks.run(event, ctx.session_id, call.tool, agent=ctx.agent, **data, **more)
            words = "\n\n".join(filter(None, (verdict.blocked, verdict.context)))
            if words:
                result = replace(result, output=f"{result.output}\n\n<hook>\n{words}\n</hook>")
        return result

    async def prompt(self, proceed: Callable[[Prompt], Awaitable[TurnEnd]], prompt: Prompt, session_id: str) -> TurnEnd:
        prompt = await self._begun(prompt, session_id)
        below = self._is_below(session_id)
        if not below and self._hooks.has("UserPromptSubmit"):
            verdict = await self._hooks.run("UserPromptSubmit", session_id, prompt=prompt.text)
            if verdict.blocked or verdict.stopped:
                raise UsageError(verdict.blocked or verdict.stopped)
            prompt = _with_context(prompt, verdict.context)
        agent = self._agent_of(session_id, prompt)
        if below and self._hooks.has("SubagentStart"):
            data = {"agent_id": session_id, "agent_type": agent}
            verdict = await self._hooks.run("SubagentStart", session_id, agent, agent=agent, **data)
            prompt = _with_context(prompt, verdict.context)
        end = await proceed(prompt)
        if (failure := _failure(end)) and self._hooks.has("StopFailure"):
            await self._hooks.run("StopFailure", session_id, failure, agent=agent, error=failure)
        event = "SubagentStop" if below else "Stop"
        for count in range(AGAIN if self._hooks.has(event) else 0):
            about = {"agent_id": session_id, "agent_type": agent} if below else {}
            verdict = await self._hooks.run(
                event, session_id, agent if below else "", agent=agent, stop_hook_active=count > 0, **about
            )
            if not verdict.blocked:
                break
            end = await proceed(replace(prompt, text=verdict.blocked, files=(), message_id=new_id("msg")))
        return end

    async def compaction(self, proceed: Callable[[], Awaitable[None]], session_id: str) -> None:
        if self._hooks.has("PreCompact"):
            await self._hooks.run("PreCompact", session_id, "auto", trigger="auto", custom_instructions="")
        await proceed()
        if self._hooks.has("PostCompact"):
            await self._hooks.run("PostCompact", session_id, "auto", trigger="auto")

    async def decide(self, question: Question) -> Reply | None:
        """A program's answer to a question. What a rule denies never comes to a question, so it stays denied."""
        if question.kind != "permission":
            return None
        if question.call_id in self._allowed:
            return Reply(kind="once")
        if not self._hooks.has("PermissionRequest"):
            return None
        verdict = await self._hooks.run(
            "PermissionRequest",
            question.session_id,
            question.tool,
            tool_name=self._hooks.their_name(question.tool),
            tool_input=both_names(dict(question.arguments)),
            permission=question.permission,
            patterns=list(question.patterns),
        )
        if verdict.blocked or verdict.decision == "deny":
            return Reply(kind="reject", message=verdict.blocked or verdict.reason or "a hook refused it")
        return Reply(kind="once") if verdict.decision == "allow" else None

    def hear(self, event: Event) -> None:
        if isinstance(event, PermissionAsked) and self._hooks.has("Notification"):
            call = event.call or {}
            message = f"{call.get('tool', 'A tool')} needs your permission: {call.get('title', event.permission)}"
            kind = "permission_prompt"
            running = self._hooks.run("Notification", event.session_id, kind, message=message, notification_type=kind)
            task = asyncio.create_task(running)
            self._notices.add(task)
            task.add_done_callback(self._notices.discard)

    async def end(self) -> None:
        await asyncio.gather(*self._notices, return_exceptions=True)
        if self._hooks.has("SessionEnd"):
            for session_id in sorted(self._sessions):
                await self._hooks.run("SessionEnd", session_id, reason="exit")

    async def _begun(self, prompt: Prompt, session_id: str) -> Prompt:
        """Before the first prompt of a session here: what programs have to say at its start."""
        if session_id in self._sessions or self._is_below(session_id):
            return prompt
        self._sessions.add(session_id)
        if not self._hooks.has("SessionStart"):
            return prompt
        session = self._workspace.sessions_open.get(session_id)
        resumed = session is not None and bool(session.conversation.messages)
        source = "resume" if resumed else "startup"
        verdict = await self._hooks.run("SessionStart", session_id, source, source=source)
        return _with_context(prompt, verdict.context)

    def _agent_of(self, session_id: str, prompt: Prompt) -> str:
        session = self._workspace.sessions_open.get(session_id)
        return prompt.agent or (session.agent if session is not None else "")

    def _is_below(self, session_id: str) -> bool:
        session = self._workspace.sessions_open.get(session_id)
        return session is not None and session.parent is not None


def _is_stopped(result: Result) -> bool:
    return result.error is not None and result.error.kind == "aborted"


def _failure(end: TurnEnd) -> str:
    """The kind of error that ended a turn; empty if none did."""
    info = end.message.info
    return info.error.name if isinstance(info, Assistant) and info.error is not None else ""


def both_names(arguments: Json) -> Json:
    """Arguments under our names and under those that programs of this protocol look for: `file_path`."""
    return arguments | {re.sub(r"(?<!^)([A-Z])", r"_\1", name).lower(): value for name, value in arguments.items()}


def our_names(changed: Json, before: Json) -> Json:
    """Changed arguments under our names again; a name that was ours and theirs counts where it differs from before."""
    ours: Json = {}
    for name, value in changed.items():
        own = re.sub(r"_([a-z])", lambda match: match[1].upper(), name)
        known = own if own in before else name
        if known not in ours or before.get(known) != value:
            ours[known] = value
    return ours


def _with_context(prompt: Prompt, words: str) -> Prompt:
    return replace(prompt, system=f"{prompt.system}\n\n{words}".strip()) if words else prompt
