"""tw agent: list the agents, show one with all its rules, write a new one."""

import argparse
import asyncio
from pathlib import Path
from typing import Any

from toolwright.agents import Agent, RuledAgent
from toolwright.cli.actions.with_extensions import join
from toolwright.cli.options import note, open_from, parser, print_json, print_table, subcommand
from toolwright.cli.output import say
from toolwright.config.content import content_of
from toolwright.config.trust import Trust, is_trusted
from toolwright.errors import UsageError
from toolwright.protocols.client_json import to_json
from toolwright.protocols.json_types import Json
from toolwright.workspace import Workspace


def main(arguments: list[str]) -> int:
    options = _parser().parse_args(arguments)
    workspace = open_from(options)
    match options.action:
        case "list":
            asyncio.run(join(workspace))
            _list(workspace, options)
        case "show":
            asyncio.run(join(workspace))
            _show(workspace, options)
        case _:
            _create(workspace, options)
    return 0


def _parser() -> argparse.ArgumentParser:
    root = parser(
        "agent",
        "The agents: who works, on which model, under which rules.",
        examples=(
            "  tw agent list\n"
            "  tw agent show plan\n"
            "  tw agent create reviewer --description 'Reviews a change' --mode subagent --deny edit --deny bash"
        ),
    )
    actions = root.add_subparsers(dest="action", required=True, metavar="list|show|create")
    listing = subcommand(actions, "list", "All agents there are")
    listing.add_argument("--all", action="store_true", help="the hidden ones too")
    showing = subcommand(actions, "show", "One agent and every rule that holds for it, weakest first")
    showing.add_argument("name")
    for sub in (listing, showing):
        sub.add_argument("--json", action="store_true", help="machine-readable")
    creating = subcommand(actions, "create", "Write a new agent as a Markdown file")
    creating.add_argument("name", help="lower-case letters, digits, - and /")
    creating.add_argument("--description", required=True, help="when to use it; other agents choose by this")
    creating.add_argument("--mode", choices=("primary", "subagent", "all"), default="all")
    creating.add_argument("--model", default="", metavar="P/M")
    creating.add_argument("--prompt", default="", help="what it is told to be; edit the file for more")
    creating.add_argument("--deny", action="append", default=[], metavar="PERMISSION", help="may be given again")
    creating.add_argument("--user", action="store_true", help="for all your projects, not only for this one")
    return root


def _list(workspace: Workspace, options: argparse.Namespace) -> None:
    agents = list(workspace.agents.by_name.values()) if options.all else workspace.agents.visible()
    if options.json:
        print_json([_record(workspace, agent) for agent in agents])
    else:
        print_table([(agent.name, agent.mode, agent.description) for agent in agents])


def _show(workspace: Workspace, options: argparse.Namespace) -> None:
    agent = workspace.agents[options.name]
    if options.json:
        print_json(_record(workspace, agent))
        return
    say(f"{agent.name}  ({agent.mode}{', hidden' if agent.hidden else ''})")
    if agent.other_name:
        say(f"also: {agent.other_name}")
    say(agent.description or "no description", lines=True)
    for name in ("model", "variant", "temperature", "top_p", "steps", "color"):
        if getattr(agent, name) not in ("", None):
            say(f"{name}: {getattr(agent, name)}")
    say("\nrules, weakest first; the last that fits wins", lines=True)
    print_table([("  " + layer, str(rule), rule.source) for layer, rule in _rules(workspace.agents.ruled(agent))])
    if agent.prompt:
        say(f"\nprompt\n{agent.prompt}", lines=True)


def _record(workspace: Workspace, agent: Agent) -> Json:
    ruled = workspace.agents.ruled(agent)
    record: Json = {
        name: value
        for name, value in to_json(agent).items()
        if name not in ("rules", "userRules", "projectRules") and value != ""
    }
    record["permission"] = [
        {"permission": rule.permission, "pattern": rule.pattern, "action": rule.action, "source": rule.source}
        for _, rule in _rules(ruled)
    ]
    return record


def _rules(ruled: RuledAgent) -> list[tuple[str, Any]]:
    return [(layer.name, rule) for layer in ruled.policy.layers for rule in layer.rules]


def _create(workspace: Workspace, options: argparse.Namespace) -> None:
    _refuse_bad_name(options.name)
    if options.name in workspace.agents:
        raise UsageError(f"There is an agent {options.name!r} already; tw agent show {options.name} tells where.")
    folder = workspace.folders.config if options.user else workspace.config.directory / ".toolwright"
    file: Path = folder / "agent" / f"{options.name}.md"
    trusted = is_trusted(workspace.config.directory, workspace.folders)
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("x", encoding="utf-8") as stream:
        stream.write(_markdown(options))
    if trusted:  # what the user adds to a project they trust is trusted too
        trust = Trust(workspace.folders.trust)
        imported = trust.imported(workspace.config.root)
        trust.add(content_of(workspace.config.directory, workspace.folders, imported))
    say(str(file))
    note(f"Edit it to say more; tw agent show {options.name} shows how it is read.")


def _refuse_bad_name(name: str) -> None:
    parts = name.split("/")
    if not all(
        part and part[0].isalnum() and set(part) <= set("abcdefghijklmnopqrstuvwxyz0123456789-") for part in parts
    ):
        raise UsageError(f"{name!r} is no name for an agent: use lower-case letters, digits and -, as in code-review.")


def _markdown(options: argparse.Namespace) -> str:
    import yaml

    head: Json = {"description": options.description, "mode": options.mode}
    head |= {"model": options.model} if options.model else {}
    head |= {"permission": dict.fromkeys(options.deny, "deny")} if options.deny else {}
    body = options.prompt or f"You are {options.name}. {options.description}"
    return f"---\n{yaml.safe_dump(head, sort_keys=False, allow_unicode=True)}---\n\n{body}\n"
