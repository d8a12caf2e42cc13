"""The moments at which programs of the user are run: around calls, prompts, questions, summaries and sessions."""

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from toolwright.definition import Call, Result, ToolContext
from toolwright.errors import PermissionDenied, UsageError
from toolwright.events import Event, PermissionAsked
from toolwright.extension import Hook
from toolwright.extensions.answering import answering_first
from toolwright.extensions.home import ExtensionHome
from toolwright.extensions.shell_entries import hook_entries
from toolwright.extensions.shell_hooks import ShellHooks
from toolwright.hooks import Proceed
from toolwright.ids import new_id
from toolwright.inbox import Question, Reply
from toolwright.jsontypes import Json
from toolwright.session.events import SessionStatus
from toolwright.session.prompt import Prompt
from toolwright.session.result import TurnEnd

AGAIN = 3
"""How often a program may send the agent back to work at the end of a turn."""


@asynccontextmanager
async def with_shell_hooks(workspace: ExtensionHome) -> AsyncIterator[None]:
    """Join the programs of the settings to a workspace, as long as it is open."""
    entries, problems = hook_entries(workspace.config, workspace.folders)
    hooks = ShellHooks(
        hooks=entries,
        scopes=lambda: workspace.scopes,
        directory=workspace.directory,
        environment=workspace.environment,
        servers=tuple(workspace.config.settings.mcp),
        problems=problems,
        tell=lambda session_id, words: workspace.bus.publish(
            SessionStatus(session_id=session_id, status={"type": "busy", "doing": words})
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


class Moments:
    """What happens at each, and what the programs make of it."""

    def __init__(self, hooks: ShellHooks, workspace: ExtensionHome) -> None:
        self._hooks = hooks
        self._workspace = workspace
        self._allowed: set[str] = set()
        """Calls for which a program has said that no question is needed."""
        self._sessions: set[str] = set()
        self._notices: set[asyncio.Task[Any]] = set()

    async def call(self, proceed: Proceed, call: Call, ctx: ToolContext) -> Result:
        arguments = call.arguments if isinstance(call.arguments, dict) else {}
        told: Json = {"tool_name": self._hooks.their_name(call.tool), "tool_input": both_names(arguments)}
        if self._hooks.has("PreToolUse"):
            verdict = await self._hooks.run("PreToolUse", ctx.session_id, call.tool, **told)
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
        if result.error is None and self._hooks.has("PostToolUse"):
            response = {"output": result.output, "title": result.title, "success": True}
            verdict = await self._hooks.run("PostToolUse", ctx.session_id, call.tool, **told, tool_response=response)
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
        end = await proceed(prompt)
        event = "SubagentStop" if below else "Stop"
        for count in range(AGAIN if self._hooks.has(event) else 0):
            verdict = await self._hooks.run(event, session_id, stop_hook_active=count > 0)
            if not verdict.blocked:
                break
            end = await proceed(replace(prompt, text=verdict.blocked, files=(), message_id=new_id("msg")))
        return end

    async def compaction(self, proceed: Callable[[], Awaitable[None]], session_id: str) -> None:
        if self._hooks.has("PreCompact"):
            await self._hooks.run("PreCompact", session_id, trigger="auto", custom_instructions="")
        await proceed()

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
            told = f"{call.get('tool', 'A tool')} needs your permission: {call.get('title', event.permission)}"
            running = self._hooks.run("Notification", event.session_id, message=told)
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
        verdict = await self._hooks.run("SessionStart", session_id, source="resume" if resumed else "startup")
        return _with_context(prompt, verdict.context)

    def _is_below(self, session_id: str) -> bool:
        session = self._workspace.sessions_open.get(session_id)
        return session is not None and session.parent is not None


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
