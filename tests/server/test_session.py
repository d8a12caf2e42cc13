"""A whole session over HTTP, as a client of the reference's would hold it."""

from collections import deque
from pathlib import Path

import pytest

from tests.server.harness import listening, served
from toolwright.server import listeners

READ = {"tools": [{"name": "read", "args": {"filePath": "a.py"}}]}
EDIT = {"tools": [{"name": "edit", "args": {"filePath": "a.py", "oldString": "hi", "newString": "bye"}}]}
ASK_EDIT = {"permission": {"edit": "ask"}}


def project(tmp_path: Path) -> Path:
    folder = tmp_path / "proj"
    folder.mkdir()
    (folder / "a.py").write_text('print("hi")\n')
    return folder


async def test_a_prompt_with_a_permission_is_asked_answered_and_carried_out(tmp_path: Path) -> None:
    folder = project(tmp_path)
    async with served(folder, READ, EDIT, {"text": "Done."}, config=ASK_EDIT) as server, listening(server) as heard:
        session = await server.session(title="t")
        answering = server.say(session, "edit it")
        asked = (await heard.wait("permission.asked"))["properties"]
        assert [one["id"] for one in await server.get("/permission")] == [asked["id"]]
        assert await server.get("/session/status") == {session: {"type": "busy"}}
        assert await server.post(f"/permission/{asked['id']}/reply", {"reply": "once"}) is True
        answer = await answering
        assert answer["info"]["role"] == "assistant"
        assert [part["text"] for part in answer["parts"] if part["type"] == "text"] == ["Done."]
        assert (folder / "a.py").read_text() == 'print("bye")\n'
        again = await server.post(f"/permission/{asked['id']}/reply", {"reply": "once"}, status=404)
        assert "already answered" in again["data"]["message"]
        await heard.wait("session.idle")
        running = next(
            at
            for at, one in enumerate(heard.events)
            if one["type"] == "message.part.updated"
            and one["properties"]["part"].get("state", {}).get("status") == "running"
        )
        assert running < heard.kinds.index("permission.asked")
        assert heard.kinds.index("session.diff") < heard.kinds.index("session.idle")


async def test_undo_and_redo_change_the_file_and_mark_the_session(tmp_path: Path) -> None:
    folder = project(tmp_path)
    async with served(folder, READ, EDIT, {"text": "Done."}) as server:
        session = await server.session()
        answer = await server.say(session, "edit it")
        prompt = answer["info"]["parentID"]
        [change] = await server.get(f"/session/{session}/diff")
        assert (change["file"], change["additions"], change["deletions"]) == ("a.py", 1, 1)
        assert await server.get(f"/session/{session}/diff?messageID={prompt}") == [change]
        reverted = await server.post(f"/session/{session}/revert", {"messageID": prompt})
        assert reverted["revert"]["messageID"] == prompt
        assert '-print("bye")' in reverted["revert"]["diff"]
        assert (folder / "a.py").read_text() == 'print("hi")\n'
        assert "revert" not in await server.post(f"/session/{session}/unrevert")
        assert (folder / "a.py").read_text() == 'print("bye")\n'


async def test_a_turn_that_changed_nothing_can_be_undone_as_well(tmp_path: Path) -> None:
    async with served(project(tmp_path), {"text": "Hello."}, {"text": "Again."}) as server:
        session = await server.session()
        prompt = (await server.say(session, "hi"))["info"]["parentID"]
        assert (await server.post(f"/session/{session}/revert", {"messageID": prompt}))["revert"]["messageID"] == prompt
        await server.say(session, "other")
        messages = await server.get(f"/session/{session}/message")
        assert [one["info"]["role"] for one in messages] == ["user", "assistant"]


async def test_abort_withdraws_the_question_ends_the_turn_and_says_so(tmp_path: Path) -> None:
    folder = project(tmp_path)
    async with served(folder, READ, EDIT, {"text": "Done."}, config=ASK_EDIT) as server, listening(server) as heard:
        session = await server.session()
        answering = server.say(session, "edit it")
        asked = (await heard.wait("permission.asked"))["properties"]
        assert await server.post(f"/session/{session}/abort") is True
        answer = await answering
        assert answer["info"]["error"]["name"] == "MessageAbortedError"
        await heard.wait("session.idle")
        assert heard.kinds.index("permission.replied") < heard.kinds.index("session.idle")
        assert await server.get("/permission") == []
        await server.post(f"/permission/{asked['id']}/reply", {"reply": "once"}, status=404)
        assert (folder / "a.py").read_text() == 'print("hi")\n'
        assert await server.post(f"/session/{session}/abort") is True


async def test_a_question_is_answered_with_labels(tmp_path: Path) -> None:
    options = [{"label": "Blue", "description": "b"}, {"label": "Red", "description": "r"}]
    asks = {"questions": [{"question": "Which colour?", "header": "Colour", "options": options}]}
    turns = ({"tools": [{"name": "question", "args": asks}]}, {"text": "Blue it is."})
    async with served(project(tmp_path), *turns) as server, listening(server) as heard:
        session = await server.session()
        answering = server.say(session, "ask me")
        asked = (await heard.wait("question.asked"))["properties"]
        assert [one["id"] for one in await server.get("/question")] == [asked["id"]]
        await server.post(f"/question/{asked['id']}/reply", {"answers": []}, status=400)
        assert await server.post(f"/question/{asked['id']}/reply", {"answers": [["Blue"]]}) is True
        assert (await answering)["parts"][-2]["text"] == "Blue it is."
        assert (await heard.wait("question.replied"))["properties"]["answers"] == [["Blue"]]


async def test_lists_stay_sorted_by_id_whatever_ids_a_client_brings(tmp_path: Path) -> None:
    turns = [{"text": f"Answer {number}."} for number in range(6)]
    async with served(project(tmp_path), *turns) as server:
        session = await server.session()
        given = ("msg_fd0000000001AAAAAAAAAAAAAA", "", "msg_fd0000800000AAAAAAAAAAAAAA", "msg_01", "msg_zz9", "")
        for number, name in enumerate(given):
            answer = await server.say(session, str(number), **({"messageID": name} if name else {}))
            assert answer["info"]["id"] > answer["info"]["parentID"]
        messages = await server.get(f"/session/{session}/message")
        assert [one["parts"][0]["text"] for one in messages if one["info"]["role"] == "user"] == list("012345")
        ids = [one["info"]["id"] for one in messages]
        assert ids == sorted(ids)
        assert given[0] in ids
        assert given[2] in ids
        newest = await server.get(f"/session/{session}/message?limit=2")
        assert [one["info"]["id"] for one in newest] == ids[-2:]
        await server.post(
            f"/session/{session}/message", {"parts": [{"type": "text", "text": "x"}], "messageID": ids[0]}, status=409
        )


async def test_a_shell_line_of_the_user_is_a_message_with_one_part(tmp_path: Path) -> None:
    async with served(project(tmp_path), {"text": "x"}, config={"permission": {"bash": "ask"}}) as server:
        session = await server.session()
        answer = await server.post(f"/session/{session}/shell", {"agent": "build", "command": "echo shell-out"})
        [part] = answer["parts"]
        assert part["tool"] == "bash"
        assert "shell-out" in part["state"]["output"]
        assert answer["info"]["time"]["completed"]


async def test_commands_are_prompts_with_a_name(tmp_path: Path) -> None:
    config = {"command": {"hello": {"template": "say hello to $ARGUMENTS", "description": "Says hello"}}}
    async with served(project(tmp_path), {"text": "Hello."}, config=config) as server:
        listed = {one["name"]: one for one in await server.get("/command")}
        assert listed["hello"]["hints"] == ["$ARGUMENTS"]
        session = await server.session()
        await server.post(f"/session/{session}/command", {"command": "hello", "arguments": "you"})
        messages = await server.get(f"/session/{session}/message")
        assert messages[0]["parts"][0]["text"] == "say hello to you"
        await server.post(f"/session/{session}/command", {"command": "nope", "arguments": ""}, status=400)


async def test_a_message_without_reply_is_stored_and_not_answered(tmp_path: Path) -> None:
    async with served(project(tmp_path)) as server:
        session = await server.session()
        answer = await server.say(session, "for later", noReply=True)
        assert answer["info"]["role"] == "user"
        assert len(await server.get(f"/session/{session}/message")) == 1


async def test_prompt_async_returns_when_the_message_is_stored(tmp_path: Path) -> None:
    async with served(project(tmp_path), {"text": "Hello."}) as server, listening(server) as heard:
        session = await server.session()
        body = {"parts": [{"type": "text", "text": "hi"}]}
        await server.post(f"/session/{session}/prompt_async", body, status=204)
        await heard.wait("session.idle")
        assert len(await server.get(f"/session/{session}/message")) == 2


async def test_sessions_are_listed_changed_copied_and_deleted(tmp_path: Path) -> None:
    async with served(project(tmp_path), {"text": "Hello."}) as server:
        first, second = await server.session(title="first"), await server.session(title="second")
        await server.say(first, "hi")
        assert [one["id"] for one in await server.get("/session")] == [first, second]
        assert [one["id"] for one in await server.get("/session?search=SECOND&limit=5")] == [second]
        renamed = await server.send("PATCH", f"/session/{second}", json={"title": "renamed"})
        assert renamed["title"] == "renamed"
        copy = await server.post(f"/session/{first}/fork", {})
        assert len(await server.get(f"/session/{copy['id']}/message")) == 2
        assert await server.get(f"/session/{first}/todo") == []
        assert await server.get(f"/session/{first}/children") == []
        assert await server.send("DELETE", f"/session/{first}") is True
        await server.get(f"/session/{first}", status=404)


async def test_a_session_is_copied_up_to_a_message_that_there_is(tmp_path: Path) -> None:
    async with served(project(tmp_path), {"text": "Hello."}) as server:
        session = await server.session()
        await server.say(session, "hi")
        first, second = [one["info"]["id"] for one in await server.get(f"/session/{session}/message")]
        for before, count in ((first, 0), (second, 1), ("", 2)):
            copy = await server.post(f"/session/{session}/fork", {"messageID": before})
            assert len(await server.get(f"/session/{copy['id']}/message")) == count
        await server.post(f"/session/{session}/fork", {"messageID": f"{second}x"}, status=404)


async def test_rules_that_a_client_gives_a_session_only_tighten(tmp_path: Path) -> None:
    folder = project(tmp_path)
    loosen = [{"permission": "edit", "pattern": "*", "action": "allow"}]
    async with served(folder, READ, EDIT, {"text": "no"}, config={"permission": {"edit": "deny"}}) as server:
        session = await server.session(permission=loosen)
        await server.say(session, "edit it")
        assert (folder / "a.py").read_text() == 'print("hi")\n'


async def test_a_text_is_told_whole_on_one_stream_and_in_pieces_on_the_other(tmp_path: Path) -> None:
    async with (
        served(project(tmp_path), {"text": "word " * 40}) as server,
        listening(server) as whole,
        listening(server, "/global/event") as pieces,
    ):
        session = await server.session()
        await server.say(session, "speak")
        await whole.wait("session.idle")
        await pieces.wait("session.idle")
        assert "message.part.delta" not in whole.kinds
        texts = [
            one["payload"]["properties"]
            for one in pieces.events
            if one["payload"]["type"] in ("message.part.delta", "message.part.updated")
        ]
        shown = ""
        for one in texts:
            if "delta" in one and "part" not in one:
                shown += one["delta"]
            elif one["part"]["type"] == "text" and one["part"]["messageID"] != texts[0]["part"]["messageID"]:
                shown = one["part"]["text"]
        assert shown == ("word " * 40).rstrip()
        assert all(one["directory"] == str(server.folder) for one in pieces.events if "directory" in one)
        assert pieces.events[0] == {"payload": {"type": "server.connected", "properties": {}}}


async def test_a_listener_that_comes_back_gets_what_it_missed(tmp_path: Path) -> None:
    async with served(project(tmp_path), {"text": "Hello."}) as server:
        async with listening(server) as first:
            await server.session()
            await first.wait("session.created")
        last = first.raw.split(b"id: ")[1].split(b"\n")[0].decode()
        second_session = await server.session()
        async with listening(server, **{"last-event-id": last}) as again:
            assert (await again.wait("session.created"))["properties"]["info"]["id"] == second_session
        async with listening(server, **{"last-event-id": "gone-7"}) as lost:
            await lost.wait("server.instance.disposed")


async def test_the_event_of_changed_files_has_all_of_the_session_and_an_undo_tells_it_anew(tmp_path: Path) -> None:
    folder = project(tmp_path)
    write = {"tools": [{"name": "write", "args": {"filePath": "new.txt", "content": "x\n"}}]}
    turns = (READ, EDIT, {"text": "One."}, write, {"text": "Two."})
    async with served(folder, *turns) as server, listening(server) as heard:
        session = await server.session()
        await server.say(session, "edit it")
        second = (await server.say(session, "write another"))["info"]["parentID"]
        told = (await heard.wait("session.diff", 2))["properties"]
        assert told["sessionID"] == session
        assert sorted(one["file"] for one in told["diff"]) == ["a.py", "new.txt"]
        assert told["diff"] == await server.get(f"/session/{session}/diff")
        await server.post(f"/session/{session}/revert", {"messageID": second})
        assert [one["file"] for one in (await heard.wait("session.diff", 3))["properties"]["diff"]] == ["a.py"]
        await server.post(f"/session/{session}/unrevert")
        assert len((await heard.wait("session.diff", 4))["properties"]["diff"]) == 2


async def test_a_stream_ends_with_its_folder_and_one_of_all_folders_goes_on(tmp_path: Path) -> None:
    async with served(project(tmp_path)) as server, listening(server, "/global/event") as every:
        async with server.client.stream("GET", "/event") as answer:
            pieces = answer.aiter_bytes()
            assert b"server.connected" in await anext(pieces)
            assert await server.post("/instance/dispose") is True
            rest = b"".join([piece async for piece in pieces])
        assert rest.count(b"server.instance.disposed") == 1
        await every.wait("server.instance.disposed")
        await server.session()
        await every.wait("session.created")


async def test_a_session_names_its_project_and_is_told_as_it_is_answered(tmp_path: Path) -> None:
    folder = project(tmp_path)
    async with served(folder, READ, EDIT, {"text": "Done."}) as server, listening(server) as heard:
        made = await server.post("/session", {"title": "t"})
        assert made["projectID"] == (await server.get("/project/current"))["id"]
        assert (await heard.wait("session.created"))["properties"]["info"] == made
        await server.say(made["id"], "edit it")
        await server.post(f"/tw/session/{made['id']}/revert", {"file": "a.py"})
        await heard.wait("session.diff", 2)
        told = [one["properties"]["info"] for one in heard.events if one["type"] == "session.updated"]
        assert told[-1] == await server.get(f"/session/{made['id']}")


async def test_a_message_without_words_and_without_an_answer_only_says_who_works(tmp_path: Path) -> None:
    async with served(project(tmp_path), {"text": "Planned."}) as server:
        session = await server.session()
        said = await server.post(f"/session/{session}/message", {"parts": [], "noReply": True, "agent": "plan"})
        assert said["info"]["agent"] == "plan"
        assert [part for part in said["parts"] if not part.get("synthetic")] == []
        assert (await server.say(session, "go on"))["info"]["agent"] == "plan"
        await server.post(f"/session/{session}/message", {"parts": []}, status=400)


def test_a_listener_that_missed_exactly_what_is_kept_gets_all_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listeners, "KEPT_FRAMES", 3)
    channel = listeners.Channel("whole", lambda seconds, call: None)
    channel._kept = deque(maxlen=3)
    for number in range(5):
        channel.tell("/p", {"type": "session.created", "properties": {"number": number}})
    missed = channel._since(f"{channel._run}-2")
    assert missed is not None
    assert [frame.number for frame in missed] == [f"{channel._run}-{number}" for number in (3, 4, 5)]
    assert channel._since(f"{channel._run}-1") is None, "one of them is gone"
    assert channel._since(f"{channel._run}-5") == []
