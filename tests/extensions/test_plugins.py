"""Plugins: their hooks fire for every call of every kind, in order, apart from one another, within a time."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.extensions.loading import needs_node
from toolwright.extensions import plugins as plugins_module
from toolwright.session.events import SessionStatus
from toolwright.testing import ScriptedModel, ScriptedUser, make_workspace
from toolwright.workspace import Workspace

PYTHON = """
import json
from pathlib import Path
from toolwright import ToolError

def plugin(host):
    seen = Path(host.directory) / "seen.jsonl"

    def note(name, *said):
        with seen.open("a") as stream:
            stream.write(json.dumps([name, *said]) + "\\n")

    async def before(input, output):
        note("before", input["tool"])
        if "forbidden" in json.dumps(output["args"]):
            raise ToolError("not that one", "denied")
        if output["args"].get("filePath") == "wrong.txt":
            output["args"]["filePath"] = "right.txt"

    async def after(input, output):
        output["output"] += " [seen]"

    async def ask(input, output):
        note("ask", input["permission"])
        output["status"] = "allow" if "good" in str(input["patterns"]) else "deny"

    async def message(input, output):
        output["parts"][0]["text"] += " And politely."

    async def params(input, output):
        output["temperature"] = 0.25

    async def system(input, output):
        output["system"].append("Speak in rhymes.")

    async def messages(input, output):
        for one in output["messages"]:
            for part in one["parts"]:
                if part["type"] == "text":
                    part["text"] = part["text"].replace("secret", "[removed]")

    async def env(input, output):
        output["env"]["ADDED"] = "by plugin"

    async def event(input):
        note("event", input["event"]["type"])

    return {
        "tool.execute.before": before, "tool.execute.after": after, "permission.ask": ask, "chat.message": message,
        "chat.params": params, "experimental.chat.system.transform": system,
        "experimental.chat.messages.transform": messages, "shell.env": env, "event": event,
        "tool": {"plugged": {"description": "d", "args": {"n": {"type": "integer", "default": 2}},
            "execute": lambda args, ctx: f"plugged {args['n']}"}},
    }
"""

JAVASCRIPT = """
import fs from "node:fs"
export const Guard = async ({ directory }) => {
  const note = (...said) => fs.appendFileSync(directory + "/seen.jsonl", JSON.stringify(said) + "\\n")
  return {
    "tool.execute.before": async (input, output) => {
      note("before", input.tool)
      if (JSON.stringify(output.args).includes("forbidden")) throw new Error("not that one")
      if (output.args.filePath === "wrong.txt") output.args.filePath = "right.txt"
    },
    "tool.execute.after": async (input, output) => { output.output += " [seen]" },
    "permission.ask": async (input, output) => {
      note("ask", input.permission)
      output.status = String(input.patterns).includes("good") ? "allow" : "deny"
    },
    "chat.message": async (input, output) => { output.parts[0].text += " And politely." },
    "chat.params": async (input, output) => { output.temperature = 0.25 },
    "experimental.chat.system.transform": async (input, output) => { output.system.push("Speak in rhymes.") },
    "experimental.chat.messages.transform": async (input, output) => {
      for (const one of output.messages) for (const part of one.parts)
        if (part.type === "text") part.text = part.text.replace("secret", "[removed]")
    },
    "shell.env": async (input, output) => { output.env.ADDED = "by plugin" },
    event: async ({ event }) => note("event", event.type),
    tool: { plugged: { description: "d", args: { n: { type: "integer", default: 2 } },
      execute: async (args) => `plugged ${args.n}` } },
  }
}
"""

BOTH = pytest.mark.parametrize(
    ("name", "text"), [("guard.py", PYTHON), pytest.param("guard.js", JAVASCRIPT, marks=needs_node)]
)


@BOTH
async def test_hooks_around_calls(project: Path, name: str, text: str) -> None:
    _write(project, name, text)
    (project / "right.txt").write_text("right\n")
    user = ScriptedUser()
    config = {"permission": {"bash": "allow", "read": {"*": "allow", "good.txt": "ask", "bad.txt": "ask"}}}
    for file in ("good.txt", "bad.txt"):
        (project / file).write_text("text\n")
    async with make_workspace(project, user=user, config=config) as workspace:
        session = workspace.session()
        blocked = await session.call("bash", command="echo forbidden", description="d")
        assert blocked.error is not None
        assert blocked.output == "not that one"
        assert "right" in (await session.call("read", filePath="wrong.txt")).output
        assert (await session.call("plugged")).output == "plugged 2 [seen]"
        shell = await session.call("bash", command="echo $ADDED", description="d")
        assert shell.output.startswith("by plugin")
        assert (await session.call("read", filePath="good.txt")).error is None
        refused = await session.call("read", filePath="bad.txt")
        assert refused.error is not None
        assert refused.error.kind == "rejected"
        assert user.questions == []
    assert ["before", "bash"] in _seen(project)


@BOTH
async def test_hooks_around_prompts_and_requests(project: Path, name: str, text: str) -> None:
    _write(project, name, text)
    model = ScriptedModel({"text": "Done."})
    async with make_workspace(project, model=model) as workspace, workspace.session() as session:
        await session.prompt("Tell me the secret.")
        request = model.requests[0]
        assert "Speak in rhymes." in str(request.messages)
        assert "Tell me the [removed]. And politely." in str(request.messages)
        assert request.settings.temperature == 0.25
    types = [said[1] for said in _seen(project) if said[0] == "event"]
    assert {"session.created", "message.updated", "message.part.updated", "session.idle"} <= set(types)


@BOTH
async def test_hooks_fire_for_calls_in_a_batch_and_of_subagents(project: Path, name: str, text: str) -> None:
    _write(project, name, text)
    (project / "a.txt").write_text("text\n")
    read: Any = {"name": "read", "args": {"filePath": "a.txt"}}
    task: Any = {"name": "task", "args": {"description": "d", "prompt": "p", "subagent_type": "general"}}
    model = ScriptedModel({"tools": [task]}, {"tools": [read]}, {"text": "below"}, {"text": "Done."})
    config = {"experimental": {"batch_tool": True}}
    async with make_workspace(project, model=model, config=config) as workspace, workspace.session() as session:
        await session.prompt("Go.")
        await session.call("batch", tool_calls=[{"tool": "read", "parameters": {"filePath": "a.txt"}}])
    before = [said[1] for said in _seen(project) if said[0] == "before"]
    assert before == ["task", "read", "batch", "read"]


async def test_who_prompts_is_told_that_a_plugin_is_left_out(project: Path) -> None:
    folder = project / ".toolwright" / "plugin"
    folder.mkdir(parents=True)
    (folder / "broken.py").write_text("raise ValueError('no good')\n")
    async with make_workspace(project, model=ScriptedModel({"text": "Hello."})) as workspace:
        told = list[str]()
        workspace.bus.subscribe(
            lambda event: told.append(str(event.status.get("notice"))) if isinstance(event, SessionStatus) else None
        )
        assert (await workspace.prompt("hello")).text == "Hello."
    assert [one for one in told if one.startswith("The plugin broken.py is left out: ") and "no good" in one]


async def test_a_broken_plugin_is_told_and_stops_nothing_else(project: Path) -> None:
    _write(project, "broken.py", "x = 1\nraise ValueError('no')\n")
    _write(project, "none.py", "x = 1\n")
    _write(project, "guard.py", PYTHON)
    async with make_workspace(project) as workspace:
        assert (await workspace.call("plugged")).output == "plugged 2 [seen]"
        told = {Path(one.name).name: one.reason for one in workspace.left_out()}
    assert told["broken.py"] == "2: ValueError: no"
    assert "expected a function plugin(host)" in told["none.py"]


ADDING_PYTHON = """
def plugin(host):
    def config(settings):
        settings["command"]["greet"] = {"template": "Say hello to $1"}
        settings["agent"]["guest"] = {"mode": "subagent", "description": "Visits", "prompt": "Visit.",
            "permission": {"bash": "deny", "edit": "allow"}}
        settings["agent"]["build"] = {"prompt": "Obey me."}
        settings["agent"]["odd"] = {"mode": "sometimes"}

    def definition(given, answer):
        if given["toolID"] == "read":
            answer["description"] = "Reads, said otherwise."

    return {"config": config, "tool.definition": definition}
"""
ADDING_JAVASCRIPT = """
export const Adding = async () => ({
  config: async (settings) => {
    settings.command.greet = { template: "Say hello to $1" }
    settings.agent.guest = { mode: "subagent", description: "Visits", prompt: "Visit.",
      permission: { bash: "deny", edit: "allow" } }
    settings.agent.build = { prompt: "Obey me." }
    settings.agent.odd = { mode: "sometimes" }
  },
  "tool.definition": async (given, answer) => {
    if (given.toolID === "read") answer.description = "Reads, said otherwise."
  },
})
"""


@pytest.mark.parametrize(
    ("name", "text"),
    [("adding.py", ADDING_PYTHON), pytest.param("adding.js", ADDING_JAVASCRIPT, marks=needs_node)],
)
async def test_plugins_add_agents_and_commands_and_describe_tools(project: Path, name: str, text: str) -> None:
    _write(project, name, text)
    config = {"permission": {"edit": "deny"}}
    for run in ("first", "remembered"):
        model = ScriptedModel({"text": "Hello."})
        async with make_workspace(project, model=model, config=config) as workspace, workspace.session() as session:
            assert ("greet" in workspace.commands) == (run == "remembered")
            await session.prompt("/greet Ada")
            [request] = model.requests
            assert "Say hello to Ada" in str(request.messages)
            described = {tool.name: tool.description for tool in request.tools}
            assert described["read"] == "Reads, said otherwise."
            guest = workspace.session("build").ruled_agent_named("guest")
            assert guest.decide("bash", "ls") == "deny"
            assert guest.decide("edit", "a.py") == "deny"
            assert workspace.agents["build"].prompt == ""
            assert "its agent odd is left out" in str([one.reason for one in workspace.left_out()])


@needs_node
async def test_a_plugin_counts_whatever_else_its_file_exports(project: Path) -> None:
    helpers = (
        "export class Manager { constructor() { this.jobs = [] } }\n"
        "export const clean = (content) => content.replace('a', 'b')\n"
        "export const double = (n) => n * 2\n"
        "export const SIZE = 3\n"
    )
    _write(project, "guard.js", JAVASCRIPT + helpers)
    async with make_workspace(project) as workspace:
        assert (await workspace.call("plugged")).output == "plugged 2 [seen]"
        [told] = [one.reason for one in workspace.left_out()]
    assert told.startswith("clean is no plugin: TypeError")


async def test_a_guard_that_hangs_blocks_the_call_and_nothing_else(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _write(
        project,
        "slow.py",
        "import time\ndef plugin(host):\n    def before(input, output):\n"
        "        if input['tool'] == 'glob':\n            time.sleep(3600)\n"
        "    return {'tool.execute.before': before}\n",
    )
    (project / "a.txt").write_text("text\n")
    async with make_workspace(project) as workspace:
        session = workspace.session()
        assert (await session.call("read", filePath="a.txt")).error is None
        with monkeypatch.context() as hurried:
            hurried.setattr(plugins_module, "TO_ANSWER", 0.2)
            hung = await session.call("glob", pattern="*")
        assert hung.error is not None
        assert hung.error.kind == "timeout"
        assert (await session.call("read", filePath="a.txt")).error is None


async def test_plugins_of_the_settings_come_first_and_are_found_from_their_file(project: Path) -> None:
    extra = project / "extra"
    extra.mkdir()
    adding = (
        "def plugin(host):\n    def after(i, o):\n        o['output'] += {!r} + str(host.options.get('x', ''))\n"
        "    return {{'tool.execute.after': after}}\n"
    )
    (extra / "one.py").write_text(adding.format(" one"))
    _write(project, "two.py", adding.format(" two"))
    (project / "opencode.json").write_text(json.dumps({"plugin": [["./extra/one.py", {"x": 1}], "./missing.js"]}))
    (project / "a.txt").write_text("text\n")
    async with make_workspace(project) as workspace:
        assert (await workspace.call("read", filePath="a.txt")).output.endswith(" one1 two")
        assert [one.name for one in workspace.left_out()] == ["./missing.js"]


async def test_pure_leaves_plugins_out(project: Path) -> None:
    _write(project, "guard.py", PYTHON)
    async with make_workspace(project, pure=True) as workspace:
        assert "There is no tool" in (await workspace.call("plugged")).output


async def test_an_untrusted_project_brings_no_plugins(project: Path) -> None:
    mark = project / "mark"
    _write(project, "evil.py", f"open({str(mark)!r}, 'w').close()\ndef plugin(host):\n    return {{}}\n")
    _write(project, "typed.py", f"open({str(mark)!r}, 'w').close()\nextension = None\n")
    (project / "opencode.json").write_text(json.dumps({"plugin": ["./.opencode/plugin/evil.py"]}))
    async with make_workspace(project, trust=False) as workspace:
        await workspace.call("read", filePath="opencode.json")
        assert workspace.plugins is None
    assert not mark.exists()


async def test_a_python_file_may_hold_an_extension_itself(project: Path) -> None:
    _write(
        project,
        "typed.py",
        "from toolwright import Extension\n"
        "def extension(host):\n"
        "    def where() -> str:\n        'Where.'\n        return host.directory.name\n"
        "    def read() -> str:\n        'False.'\n        return 'FALSE'\n"
        "    return Extension(name='typed', tools=[where, read], replaces=True)\n",
    )
    _write(project, "bad.py", "extension = 5\n")
    async with make_workspace(project) as workspace:
        assert (await workspace.call("where")).output == "project"
        assert (await workspace.call("read")).output != "FALSE", "a file does not take the place of our tools"
        assert "bad.py" in [one.name for one in workspace.left_out()]


async def test_an_extension_in_a_file_brings_agents_and_commands(project: Path) -> None:
    _write(
        project,
        "typed.py",
        "from toolwright import Extension\n"
        "extension = Extension(agents={'helper': {'description': 'Helps.'}, 'build': {'prompt': 'Mine.'}},\n"
        "    commands={'say': {'template': 'Say $1.'}, 'odd': {}})\n",
    )
    async with make_workspace(project) as workspace:
        assert workspace.agents["helper"].description == "Helps."
        assert workspace.agents["build"].prompt != "Mine.", "nothing of the same name gives way"
        assert workspace.commands["say"].template == "Say $1."
        assert "its command odd is left out: it has no template" in [one.reason for one in workspace.left_out()]


@asynccontextmanager
async def _opened(project: Path) -> AsyncIterator[Workspace]:
    async with make_workspace(project) as workspace:
        yield workspace


def _write(project: Path, name: str, text: str) -> None:
    file = project / ".opencode/plugin" / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def _seen(project: Path) -> list[list[str]]:
    return [json.loads(line) for line in (project / "seen.jsonl").read_text().splitlines()]
