"""tw hook: our rules for the calls of Claude Code, as a hook that it runs before each of them."""

import argparse
import asyncio
import json
import re
import sys
from pathlib import Path

from toolwright.calls.builtin import BUILTIN
from toolwright.cli.options import note, parser
from toolwright.cli.output import say_json
from toolwright.definition import Action, Tool
from toolwright.errors import ToolwrightError
from toolwright.protocols.json_text import read_json
from toolwright.protocols.json_types import Json
from toolwright.tools import built_in, load
from toolwright.workspace import Workspace

BLOCK = 2
"""The exit code that blocks a call; what is on stderr says why."""
_RENAMED = {"notebook_path": "filePath"}
_LOOKED_AT = ("command", "content", "filePath", "path", "pattern", "query", "url")
"""The arguments that our rules look at; what else theirs have is not ours to check."""


def main(arguments: list[str]) -> int:
    options = _parser().parse_args(arguments)
    try:
        event = read_json(sys.stdin.read())
        if not isinstance(event, dict) or not isinstance(event.get("tool_name"), str):
            raise ValueError("it names no tool")
        answer = asyncio.run(_answered(event, options))
    except (ValueError, ToolwrightError) as error:
        # What could not be judged is not let through.
        note(f"tw hook: {error}")
        return BLOCK
    if answer is not None:
        say_json(json.dumps(answer))
    return 0


def _parser() -> argparse.ArgumentParser:
    root = parser(
        "hook",
        "Judge a call of Claude Code by our rules. It reads the call as JSON and prints the decision.",
        examples=(
            "  in .claude/settings.json:\n"
            '  {"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "tw hook"}]}]}}'
        ),
    )
    root.add_argument("--agent", default="", help="by the rules of this agent")
    return root


async def _answered(event: Json, options: argparse.Namespace) -> Json | None:
    """The answer to a call; None where our rules say nothing and Claude Code decides by its own."""
    folder = event.get("cwd") if isinstance(event.get("cwd"), str) else "."
    tool_input = event.get("tool_input")
    tool, arguments = _ours(str(event["tool_name"])), tool_input if isinstance(tool_input, dict) else {}
    # Nothing of ours runs the call, so that no box of ours holds it.
    workspace = Workspace(
        _project(Path(folder or ".")),
        config={"sandbox": "off"},
        trust=getattr(options, "trust", False),
        pure=getattr(options, "pure", False),
        client="cli",
    )
    async with workspace, workspace.session(options.agent) as session:
        known = built_in(tool)
        word, others = known.in_a_word if known and known.in_a_word else ("", {})
        if known is None or word not in _LOOKED_AT:
            decision = session.ruled_agent.policy.decide(tool, str(arguments.get("subagent_type") or "*"))
            named = decision.rule is not None and "*" not in decision.rule.permission
            return _decision_json(decision.action, f"{decision.rule}") if named or decision.action != "allow" else None
        ours = _arguments(known, arguments, Path(folder or ".").absolute())
        verdict = await session.decide(tool, **{**others, **ours})
        return _decision_json(verdict.action, verdict.reason or (str(verdict.rule) if verdict.rule else ""))


def _project(folder: Path) -> Path:
    """The project of a folder that a call may have gone down into: the nearest with settings of ours, or with git."""
    names = ("toolwright.json", "toolwright.jsonc", ".toolwright", "opencode.json", ".opencode", ".git")
    folder = folder.resolve()
    return next((one for one in (folder, *folder.parents) if any((one / name).exists() for name in names)), folder)


def _ours(name: str) -> str:
    """A tool by our name; those of MCP servers are called `mcp__server__tool` there."""
    if name.startswith("mcp__"):
        return "_".join(name.split("__")[1:])
    return next((one for one in BUILTIN if name in load(one).known_as), name.lower())


def _arguments(tool: Tool, arguments: Json, folder: Path) -> Json:
    """The arguments by our names, as far as rules look at them."""
    taken = tool.parameters["properties"]
    named = {_RENAMED.get(name) or _camel(name): value for name, value in arguments.items()}
    ours = {name: named[name] for name in _LOOKED_AT if name in named and name in taken}
    for name in ("filePath", "path"):
        if isinstance(ours.get(name), str):
            ours[name] = str(folder / ours[name])
    return ours | {"workdir": str(folder)} if "workdir" in taken else ours


def _camel(name: str) -> str:
    return re.sub(r"_([a-z])", lambda match: match[1].upper(), name)


def _decision_json(action: Action, reason: str) -> Json:
    output = {"hookEventName": "PreToolUse", "permissionDecision": action}
    if reason:
        output["permissionDecisionReason"] = f"toolwright: {reason}"
    return {"hookSpecificOutput": output}
