"""The official Python client library drives `tw acp`: its own types check everything that is said."""

import asyncio
import base64
import struct
import subprocess
import zlib
from pathlib import Path
from typing import Any

import pytest

from tests.acp.harness import EDIT, READ, call
from tests.acp.place import COMMAND, Place
from tests.waiting import patience

acp = pytest.importorskip("acp", reason="the official client library, agent-client-protocol, is not here")

pytestmark = pytest.mark.slow

TODOS = [{"id": "1", "content": "first thing", "status": "in_progress", "priority": "high"}]
AGAIN = call("edit", filePath="a.py", oldString="bye", newString="so long")
OK = {"text": "Done."}


class Person:
    """A client of the library: holds what it is told, answers what it is asked."""

    def __init__(self) -> None:
        self.updates: list[Any] = []
        self.asked: list[Any] = []
        self.choices: list[str] = []
        self.buffers: dict[str, str] = {}
        self.written: list[str] = []
        self.terminals: dict[str, subprocess.Popen[str]] = {}
        self.released: list[str] = []
        self.told = asyncio.Event()

    def on_connect(self, conn: Any) -> None:
        pass

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        self.updates.append(update)
        self.told.set()

    async def request_permission(self, session_id: str, tool_call: Any, options: Any, **_: Any) -> Any:
        self.asked.append((tool_call, options))
        wanted = self.choices.pop(0)
        [option] = [one for one in options if one.kind == wanted]
        chosen = {"outcome": "selected", "optionId": option.option_id}
        return acp.RequestPermissionResponse.model_validate({"outcome": chosen})

    async def read_text_file(self, session_id: str, path: str, **_: Any) -> Any:
        return acp.ReadTextFileResponse(content=self.buffers.get(path) or Path(path).read_text())

    async def write_text_file(self, session_id: str, path: str, content: str, **_: Any) -> Any:
        self.buffers.pop(path, None)
        self.written.append(path)
        Path(path).write_text(content)

    async def create_terminal(
        self, session_id: str, command: str, args: Any = None, cwd: str | None = None, **_: Any
    ) -> Any:
        name = f"t{len(self.terminals)}"
        self.terminals[name] = subprocess.Popen([command, *args], cwd=cwd, stdout=-1, text=True)
        return acp.CreateTerminalResponse(terminal_id=name)

    async def wait_for_terminal_exit(self, session_id: str, terminal_id: str, **_: Any) -> Any:
        return acp.WaitForTerminalExitResponse(exit_code=self.terminals[terminal_id].wait())

    async def terminal_output(self, session_id: str, terminal_id: str, **_: Any) -> Any:
        said, _err = self.terminals[terminal_id].communicate()
        return acp.TerminalOutputResponse(output=said, truncated=False)

    async def kill_terminal(self, session_id: str, terminal_id: str, **_: Any) -> Any:
        self.terminals[terminal_id].kill()

    async def release_terminal(self, session_id: str, terminal_id: str, **_: Any) -> Any:
        self.released.append(terminal_id)

    def kinds(self) -> list[str]:
        return [one.session_update for one in self.updates]

    def said(self) -> str:
        return "".join(one.content.text for one in self.updates if one.session_update == "agent_message_chunk")

    async def until(self, kind: str, **fields: Any) -> None:
        def there() -> bool:
            return any(
                one.session_update == kind and all(getattr(one, name, None) == value for name, value in fields.items())
                for one in self.updates
            )

        while not there():
            self.told.clear()
            await self.told.wait()


def capabilities(*, delegates: bool) -> Any:
    said = {"fs": {"readTextFile": delegates, "writeTextFile": delegates}, "terminal": delegates}
    return acp.schema.ClientCapabilities.model_validate(said)


def started(place: Place, person: Person) -> Any:
    return acp.spawn_agent_process(person, *COMMAND, env=place.environment, cwd=place.folder)


async def test_a_whole_session(tmp_path: Path) -> None:
    turns = (
        {"reasoning": "hm", "text": "I see."},
        call("todowrite", todos=TODOS),
        {"text": "Planned."},
        *(READ, EDIT, OK),
        AGAIN,
        *(call("bash", command="wc a.py"), OK),
        *(call("bash", command="wc a.py"), OK),
        {"text": "Hello."},
        call("bash", command="sleep 600"),
        OK,
    )
    command = {"hello": {"template": "Say hello to $1.", "description": "Says hello"}}
    permission = {"edit": "ask", "bash": {"*": "ask", "sleep *": "allow"}}
    place = Place(tmp_path, *turns, permission=permission, command=command)
    person, cwd = Person(), str(place.folder)
    async with patience(), started(place, person) as (agent, _):
        first = await agent.initialize(protocol_version=1, client_capabilities=capabilities(delegates=False))
        assert first.agent_capabilities.load_session
        assert first.auth_methods == []
        session = await agent.new_session(cwd=cwd, mcp_servers=[])
        await person.until("available_commands_update")
        [listed] = person.updates
        assert {"hello", "compact"} <= {one.name for one in listed.available_commands}

        link = acp.resource_link_block(name="a.py", uri=(place.folder / "a.py").as_uri())
        picture = acp.image_block(base64.b64encode(png()).decode(), mime_type="image/png")
        end = await agent.prompt(prompt=[acp.text_block("look"), link, picture], session_id=session.session_id)
        assert (end.stop_reason, person.said()) == ("end_turn", "I see.")
        assert "agent_thought_chunk" in person.kinds()

        await agent.prompt(prompt=[acp.text_block("plan")], session_id=session.session_id)
        [plan] = [one for one in person.updates if one.session_update == "plan"]
        assert [(one.content, one.priority, one.status) for one in plan.entries] == [
            ("first thing", "high", "in_progress")
        ]

        person.choices = ["allow_once", "reject_once"]
        await agent.prompt(prompt=[acp.text_block("edit")], session_id=session.session_id)
        last = [one for one in person.updates if one.session_update == "tool_call_update"][-1]
        [diff] = [one for one in last.content if one.type == "diff"]
        assert (diff.path, diff.old_text, diff.new_text) == (f"{cwd}/a.py", 'print("hi")\n', 'print("bye")\n')
        assert last.locations[0].path == f"{cwd}/a.py"
        assert person.asked[0][0].content[0].new_text == 'print("bye")\n'
        await agent.prompt(prompt=[acp.text_block("edit again")], session_id=session.session_id)
        assert (place.folder / "a.py").read_text() == 'print("bye")\n'

        person.choices = ["allow_always"]
        await agent.prompt(prompt=[acp.text_block("count")], session_id=session.session_id)
        [always] = [one for one in person.asked[-1][1] if one.kind == "allow_always"]
        assert always.name == "Always allow `wc *` in this project"
        await agent.prompt(prompt=[acp.text_block("count again")], session_id=session.session_id)
        assert not person.choices
        assert len(person.asked) == 3

        await agent.set_session_mode(session_id=session.session_id, mode_id="plan")
        await person.until("current_mode_update", current_mode_id="plan")
        model = session.config_options[0].current_value
        options = await agent.set_config_option(config_id="model", session_id=session.session_id, value=model)
        assert [one.current_value for one in options.config_options][:2] == [model, "plan"]
        with pytest.raises(acp.RequestError):
            await agent.set_session_mode(session_id=session.session_id, mode_id="nope")
        await agent.set_session_mode(session_id=session.session_id, mode_id="build")

        await agent.prompt(prompt=[acp.text_block("/hello world")], session_id=session.session_id)
        assert person.said().endswith("Hello.")

        asking = asyncio.create_task(agent.prompt(prompt=[acp.text_block("slow")], session_id=session.session_id))
        await person.until("tool_call_update", title="sleep 600", status="in_progress")
        await agent.cancel(session.session_id)
        assert (await asking).stop_reason == "cancelled"
        [failed] = [one for one in person.updates if one.session_update == "tool_call_update"][-1:]
        assert failed.status == "failed"

        rows = await agent.list_sessions(cwd=cwd)
        assert [one.session_id for one in rows.sessions] == [session.session_id]
        copy = await agent.fork_session(cwd=cwd, session_id=session.session_id)
        assert copy.session_id != session.session_id
        await agent.close_session(copy.session_id)

    again = Person()
    async with patience(), started(place, again) as (agent, _):
        await agent.initialize(protocol_version=1, client_capabilities=capabilities(delegates=False))
        loaded = await agent.load_session(cwd=cwd, session_id=session.session_id, mcp_servers=[])
        assert loaded.modes.current_mode_id == "build"
        spoken = [one for one in again.updates if one.session_update == "user_message_chunk"]
        assert [one.content.type for one in spoken][:3] == ["text", "resource_link", "image"]
        assert spoken[0].content.text == "look"
        assert again.said() == person.said()
        edits = [one for one in again.updates if one.session_update == "tool_call_update" and one.kind == "edit"]
        [diff] = [one for one in edits[0].content if one.type == "diff"]
        assert diff.old_text == 'print("hi")\n'
        assert "plan" in again.kinds()


async def test_files_and_terminals_are_left_to_the_client(tmp_path: Path) -> None:
    turns = (READ, EDIT, call("write", filePath="new.txt", content="new\n"), call("bash", command="cat a.py"), OK)
    place = Place(tmp_path, *turns, permission="allow", acp={"terminal": True})
    person, path = Person(), place.folder / "a.py"
    person.buffers[str(path)] = '# mine\nprint("hi")\n'
    async with patience(), started(place, person) as (agent, _):
        await agent.initialize(protocol_version=1, client_capabilities=capabilities(delegates=True))
        session = await agent.new_session(cwd=str(place.folder), mcp_servers=[])
        await agent.prompt(prompt=[acp.text_block("go")], session_id=session.session_id)
        ends = [one for one in person.updates if getattr(one, "status", "") == "completed"]
        assert "# mine" in ends[0].content[0].content.text
        assert person.written == [str(path), str(place.folder / "new.txt")]
        assert path.read_text() == '# mine\nprint("bye")\n'
        assert ends[-1].content[0].terminal_id == "t0"
        assert ends[-1].raw_output["output"] == '# mine\nprint("bye")\n'
        assert person.released == ["t0"]


def png() -> bytes:
    """The smallest picture there is."""

    def piece(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + piece(b"IHDR", head) + piece(b"IDAT", zlib.compress(b"\0\0")) + piece(b"IEND", b"")
