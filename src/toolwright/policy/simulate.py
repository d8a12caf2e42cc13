"""Recorded calls judged once more under the rules of another file: which of them would be decided otherwise."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from toolwright.agents import Agent, Agents
from toolwright.calls.parts import ToolPart
from toolwright.calls.request import PathPattern, Request
from toolwright.config.reader import SettingsReader
from toolwright.config.rules import rules_of
from toolwright.messages import Assistant, Message, SessionInfo
from toolwright.permission.rules import Layer
from toolwright.policy.judging import CallRequests, verdict, wanted
from toolwright.protocols.json_types import Json
from toolwright.record import record
from toolwright.workspace import Workspace


@record(frozen=True, slots=True, kw_only=True)
class ChangedDecision:
    """A recorded call that the other rules decide otherwise."""

    session: str
    tool: str
    arguments: Json
    was: str
    now: str
    rule: str
    source: str

    def as_json(self) -> Json:
        return {name: getattr(self, name) for name in ("session", "tool", "arguments", "was", "now", "rule", "source")}


def agents_under(workspace: Workspace, file: Path) -> Agents:
    """The agents with the file's rules in place of all that the user's and the project's settings say."""
    reader = SettingsReader(
        folders=workspace.folders,
        environment=workspace.environment,
        root=workspace.config.root,
        directory=workspace.directory,
        trusted=True,
    )
    source = reader.file(file.resolve(), "user")
    home = workspace.folders.home
    described: dict[str, Any] = source.value.get("agent", {})

    def ruled(agent: Agent) -> Agent:
        own = rules_of(described.get(agent.name, {}), source, ("agent", agent.name), home)
        return replace(agent, user_rules=own, project_rules=())

    general = Layer("user", rules_of(source.value, source, (), home))
    agents = workspace.agents
    return replace(agents, general=(general,), by_name={name: ruled(agent) for name, agent in agents.by_name.items()})


async def simulate(records: Workspace, judge: Workspace, file: Path, sessions: int) -> list[ChangedDecision]:
    """The calls of the last sessions whose decision changes; `judge` keeps nothing of what it is asked."""
    other = agents_under(judge, file)
    known: dict[str, tuple[str, str, str, str]] = {}
    differences = []
    for info in await _chosen(records, sessions):
        for agent, part in calls_of(await records.sessions.messages(info.id)):
            if agent not in judge.agents.by_name:
                continue
            arguments = dict(part.state.input)
            key = repr((agent, part.tool, arguments))
            if key not in known:
                known[key] = await _compared(judge, other, agent, part.tool, arguments)
            was, now, rule, source = known[key]
            if was != now:
                changed = ChangedDecision(
                    session=info.id, tool=part.tool, arguments=arguments, was=was, now=now, rule=rule, source=source
                )
                differences.append(changed)
    return differences


async def _chosen(records: Workspace, sessions: int) -> Sequence[SessionInfo]:
    """The last sessions, with those of their subagents."""
    roots = await records.sessions.listed(sessions, roots=True)
    below = [child for root in roots for child in await records.sessions.children(root.id)]
    return [*roots, *below]


def calls_of(messages: Sequence[Message]) -> Iterator[tuple[str, ToolPart]]:
    for message in messages:
        agent = message.info.agent if isinstance(message.info, Assistant) else ""
        for part in message.parts.values():
            if isinstance(part, ToolPart):
                yield agent, part


async def _compared(
    judge: Workspace, other: Agents, agent: str, tool: str, arguments: Json
) -> tuple[str, str, str, str]:
    call = await wanted(judge, agent, tool, arguments)
    if call.error is not None and not call.requests:
        call = _by_its_path(judge, call, tool, arguments)
    was, now = verdict(judge.agents, call), verdict(other, call)
    rule, source = (str(now.rule), now.rule.source) if now.rule else ("", "")
    return _plain(was.action), _plain(now.action), rule, source


def _plain(action: str) -> str:
    return "deny" if action == "hidden" else action


def _by_its_path(judge: Workspace, call: CallRequests, tool: str, arguments: Json) -> CallRequests:
    """For a call that the folder of today has no place for: the file it named is what it would ask for."""
    definition = judge.registry[tool]
    named = arguments.get(definition.writes or definition.reads or "", "*")
    path = judge.directory / str(named)
    inside = (str(path.relative_to(judge.directory)),) if path.is_relative_to(judge.directory) else ()
    pattern = PathPattern(str(named), (*inside, str(path))) if named != "*" else "*"
    return replace(call, requests=(Request(permission=call.permission, patterns=(pattern,)),))
