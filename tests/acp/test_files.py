"""Files that the editor has open: read as they stand there, written through it, and undone like all others."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.acp.harness import ASK_EDIT, EDIT, FILES, READ, call, editor, never, refused
from toolwright.acp import delegation
from toolwright.errors import ToolError
from toolwright.session.undo.file_back import Selection
from toolwright.session.undo.undo import Undo

OK = {"text": "ok"}
WRITE = call("write", filePath="a.py", content='print("new")\n')


def texts(update: dict[str, Any]) -> str:
    return "".join(one["content"]["text"] for one in update["content"] if one["type"] == "content")


async def test_a_read_shows_what_is_not_saved_yet(tmp_path: Path) -> None:
    async with editor(tmp_path / "p", READ, OK, can=FILES) as person:
        path = tmp_path / "p" / "a.py"
        person.buffers[str(path)] = "typed, not saved\n"
        await person.prompt(await person.session(), "read it")
        [end] = person.ends()
        assert "typed, not saved" in texts(end)
        assert "not saved yet" in texts(end)
        assert person.methods == ["fs/read_text_file"]
        assert path.read_text() == 'print("hi")\n'


async def test_a_saved_file_reads_as_the_disk_has_it(tmp_path: Path) -> None:
    async with editor(tmp_path / "p", READ, OK, can=FILES) as person:
        (tmp_path / "p" / "a.py").write_bytes(b"one\r\ntwo\r\n")
        person.buffers[str(tmp_path / "p" / "a.py")] = "one\ntwo\n"
        await person.prompt(await person.session(), "read it")
        assert "The lines end in CRLF." in texts(person.ends()[0])
        assert "not saved yet" not in texts(person.ends()[0])


async def test_an_edit_keeps_what_the_user_has_typed_and_is_written_once_by_the_editor(tmp_path: Path) -> None:
    path = tmp_path / "p" / "a.py"
    async with editor(tmp_path / "p", READ, EDIT, OK, can=FILES, config=ASK_EDIT) as person:
        person.buffers[str(path)] = '# mine\nprint("hi")\n'
        await person.prompt(await person.session(), "edit it")
        assert path.read_text() == '# mine\nprint("bye")\n'
        assert person.methods.count("fs/write_text_file") == 1
        assert person.methods.index("session/request_permission") < person.methods.index("fs/write_text_file")
        [asked] = person.requests
        [shown] = asked["toolCall"]["content"]
        assert (shown["oldText"], shown["newText"]) == ('# mine\nprint("hi")\n', '# mine\nprint("bye")\n')
        [diff] = [one for one in person.ends()[-1]["content"] if one["type"] == "diff"]
        assert diff["oldText"] == '# mine\nprint("hi")\n'
        assert not list(path.parent.glob(".toolwright-*"))


async def test_undo_gives_the_user_what_was_typed_back_through_the_editor(tmp_path: Path) -> None:
    path = tmp_path / "p" / "a.py"
    async with editor(tmp_path / "p", READ, EDIT, OK, can=FILES) as person:
        person.buffers[str(path)] = '# mine\nprint("hi")\n'
        session = await person.session()
        await person.prompt(session, "edit it")
        workspace = person.workspaces[-1]
        held = await workspace.sessions.open(session)
        undo = await Undo.of(workspace.files, held.conversation)
        person.buffers[str(path)] = "typed before the undo\n"
        with pytest.raises(ToolError, match="changed in the editor"):
            await undo.revert(Selection(call=person.ends()[-1]["toolCallId"]))
        del person.buffers[str(path)]
        await undo.revert(Selection(call=person.ends()[-1]["toolCallId"]))
        assert path.read_text() == '# mine\nprint("hi")\n'
        assert person.methods.count("fs/write_text_file") == 2


async def test_a_file_that_is_saved_after_it_was_read_is_still_known(tmp_path: Path) -> None:
    path = tmp_path / "p" / "a.py"
    async with editor(tmp_path / "p", READ, OK, EDIT, OK, can=FILES) as person:
        person.buffers[str(path)] = '# mine\nprint("hi")\n'
        session = await person.session()
        await person.prompt(session, "read it")
        path.write_text(person.buffers.pop(str(path)))
        await person.prompt(session, "edit it")
        assert path.read_text() == '# mine\nprint("bye")\n'


async def test_a_refused_edit_reaches_nobody(tmp_path: Path) -> None:
    async with editor(tmp_path / "p", READ, EDIT, OK, can=FILES, config={"permission": {"edit": "deny"}}) as person:
        await person.prompt(await person.session(), "edit it")
        assert "fs/write_text_file" not in person.methods
        assert (tmp_path / "p" / "a.py").read_text() == 'print("hi")\n'


async def test_new_files_and_their_folders_are_made_through_the_editor(tmp_path: Path) -> None:
    turn = call("write", filePath="deep/er/new.txt", content="one\r\n")
    async with editor(tmp_path / "p", turn, OK, can=FILES) as person:
        await person.prompt(await person.session(), "write it")
        assert (tmp_path / "p" / "deep" / "er" / "new.txt").read_bytes() == b"one\r\n"
        assert person.methods == ["fs/write_text_file"]
        [diff] = [one for one in person.ends()[0]["content"] if one["type"] == "diff"]
        assert diff["oldText"] is None


async def test_what_the_editor_makes_of_a_file_when_it_saves_is_told_and_known(tmp_path: Path) -> None:
    again = call("edit", filePath="a.py", oldString="bye", newString="so long")

    async def formatted(params: Any) -> Any:
        Path(params["path"]).write_text(params["content"].replace('"', "'"))
        return {}

    async with editor(tmp_path / "p", READ, EDIT, again, OK, can=FILES) as person:
        person.answers["fs/write_text_file"] = formatted
        await person.prompt(await person.session(), "edit it")
        assert [end["status"] for end in person.ends()] == ["completed"] * 3
        assert "changed it once more" in texts(person.ends()[1])
        assert (tmp_path / "p" / "a.py").read_text() == "print('so long')\n"


@pytest.mark.parametrize("answered", ["error", "without saving"])
async def test_a_file_without_unsaved_changes_is_written_here_if_the_editor_does_not(
    tmp_path: Path, answered: str
) -> None:
    async def nothing(_: Any) -> Any:
        return {}

    async with editor(tmp_path / "p", READ, EDIT, OK, can=FILES) as person:
        person.answers["fs/write_text_file"] = refused if answered == "error" else nothing
        await person.prompt(await person.session(), "edit it")
        assert (tmp_path / "p" / "a.py").read_text() == 'print("bye")\n'
        assert person.methods.count("fs/write_text_file") == 1


@pytest.mark.parametrize("offered", [FILES, {"fs": {"readTextFile": True}}])
async def test_a_file_with_unsaved_changes_is_left_alone_if_the_editor_does_not_write(
    tmp_path: Path, offered: Any
) -> None:
    async with editor(tmp_path / "p", READ, EDIT, OK, can=offered) as person:
        person.answers["fs/write_text_file"] = refused
        person.buffers[str(tmp_path / "p" / "a.py")] = 'mine("hi")\n'
        await person.prompt(await person.session(), "edit it")
        assert person.ends()[-1]["status"] == "failed"
        assert "not saved" in texts(person.ends()[-1])
        assert (tmp_path / "p" / "a.py").read_text() == 'print("hi")\n'
        assert not list((tmp_path / "p").glob(".toolwright-*"))


async def test_what_the_user_types_after_a_read_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "p" / "a.py"
    async with editor(tmp_path / "p", READ, WRITE, OK, can=FILES, config=ASK_EDIT) as person:
        session = await person.session()
        person.answers["fs/read_text_file"] = read = _Typing(person.buffers, str(path), "typed since\n")
        await person.prompt(session, "write it")
        assert read.count > 1
        assert "changed since it was read" in texts(person.ends()[-1])
        assert path.read_text() == 'print("hi")\n'


async def test_what_the_user_types_while_asked_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "p" / "a.py"
    async with editor(tmp_path / "p", READ, WRITE, OK, can=FILES, config=ASK_EDIT) as person:

        async def typed_first(_: Any) -> Any:
            person.buffers[str(path)] = "typed meanwhile\n"
            return {"outcome": {"outcome": "selected", "optionId": "once"}}

        person.answers["session/request_permission"] = typed_first
        await person.prompt(await person.session(), "write it")
        assert "changed in the editor" in texts(person.ends()[-1])
        assert "fs/write_text_file" not in person.methods


async def test_an_editor_that_never_says_what_it_has_is_asked_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delegation, "READING", 0.01)
    async with editor(tmp_path / "p", READ, EDIT, OK, can=FILES) as person:
        person.answers["fs/read_text_file"] = never
        await person.prompt(await person.session(), "edit it")
        assert person.methods.count("fs/read_text_file") == 1
        assert (tmp_path / "p" / "a.py").read_text() == 'print("bye")\n'


async def test_an_editor_that_never_says_that_it_has_written_is_no_success(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delegation, "WRITING", 0.01)
    async with editor(tmp_path / "p", READ, EDIT, OK, can=FILES) as person:
        person.answers["fs/write_text_file"] = never
        await person.prompt(await person.session(), "edit it")
        assert "has not said that it did" in texts(person.ends()[-1])
        assert (tmp_path / "p" / "a.py").read_text() == 'print("hi")\n'


async def test_cancel_does_not_wait_for_the_editor_to_write(tmp_path: Path) -> None:
    writing = asyncio.Event()

    async def silent(params: Any) -> None:
        writing.set()
        await never(params)

    async with editor(tmp_path / "p", READ, EDIT, OK, can=FILES) as person:
        person.answers["fs/write_text_file"] = silent
        session = await person.session()
        prompting = asyncio.create_task(person.prompt(session, "edit it"))
        await writing.wait()
        await person.peer.notify("session/cancel", {"sessionId": session})
        assert (await prompting)["stopReason"] == "cancelled"
        assert person.ends()[-1]["status"] == "failed"
        assert (tmp_path / "p" / "a.py").read_text() == 'print("hi")\n'


async def test_files_outside_of_the_project_and_of_other_encodings_are_the_disks(tmp_path: Path) -> None:
    (tmp_path / "out.txt").write_text("outside\n")
    out, wide = str(tmp_path / "out.txt"), "wide.txt"
    turns = (call("read", filePath=out), call("read", filePath=wide), OK)
    async with editor(tmp_path / "p", *turns, can=FILES, config={"permission": "allow"}) as person:
        (tmp_path / "p" / wide).write_bytes("wide\n".encode("utf-16"))
        await person.prompt(await person.session(), "read them")
        assert [end["status"] for end in person.ends()] == ["completed"] * 2
        assert person.methods == []


@pytest.mark.parametrize(("can", "files"), [({}, "editor"), (FILES, "disk")])
async def test_without_the_offer_or_by_a_setting_everything_is_on_disk(tmp_path: Path, can: Any, files: str) -> None:
    async with editor(tmp_path / "p", READ, EDIT, OK, can=can, config={"acp": {"files": files}}) as person:
        await person.prompt(await person.session(), "edit it")
        assert person.methods == []
        assert (tmp_path / "p" / "a.py").read_text() == 'print("bye")\n'


async def test_a_folder_behind_a_link_is_spoken_of_as_the_editor_does(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    async with editor(tmp_path / "link", READ, EDIT, OK, can=FILES) as person:
        person.buffers[str(tmp_path / "link" / "a.py")] = 'unsaved("hi")\n'
        await person.prompt(await person.session(), "edit it")
        [diff] = [one for one in person.ends()[-1]["content"] if one["type"] == "diff"]
        assert diff["path"] == str(tmp_path / "link" / "a.py")
        assert person.ends()[-1]["locations"] == [{"path": diff["path"], "line": 1}]
        assert (tmp_path / "real" / "a.py").read_text() == 'unsaved("bye")\n'


async def test_several_files_are_changed_through_the_editor_or_none_is(tmp_path: Path) -> None:
    patch = "\n".join(
        (
            "*** Begin Patch",
            "*** Update File: a.py",
            '-print("hi")',
            '+print("bye")',
            "*** Update File: b.py",
            "-b",
            "+c",
            "*** Delete File: d.py",
            "*** End Patch",
        )
    )
    turns = (call("read", filePath="b.py"), READ, call("apply_patch", patchText=patch), OK)
    async with editor(tmp_path / "p", *turns, can=FILES) as person:
        for name in ("b.py", "d.py"):
            (tmp_path / "p" / name).write_text("b\n")
        person.buffers[str(tmp_path / "p" / "b.py")] = "mine\nb\n"
        person.buffers[str(tmp_path / "p" / "d.py")] = "mine too\n"
        person.answers["fs/write_text_file"] = _refusing(person, "b.py")
        await person.prompt(await person.session(), "patch it")
        assert person.ends()[-1]["status"] == "failed"
        assert (tmp_path / "p" / "a.py").read_text() == 'print("hi")\n'
        assert (tmp_path / "p" / "b.py").read_text() == "b\n"
        assert (tmp_path / "p" / "d.py").read_text() == "b\n"


def _refusing(person: Any, name: str) -> Any:
    async def write(params: Any) -> Any:
        if params["path"].endswith(name):
            await refused(params)
        Path(params["path"]).write_text(params["content"])
        return {}

    return write


class _Typing:
    """Answers reads, and has a text typed after the first."""

    def __init__(self, buffers: dict[str, str], path: str, typed: str) -> None:
        self.buffers, self.path, self.typed, self.count = buffers, path, typed, 0

    async def __call__(self, params: Any) -> Any:
        self.count += 1
        content = self.buffers.get(params["path"]) or Path(params["path"]).read_text()
        self.buffers[self.path] = self.typed
        return {"content": content}
