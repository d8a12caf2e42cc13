"""What clients may count on beside the shapes: headers, signs of life, the order of events, what holds for how long."""

import asyncio
import base64
import gzip
import json
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest

from tests.server.harness import TOKEN, listening, served
from tests.server.test_security import plain
from tests.server.test_session import ASK_EDIT, EDIT, READ, project
from tests.waiting import until
from toolwright.app.server_secret import Secret
from toolwright.events import FileEdited
from toolwright.server import listeners, running
from toolwright.server.routes import prompts
from toolwright.server.running import ServerOptions

if TYPE_CHECKING:
    from toolwright.http_server.uvicorn_server import Server
    from toolwright.server.serving import Serving

SLEEP = {"tools": [{"name": "bash", "args": {"command": "sleep 100", "description": "wait"}}]}


async def test_long_answers_are_compressed_for_who_asks_and_streams_never(tmp_path: Path) -> None:
    async with served(project(tmp_path)) as server:
        wanted = {"accept-encoding": "gzip"}
        async with server.client.stream("GET", "/doc", headers=wanted) as answer:
            raw = b"".join([piece async for piece in answer.aiter_raw()])
        assert answer.headers["content-encoding"] == "gzip"
        assert json.loads(gzip.decompress(raw))["openapi"] == "3.1.0"
        plainly = await server.client.get("/doc", headers={"accept-encoding": "identity"})
        assert "content-encoding" not in plainly.headers
        async with server.client.stream("GET", "/event", headers=wanted) as stream:
            assert "content-encoding" not in stream.headers
            assert stream.headers["content-type"].startswith("text/event-stream")
            assert stream.headers["cache-control"] == "no-store"
            assert stream.headers["x-accel-buffering"] == "no"


async def test_a_stream_gives_signs_of_life_and_every_frame_is_one_line_of_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listeners, "HEARTBEAT", 0.01)
    async with served(project(tmp_path)) as server, listening(server) as heard:
        await heard.wait("server.heartbeat", 2)
        await server.session(title="two\nlines")
        await heard.wait("session.created")
        assert heard.kinds[0] == "server.connected"
        assert b"\r" not in heard.raw
        for frame in heard.raw.split(b"\n\n")[:-1]:
            assert [line[:5] for line in frame.split(b"\n")] in ([b"data:"], [b"id: " + frame[4:5], b"data:"])


async def test_a_long_turn_is_kept_alive_with_blanks_before_its_json(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prompts, "BLANK_SECONDS", 0.01)
    async with served(project(tmp_path), SLEEP) as server:
        session = await server.session()
        body = {"parts": [{"type": "text", "text": "wait"}]}
        async with server.client.stream("POST", f"/session/{session}/message", json=body) as answer:
            assert answer.status_code == 200
            pieces = answer.aiter_bytes()
            assert not (await anext(pieces)).strip()
            await server.post(f"/session/{session}/abort")
            rest = b"".join([piece async for piece in pieces])
        assert json.loads(rest)["info"]["error"]["name"] == "MessageAbortedError"


async def test_a_turn_goes_on_when_its_client_goes_away(tmp_path: Path) -> None:
    async with served(project(tmp_path), READ, EDIT, {"text": "Done."}, config=ASK_EDIT) as server:
        async with listening(server) as heard:
            session = await server.session()
            asking = server.say(session, "edit it")
            asked = (await heard.wait("permission.asked"))["properties"]
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)
            await server.post(f"/permission/{asked['id']}/reply", {"reply": "once"})
            await heard.wait("session.idle")
        assert "bye" in (server.folder / "a.py").read_text()


async def test_events_of_a_turn_come_in_the_order_that_clients_depend_on(tmp_path: Path) -> None:
    async with served(project(tmp_path), READ, EDIT, {"text": "Done."}, config=ASK_EDIT) as server:
        async with listening(server) as heard:
            session = await server.session()
            asking = server.say(session, "edit it")
            asked = (await heard.wait("permission.asked"))["properties"]
            running_calls = [
                one["properties"]["part"]["callID"]
                for one in heard.events
                if one["type"] == "message.part.updated"
                and one["properties"]["part"].get("state", {}).get("status") == "running"
            ]
            assert asked["tool"]["callID"] in running_calls
            await server.post(f"/permission/{asked['id']}/reply", {"reply": "once"})
            await asking
            await heard.wait("session.idle")
        told: set[str] = set()
        for event in heard.events:
            if event["type"] == "message.updated":
                told.add(event["properties"]["info"]["id"])
            if event["type"] == "message.part.updated":
                assert event["properties"]["part"]["messageID"] in told
        kinds = heard.kinds
        assert kinds.index("message.updated") < kinds.index("session.status")
        assert kinds.index("permission.replied") < kinds.index("session.idle")
        after = kinds[kinds.index("session.idle") + 1 :]
        assert set(after) <= {"session.updated", "session.diff"}


async def test_the_secret_comes_in_the_query_as_well_and_named_hosts_are_answered(tmp_path: Path) -> None:
    pair = base64.b64encode(f"opencode:{TOKEN}".encode()).decode()
    async with served(tmp_path / "p") as server:
        assert (await plain(server, path=f"/path?auth_token={pair}")).status_code == 200
        assert (await plain(server, path="/path?auth_token=d3Jvbmc=")).status_code == 401
    options = ServerOptions(folders=(), secret=None, allowed_hosts=("Box.local",), host="0.0.0.0", environment={})
    hosts = running._hosts(options, 4096)
    assert {"box.local:4096", "127.0.0.1:4096", "localhost:4096", "[::1]:4096"} == hosts


def test_a_program_that_waits_for_the_line_of_the_reference_gets_it(capsys: pytest.CaptureFixture[str]) -> None:
    options = ServerOptions(folders=(), secret=Secret(value="s"), environment={"OPENCODE_CONFIG_CONTENT": "{}"})
    running._announce(options, "http://127.0.0.1:4096")
    first, second, third = capsys.readouterr().out.splitlines()
    assert first == "opencode server listening on http://127.0.0.1:4096"
    assert second == "toolwright server listening on http://127.0.0.1:4096"
    assert third == "open http://127.0.0.1:4096/k-s"


async def test_a_folder_that_nobody_uses_is_closed_and_opened_again_by_the_next_request(tmp_path: Path) -> None:
    async with served(project(tmp_path)) as server:
        await server.get("/path")
        closing = asyncio.create_task(running._close_idle(server.serving, 0.05))
        await until(lambda: not server.serving.projects.workspaces)
        closing.cancel()
        assert (await server.get("/path"))["directory"] == str(server.folder)


async def test_tools_of_a_prompt_hold_for_it_alone_and_loosen_nothing(tmp_path: Path) -> None:
    write = {"tools": [{"name": "write", "args": {"filePath": "b.txt", "content": "x"}}]}
    turns = (write, {"text": "one"}, write, {"text": "two"}, write, {"text": "three"})
    async with served(project(tmp_path), *turns, config={"permission": {"edit": "deny"}}) as server:
        session = await server.session()
        await server.say(session, "with", tools={"write": True, "edit": True})
        assert not (server.folder / "b.txt").exists()
    async with served(tmp_path / "other", *turns) as server:
        session = await server.session()
        await server.say(session, "without", tools={"write": False})
        assert not (server.folder / "b.txt").exists()
        await server.say(session, "again")
        assert (server.folder / "b.txt").exists()


async def test_parts_are_changed_and_removed_and_everybody_hears_of_it(tmp_path: Path) -> None:
    async with served(project(tmp_path), {"text": "Hello."}) as server, listening(server) as heard:
        session = await server.session()
        answer = await server.say(session, "hi")
        part = next(one for one in answer["parts"] if one["type"] == "text")
        where = f"/session/{session}/message/{answer['info']['id']}/part/{part['id']}"
        assert (await server.send("PATCH", where, json={**part, "text": "Bye."}))["text"] == "Bye."
        await server.send("PATCH", where, status=400, json={"text": 7})
        assert await server.send("DELETE", where) is True
        await heard.wait("message.part.removed")
        await server.send("DELETE", where, status=404)


async def test_a_terminal_client_is_told_what_others_want_of_it(tmp_path: Path) -> None:
    async with served(project(tmp_path)) as server, listening(server) as heard:
        session = await server.session()
        for name, body in {
            "append-prompt": {"text": "more"},
            "show-toast": {"message": "hello", "variant": "info"},
            "select-session": {"sessionID": session},
            "publish": {"type": "tui.command.execute", "properties": {"command": "session.list"}},
            "open-help": {},
        }.items():
            assert await server.post(f"/tui/{name}", body) is True
        for kind in ("tui.prompt.append", "tui.toast.show", "tui.session.select", "tui.command.execute"):
            await heard.wait(kind)
        assert await server.get("/tui/control/next") == {"path": "/tui/append-prompt", "body": {"text": "more"}}
        assert await server.post("/tui/control/response", {}) is True
        await server.post("/tui/publish", {"type": "session.deleted", "properties": {}}, status=400)


async def test_commands_todos_and_summaries_are_told(tmp_path: Path) -> None:
    todo = {"id": "1", "content": "wash", "status": "pending", "priority": "high"}
    turns = (
        {"tools": [{"name": "todowrite", "args": {"todos": [todo]}}]},
        {"text": "Noted."},
        {"text": "What was said.", "repeat": True},
    )
    config = {"command": {"note": {"template": "note $ARGUMENTS"}}}
    async with served(project(tmp_path), *turns, config=config) as server, listening(server) as heard:
        session = await server.session()
        await server.post(f"/session/{session}/command", {"command": "note", "arguments": "it"})
        executed = (await heard.wait("command.executed"))["properties"]
        assert (executed["name"], executed["arguments"], executed["sessionID"]) == ("note", "it", session)
        todos = (await heard.wait("todo.updated"))["properties"]["todos"]
        assert todos == await server.get(f"/session/{session}/todo")
        model = {"providerID": "scripted", "modelID": "scripted"}
        assert await server.post(f"/session/{session}/summarize", model) is True
        assert (await heard.wait("session.compacted"))["properties"]["sessionID"] == session


async def test_an_archived_session_says_so_and_usage_adds_up(tmp_path: Path) -> None:
    async with served(project(tmp_path), {"text": "Hello."}) as server:
        session = await server.session()
        await server.say(session, "hi")
        changed = await server.send("PATCH", f"/session/{session}", json={"time": {"archived": 5}})
        assert changed["time"]["archived"] == 5
        [row] = await server.get("/tw/usage")
        assert (row["sessionID"], row["tokens"] > 0) == (session, True)
        assert await server.post("/log", {"service": "s", "level": "info", "message": "m"}) is True


async def test_a_second_signal_ends_the_program_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ended: list[int] = []
    note = tmp_path / "note"
    note.touch()

    class Slow:
        ending = False

        async def end(self) -> None:
            await asyncio.Event().wait()

    stop = running._Stop(cast("Serving", Slow()), cast("Server", object()), note)
    monkeypatch.setattr("os._exit", ended.append)
    stop()
    assert ended == []
    stop()
    assert ended == [1]
    assert not note.exists()


async def test_what_happens_beside_the_sessions_is_told_in_both_dialects(tmp_path: Path) -> None:
    async with (
        served(project(tmp_path)) as server,
        listening(server) as one,
        listening(server, "/global/event") as all_,
    ):
        workspace = await server.serving.projects.of("")
        workspace.bus.publish(FileEdited(file="/x"))
        assert (await one.wait("file.edited"))["properties"] == {"file": "/x"}
        assert (await all_.wait("file.edited"))["payload"]["properties"] == {"file": "/x"}


async def test_a_turn_that_checked_out_another_branch_is_told_also_in_a_worktree(tmp_path: Path) -> None:
    folder, kept = project(tmp_path), tmp_path / "git"
    kept.mkdir()
    (kept / "HEAD").write_text("ref: refs/heads/main\n")
    (folder / ".git").write_text("gitdir: ../git\n")
    async with served(folder, {"text": "Hello."}) as server, listening(server) as heard:
        assert await server.get("/vcs") == {"branch": "main"}
        (kept / "HEAD").write_text("ref: refs/heads/feature/x\n")
        await server.say(await server.session(), "hi")
        assert (await heard.wait("vcs.branch.updated"))["properties"] == {"branch": "feature/x"}
        (kept / "HEAD").write_text("0123456789abcdef\n")
        assert await server.get("/vcs") == {}
