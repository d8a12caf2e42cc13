"""The server as a stranger on the same machine, or a page in a browser, would try it."""

import base64
import json
import os
import random
import stat
import subprocess
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx2
import pytest

from tests.server.harness import TOKEN, Served, served
from toolwright.app.server_secret import Secret, find_token, write_server_file
from toolwright.cli import main


async def plain(server: Served, method: str = "GET", path: str = "/path", **more: Any) -> httpx2.Response:
    """A request that brings nothing of itself."""
    async with httpx2.AsyncClient(base_url=server.url, trust_env=False) as client:
        return await client.request(method, path, **more)


async def test_without_the_secret_nothing_is_told_but_the_page_which_asks_for_it(tmp_path: Path) -> None:
    async with served(tmp_path / "p") as server:
        for path in ("/path", "/doc", "/event", "/nowhere", "/global/health", "/tw/page/key", "/page", "//page/app.js"):
            answer = await plain(server, path=path)
            assert answer.status_code == 401
            assert answer.headers["www-authenticate"].startswith("Basic")
            assert TOKEN not in answer.text
        for path in ("/", "/page/app.js", "/page/style.css"):
            answer = await plain(server, path=path)
            assert answer.status_code == 200
            assert "set-cookie" not in answer.headers
            assert not any(secret in answer.text for secret in (TOKEN, Secret(value=TOKEN).page_key()))
            assert (await plain(server, "POST", path, json={})).status_code == 401
        page = await plain(server, path="/")
        assert "default-src 'none'" in page.headers["content-security-policy"]
        assert page.headers["referrer-policy"] == "no-referrer"


@pytest.mark.parametrize(
    "headers",
    [
        {"authorization": f"Bearer {TOKEN}"},
        {"authorization": "Basic " + base64.b64encode(f"opencode:{TOKEN}".encode()).decode()},
    ],
)
async def test_the_secret_is_taken_as_token_and_as_password(tmp_path: Path, headers: dict[str, str]) -> None:
    async with served(tmp_path / "p") as server:
        assert (await plain(server, headers=headers)).status_code == 200


async def test_the_secret_is_taken_in_the_path(tmp_path: Path) -> None:
    async with served(tmp_path / "p") as server:
        assert (await plain(server, path=f"/k-{TOKEN}/path")).status_code == 200
        assert (await plain(server, path="/k-wrong/path")).status_code == 401


@pytest.mark.parametrize(("mode", "scheme"), [("", "Basic"), ("navigate", "Basic"), ("cors", "Bearer")])
async def test_no_script_has_the_browser_ask_for_the_password(tmp_path: Path, mode: str, scheme: str) -> None:
    async with served(tmp_path / "p") as server:
        answer = await plain(server, headers={"sec-fetch-mode": mode} if mode else {})
        assert answer.headers["www-authenticate"].partition(" ")[0] == scheme


async def test_no_request_is_let_in_by_a_cookie(tmp_path: Path) -> None:
    async with served(tmp_path / "p") as server:
        answer = await plain(server, path=f"/k-{TOKEN}/")
        assert answer.headers["content-type"].startswith("text/html")
        assert "set-cookie" not in answer.headers
        key = (await server.get("/tw/page/key"))["key"]
        for value in (TOKEN, key):
            port = server.url.rpartition(":")[2]
            cookie = {"cookie": f"tw_{port}={value}; key={value}; authorization=Bearer {value}"}
            assert (await plain(server, headers=cookie)).status_code == 401


@pytest.mark.parametrize(
    "secret", [Secret(value=TOKEN), Secret(value="päss/word 100%", generated=False)], ids=["made", "own"]
)
async def test_the_page_trades_the_secret_for_a_key_that_does_not_give_it_away(tmp_path: Path, secret: Secret) -> None:
    async with served(tmp_path / "p", secret=secret) as server:
        bearer = {"authorization": b"Bearer " + secret.value.encode()}
        key = (await plain(server, path="/tw/page/key", headers=bearer)).json()["key"]
        assert secret.value not in key
        assert (await plain(server, headers={"authorization": f"Bearer {key}"})).status_code == 200
        for wrong in (f"Bearer {key}x", f"Basic {key}", key, "Bearer"):
            assert (await plain(server, headers={"authorization": wrong})).status_code == 401
        assert (await plain(server, path=f"/k-{key}/path")).status_code == 401
        assert (await plain(server, path=f"/k-{quote(secret.value, safe='')}/path")).status_code == 200


async def test_the_page_that_is_opened_with_a_wrong_secret_is_there_to_ask_for_another(tmp_path: Path) -> None:
    async with served(tmp_path / "p") as server:
        answer = await plain(server, path="/k-wrong/", headers={"accept": "text/html"})
        assert (answer.status_code, answer.headers["content-type"].partition(";")[0]) == (401, "text/html")


async def test_twenty_wrong_secrets_are_enough_but_the_right_one_is_still_taken(tmp_path: Path) -> None:
    async with served(tmp_path / "p") as server:
        wrong = {"authorization": "Bearer wrong"}
        statuses = [(await plain(server, headers=wrong)).status_code for _ in range(22)]
        assert statuses == [401] * 20 + [429] * 2
        await server.get("/path")


async def test_a_password_that_could_be_guessed_is_not_looked_at_after_that(tmp_path: Path) -> None:
    async with served(tmp_path / "p", secret=Secret(value=TOKEN, generated=False)) as server:
        for _ in range(20):
            await plain(server, headers={"authorization": "Bearer wrong"})
        await server.get("/path", status=429)


@pytest.mark.parametrize("host", ["evil.example", "evil.example:4096", "127.0.0.1", "127.0.0.1:1", ""])
async def test_another_host_name_is_refused_before_the_secret_is_looked_at(tmp_path: Path, host: str) -> None:
    async with served(tmp_path / "p") as server:
        assert (await plain(server, headers={"host": host})).status_code == 421


async def test_another_page_can_have_nothing_done(tmp_path: Path) -> None:
    async with served(tmp_path / "p", secret=None) as server:
        for headers in (
            {"origin": "http://evil.example"},
            {"origin": "null"},
            {"origin": "http://localhost:1"},
            {"sec-fetch-site": "cross-site"},
        ):
            answer = await plain(server, "POST", "/session", json={}, headers=headers)
            assert answer.status_code == 403
            assert "access-control-allow-origin" not in answer.headers
        preflight = {"origin": "http://evil.example", "access-control-request-method": "POST"}
        answer = await plain(server, "OPTIONS", "/session", headers=preflight)
        assert answer.status_code == 403
        assert "access-control-allow-origin" not in answer.headers
        assert (await plain(server, "POST", "/session", json={}, headers={"origin": server.url})).status_code == 200


async def test_a_page_that_was_named_gets_in_with_the_secret(tmp_path: Path) -> None:
    async with served(tmp_path / "p", origins=frozenset({"http://app.example"})) as server:
        origin = {"origin": "http://app.example"}
        assert (await plain(server, "POST", "/session", json={}, headers=origin)).status_code == 401
        answer = await server.client.post("/session", json={}, headers=origin)
        assert answer.status_code == 200
        assert answer.headers["access-control-allow-origin"] == "http://app.example"
        assert "access-control-allow-credentials" not in answer.headers
        preflight = {**origin, "access-control-request-method": "POST"}
        assert (await plain(server, "OPTIONS", "/session", headers=preflight)).status_code == 204


async def test_a_body_that_a_form_could_send_is_refused(tmp_path: Path) -> None:
    async with served(tmp_path / "p", secret=None) as server:
        for kind in ("text/plain", "application/x-www-form-urlencoded", ""):
            headers = {"content-type": kind} if kind else {}
            answer = await plain(server, "POST", "/session", content=b"{}", headers=headers)
            assert answer.status_code == 415


async def test_a_huge_body_is_refused_by_its_header_and_by_its_length(tmp_path: Path) -> None:
    async with served(tmp_path / "p") as server:
        headers = {"content-type": "application/json"}
        answer = await server.client.post("/session", content=b"x" * (33 * 1024 * 1024), headers=headers)
        assert answer.status_code == 413

        async def pieces() -> Any:
            for _ in range(33):
                yield b" " * 1024 * 1024

        answer = await server.client.post("/session", content=pieces(), headers=headers)
        assert answer.status_code == 413


async def test_only_the_folders_that_were_named_exist(tmp_path: Path) -> None:
    folder, other = tmp_path / "p", tmp_path / "other"
    other.mkdir()
    folder.mkdir()
    (folder / "sub").mkdir()
    (folder / "out").symlink_to(other)
    async with served(folder) as server:
        for name in (str(other), "/etc", f"{folder}/../other", f"{folder}/out", f"{folder}/none", "a\0b"):
            await server.get("/path", status=403, params={"directory": name})
        for name in (str(folder / "sub"), f"{folder}/sub/.."):
            await server.get("/path", params={"directory": name})
        encoded = str(folder / "sub").replace("/", "%2F")
        for header in (encoded, str(folder / "sub")):
            answer = await server.get("/path", headers={"x-opencode-directory": header})
            assert answer["directory"] == str(folder / "sub")


async def test_two_folders_are_served_at_once_and_kept_apart(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    two.mkdir()
    async with served(one, more_folders=[two]) as server:
        there = (await server.post("/session", {}, params={"directory": str(two)}))["id"]
        assert await server.get("/session") == []
        await server.get(f"/session/{there}", status=404, params={"directory": str(one)})
        assert (await server.get("/session", params={"directory": str(two)}))[0]["id"] == there


async def test_files_that_may_not_be_read_are_not_told(tmp_path: Path) -> None:
    folder, other = tmp_path / "p", tmp_path / "other"
    folder.mkdir()
    other.mkdir()
    (other / "secret.txt").write_text("hidden words")
    (folder / ".env").write_text("KEY=hidden words")
    (folder / "link").symlink_to(other / "secret.txt")
    (folder / "ok.txt").write_text("open words")
    async with served(folder) as server:
        for path in (".env", "link", "../other/secret.txt", str(other / "secret.txt"), "/etc/passwd"):
            await server.get("/file/content", status=403, params={"path": path})
        assert (await server.get("/file/content?path=ok.txt"))["content"] == "open words"
        names = [one["name"] for one in await server.get("/file?path=.")]
        assert names == ["ok.txt"]
        found = await server.get("/find?pattern=words")
        assert [one["path"]["text"] for one in found] == ["ok.txt"]
        assert await server.get("/find/file?query=env") == []


async def test_files_that_an_agent_would_be_asked_about_are_shown_to_the_person(tmp_path: Path) -> None:
    folder = tmp_path / "p"
    folder.mkdir()
    for name in ("open.txt", "asked.txt", "denied.txt"):
        (folder / name).write_text("words")
    config = {"permission": {"read": {"asked.txt": "ask", "denied.txt": "deny"}}}
    async with served(folder, config=config) as server:
        assert [one["name"] for one in await server.get("/file?path=.")] == ["asked.txt", "open.txt"]
        assert (await server.get("/file/content?path=asked.txt"))["content"] == "words"
        await server.get("/file/content?path=denied.txt", status=403)
        found = await server.get("/find?pattern=words")
        assert {one["path"]["text"] for one in found} == {"asked.txt", "open.txt"}
        assert set(await server.get("/find/file?query=txt")) == {"asked.txt", "open.txt"}


async def test_keys_are_not_told(tmp_path: Path) -> None:
    options = {"baseURL": "http://127.0.0.1:9/v1", "apiKey": "sk-hidden", "headers": {"x-api": "sk-hidden-too"}}
    config = {"provider": {"fake": {"name": "Fake", "options": options, "models": {"m": {"name": "M"}}}}}
    async with served(tmp_path / "p", config=config) as server:
        for path in ("/config", "/config/providers", "/provider", "/tw/doctor", "/agent"):
            assert "sk-hidden" not in json.dumps(await server.get(path))
        assert "fake" in json.dumps(await server.get("/config/providers"))


async def test_without_a_secret_neither_keys_nor_settings_are_written(tmp_path: Path) -> None:
    async with served(tmp_path / "p", secret=None) as server:
        await server.send("PUT", "/auth/openai", 403, json={"type": "api", "key": "x"})
        await server.send("PATCH", "/config", 403, json={"permission": {"*": "allow"}})


def test_the_note_for_other_programs_is_for_its_owner_alone(tmp_path: Path) -> None:
    environment = {"HOME": str(tmp_path)}
    folder = tmp_path / ".local" / "state" / "toolwright" / "server"
    folder.mkdir(parents=True, mode=0o755)
    note = write_server_file(environment, 4096, "http://127.0.0.1:4096", Secret(value="t"))
    assert note == folder / "4096.json"
    assert stat.S_IMODE(note.stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert find_token(environment, 4096) == ("opencode", "t")
    assert find_token(environment, 4097) == ("", "")


def test_a_note_is_neither_written_nor_read_by_way_of_a_link(tmp_path: Path) -> None:
    environment, other = {"XDG_STATE_HOME": str(tmp_path / "state")}, tmp_path / "other"
    note = write_server_file(environment, 5, "http://127.0.0.1:5", Secret(value="t"))
    other.write_text(json.dumps({"user": "opencode", "token": "of somebody else", "pid": os.getpid()}))
    note.unlink()
    note.symlink_to(other)
    assert find_token(environment, 5) == ("", "")
    write_server_file(environment, 5, "http://127.0.0.1:5", Secret(value="new"))
    assert not note.is_symlink()
    assert "somebody" in other.read_text()
    note.unlink()
    note.parent.rmdir()
    (tmp_path / "elsewhere").mkdir()
    note.parent.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match=r"Not a directory|Too many"):
        write_server_file(environment, 5, "http://127.0.0.1:5", Secret(value="t"))
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_the_secret_of_a_server_that_was_killed_is_given_to_nobody_who_listens_in_its_place(tmp_path: Path) -> None:
    """The next server takes it up again."""
    environment = {"HOME": str(tmp_path)}
    note = write_server_file(environment, 5, "http://127.0.0.1:5", Secret(value="t"))
    assert find_token(environment, 5) == ("opencode", "t")
    ended = subprocess.Popen(["true"])
    ended.wait()
    for pid in (ended.pid, "x", None):
        note.write_text(json.dumps(json.loads(note.read_text()) | {"pid": pid}))
        assert find_token(environment, 5) == ("", "")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a folder of somebody else's")
def test_no_secret_is_left_in_or_taken_from_a_folder_of_somebody_else_s(tmp_path: Path) -> None:
    environment = {"XDG_STATE_HOME": str(tmp_path)}
    note = write_server_file(environment, 5, "http://127.0.0.1:5", Secret(value="t"))
    os.chown(note.parent, 1000, 1000)
    assert find_token(environment, 5) == ("", "")
    with pytest.raises(OSError, match="somebody else"):
        write_server_file(environment, 5, "http://127.0.0.1:5", Secret(value="t"))


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--socket", "here.sock"), "where commands reach it"),
        (("--socket", "sub/here.sock"), "where commands reach it"),
        (("--no-auth", "--tunnel"), "there is none"),
        (("--no-auth", "--hostname", "0.0.0.0"), "for this machine alone"),
        (("--socket", "/run/x.sock", "--open"), "not both"),
    ],
)
def test_what_would_leave_a_door_open_is_refused(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: list[str], told: str
) -> None:
    monkeypatch.chdir(project)
    assert main(["serve", *words]) == 2
    assert told in capsys.readouterr().err


BAD_BODIES = [b"", b"{", b"[]", b"null", b'"x"', b"\xff\xfe", b"[" * 5000, b'{"parts": 1}', b'{"parts": [{"type": 5}]}']


def test_a_secret_is_taken_over_from_a_server_that_is_gone_and_from_no_other(tmp_path: Path) -> None:
    environment = {"XDG_STATE_HOME": str(tmp_path)}
    gone = subprocess.Popen(["true"])
    gone.wait()
    for secret, pid, taken in (
        (Secret(value="old"), gone.pid, True),
        (Secret(value="old"), os.getppid(), False),
        (Secret(value="a password", generated=False), gone.pid, False),
    ):
        note = write_server_file(environment, 5, "http://127.0.0.1:5", secret)
        note.write_text(json.dumps(json.loads(note.read_text()) | {"pid": pid}))
        fresh = Secret(value="new")
        assert fresh.reuse_after_crash(environment, 5) == (secret if taken else fresh)
        own = Secret(value="my own", generated=False)
        assert own.reuse_after_crash(environment, 5) == own


async def test_bad_input_gets_one_clear_error_and_never_breaks_the_server(tmp_path: Path) -> None:
    from toolwright.server.routes.all import TABLE

    async with served(tmp_path / "p", {"text": "x"}) as server:
        session = await server.session()
        words = random.Random(1)
        skipped = ("/event", "/global/event", "/tw/event", "/tui/control/next")
        for route in TABLE.routes:
            if route.path in skipped:
                continue
            for place in (session, "ses_none", "..%2f..", "%00", "é" * 300):
                path = route.path
                while "{" in path:
                    path = path.replace(path[path.index("{") : path.index("}") + 1], place, 1)
                query = {
                    "path": words.choice(["", "\0", "../..", "x" * 5000]),
                    "limit": words.choice(["-1", "x", "1e400"]),
                }
                query |= {
                    "query": "[*",
                    "pattern": "(",
                    "args": "[",
                    "messageID": "\ud800".encode("utf-8", "replace").decode(),
                }
                body = words.choice(BAD_BODIES)
                headers = {"content-type": "application/json"}
                content = None if route.method == "GET" else body
                answer = await server.client.request(route.method, path, params=query, content=content, headers=headers)
                assert answer.status_code < 500, f"{route.method} {path} {query} {body!r}: {answer.text}"
                if answer.status_code >= 400:
                    assert answer.json()["data"]["message"]
        await server.get("/global/health")


async def test_unknown_agent_model_and_message_are_refused_with_the_nearest_names(tmp_path: Path) -> None:
    async with served(tmp_path / "p", {"text": "x"}) as server:
        session = await server.session()
        path, parts = f"/session/{session}/message", [{"type": "text", "text": "x"}]
        answer = await server.post(path, {"parts": parts, "agent": "biuld"}, status=422)
        assert "build" in answer["data"]["message"]
        wrong = {"providerID": "anthropik", "modelID": "x"}
        answer = await server.post(path, {"parts": parts, "model": wrong}, status=422)
        assert "anthropic" in answer["data"]["message"]
        await server.post(path, {"parts": []}, status=400)
        await server.post(path, {"parts": parts, "messageID": "nope"}, status=400)
        remote = [{"type": "file", "mime": "text/plain", "url": "http://127.0.0.1:9/x"}]
        await server.post(path, {"parts": remote}, status=400)
        await server.post(f"/session/{session}/revert", {"messageID": "msg_none"}, status=404)
        answer = await server.post(path, {"parts": [{"type": "text", "text": 5}], "system": 1}, status=400)
        assert len(answer["data"]["issues"]) == 2
        assert await server.get(f"/session/{session}/message") == []


async def test_sharing_is_refused_with_a_reason_and_an_unknown_path_is_not_found(tmp_path: Path) -> None:
    async with served(tmp_path / "p") as server:
        session = await server.session()
        assert "not offered" in (await server.post(f"/session/{session}/share", status=403))["data"]["message"]
        answer = await server.get("/nowhere", status=404)
        assert answer["name"] == "NotFoundError"
        assert (await server.client.delete("/path")).status_code == 405
