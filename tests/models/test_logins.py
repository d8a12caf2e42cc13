"""Logins to providers, against an identity server on loopback that says what a test has written."""

import asyncio
import base64
import hashlib
import json
import stat
import subprocess
import sys
from collections.abc import Callable, Coroutine, Mapping
from importlib import util
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlsplit

import httpx2
import pytest

from tests.models.conftest import CHAT, events_of, seals_of, text_of, thoughts_of
from tests.models.replies import Reply, chat, gemini, responses
from tests.models.server import Answer, Server, serving
from toolwright.config.auth import AuthFile
from toolwright.models.connect import Connections
from toolwright.models.known.catalog import Catalog
from toolwright.models.logins import device, google, openrouter
from toolwright.models.logins.identity import ProviderLoginFailed
from toolwright.models.logins.stored import StoredLogin
from toolwright.models.model import Model, ModelError
from toolwright.text.ids import now

SECRETS = ("gho_secret", "ghr_secret", "device_secret", "ya29_secret")


def says(value: Mapping[str, Any], status: int = 200) -> Answer:
    return Answer(pieces=[json.dumps(value).encode()], status=status, headers={"content-type": "application/json"})


def form_of(server: Server, place: int = -1) -> dict[str, str]:
    return dict(parse_qsl(server.seen[place].raw.decode()))


@pytest.fixture
def file(tmp_path: Path) -> AuthFile:
    return AuthFile(tmp_path / "data" / "auth.json")


def origin(server: Server) -> str:
    return server.url.removesuffix("/v1")


def model_of(file: AuthFile, provider: str, model: str, server: Server) -> Model:
    """A model whose provider is the test's server and whose login is in the file."""
    catalog = Catalog({provider: {"options": {"baseURL": server.url}, "models": {model: {}}}})
    return Connections(catalog, env={}, auth=file.records(), file=file).open(f"{provider}/{model}")


# GitHub and Azure: a code that the user types in.

CODE = {
    "device_code": "device_secret",
    "user_code": "ABCD-1234",
    "verification_uri": "https://github.com/login/device",
    "expires_in": 900,
    "interval": 5,
}
TOKENS = {"access_token": "gho_secret", "refresh_token": "ghr_secret", "expires_in": 28800, "token_type": "bearer"}


async def log_in_to_github(server: Server, *answers: Answer) -> tuple[dict[str, Any], list[float], list[str]]:
    server.answer(says(CODE), *answers)
    pauses, shown = list[float](), list[str]()

    async def pause(seconds: float) -> None:
        pauses.append(seconds)

    env = {device.COPILOT_CLIENT: "Iv1.mine", device.GITHUB: origin(server)}
    return await device.log_in(device.service_of("github-copilot", env), shown.append, pause), pauses, shown


async def test_a_code_is_shown_and_asked_for_at_the_pace_that_github_sets(server: Server) -> None:
    waiting, slower = says({"error": "authorization_pending"}), says({"error": "slow_down", "interval": 12})
    record, pauses, shown = await log_in_to_github(server, waiting, slower, waiting, says(TOKENS))
    assert pauses == [5.0, 5.0, 12.0, 12.0]
    assert shown == ["Open https://github.com/login/device and enter the code ABCD-1234"]
    assert [seen.path for seen in server.seen[:2]] == ["/login/device/code", "/login/oauth/access_token"]
    assert form_of(server) == {"client_id": "Iv1.mine", "device_code": "device_secret", "grant_type": device._CODE}
    assert (record["access"], record["refresh"], record["client"]) == ("gho_secret", "ghr_secret", "Iv1.mine")
    assert abs(record["expires"] - now() - 28_800_000) < 600_000


async def test_a_login_on_this_machine_goes_past_the_proxy(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("no_proxy", "example.com")
    record, _, _ = await log_in_to_github(server, says(TOKENS))
    assert record["access"] == "gho_secret"


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ({"error": "access_denied"}, "The login was refused in the browser"),
        ({"error": "expired_token"}, "Nobody entered the code in time"),
        ({"error": "incorrect_client_credentials", "error_description": "No \x1b[2J client"}, r"No \\x1b\[2J client"),
        ({}, "it answered 200"),
    ],
)
async def test_a_login_that_comes_to_nothing_says_why(server: Server, answer: dict[str, Any], told: str) -> None:
    with pytest.raises(ProviderLoginFailed, match=told):
        await log_in_to_github(server, says(answer))


@pytest.mark.parametrize("missing", ["device_code", "user_code"])
async def test_an_answer_in_which_a_code_is_missing_is_told(server: Server, missing: str) -> None:
    server.answer(says({name: value for name, value in CODE.items() if name != missing}))
    env = {device.COPILOT_CLIENT: "Iv1.mine", device.GITHUB: origin(server)}
    with pytest.raises(ProviderLoginFailed, match="it answered 200"):
        await device.log_in(device.service_of("github-copilot", env), lambda _: None)


async def test_a_person_logs_in_to_azure_and_the_token_is_renewed(server: Server, file: AuthFile) -> None:
    async with serving() as identity:
        pending = says({"error": "authorization_pending", "error_description": "AADSTS70016: pending"}, 400)
        identity.answer(says(CODE), pending, says({**TOKENS, "expires_in": 30}), says({**FRESH, "refresh_token": ""}))
        env = {"AZURE_TENANT_ID": "shop", "AZURE_CLIENT_ID": "mine", "AZURE_AUTHORITY_HOST": origin(identity)}

        async def pause(_: float) -> None: ...

        file.store("azure", await device.log_in(device.service_of("azure", env), lambda _: None, pause))
        server.stream(*responses(Reply(text="hello")))
        assert text_of(await events_of(model_of(file, "azure", "gpt-6.1-sol", server))) == "hello"
        paths = [seen.path.removeprefix("/shop/oauth2/v2.0/") for seen in identity.seen]
        assert paths == ["devicecode", "token", "token", "token"]
        assert form_of(identity)["scope"] == "https://cognitiveservices.azure.com/.default offline_access"
    assert server.seen[-1].headers["authorization"] == "Bearer gho_fresh"
    assert file.records()["azure"]["refresh"] == "ghr_secret"


def test_without_an_application_of_ones_own_nobody_is_asked() -> None:
    with pytest.raises(ProviderLoginFailed, match="set TOOLWRIGHT_COPILOT_CLIENT_ID to its client id"):
        device.service_of("github-copilot", {})
    with pytest.raises(ProviderLoginFailed, match="set AZURE_TENANT_ID and AZURE_CLIENT_ID"):
        device.service_of("azure", {"AZURE_TENANT_ID": "shop"})


@pytest.mark.parametrize("address", ["http://github.example", "ftp://localhost", "", "file:///etc/passwd"])
def test_secrets_go_nowhere_in_the_clear(address: str) -> None:
    with pytest.raises(ProviderLoginFailed, match="not safe to log in at"):
        device.renew({"tokens": address, "client": "c", "refresh": "ghr_secret"})


# Tokens in the file, and their renewal.


def stored(file: AuthFile, server: Server, *, ends: float, refresh: str = "ghr_secret") -> None:
    tokens = f"{origin(server)}/login/oauth/access_token"
    record = {"type": "oauth", "login": "device", "tokens": tokens, "client": "Iv1.mine", "scope": "read:user"}
    expires = now() + int(ends * 1000)
    file.store("github-copilot", {**record, "access": "gho_secret", "refresh": refresh, "expires": expires})


FRESH = {"access_token": "gho_fresh", "refresh_token": "ghr_fresh", "expires_in": 28800}


async def test_a_token_that_is_over_is_renewed_before_the_request(server: Server, file: AuthFile) -> None:
    async with serving() as identity:
        stored(file, identity, ends=10)
        identity.answer(says(FRESH))
        server.stream(*chat(Reply(text="hello")))
        assert text_of(await events_of(model_of(file, "github-copilot", "m", server))) == "hello"
        assert server.seen[-1].headers["authorization"] == "Bearer gho_fresh"
        asked = {"client_id": "Iv1.mine", "grant_type": "refresh_token", "refresh_token": "ghr_secret"}
        assert form_of(identity) == {**asked, "scope": "read:user"}
    assert file.records()["github-copilot"]["refresh"] == "ghr_fresh"
    assert stat.S_IMODE(file.path.stat().st_mode) == 0o600


async def test_a_token_that_is_good_is_sent_as_it_is(server: Server, file: AuthFile) -> None:
    async with serving() as identity:
        stored(file, identity, ends=3600)
        server.stream(*chat(Reply(text="hello")))
        await events_of(model_of(file, "github-copilot", "m", server))
        assert server.seen[-1].headers["authorization"] == "Bearer gho_secret"
        assert identity.seen == []


async def test_of_many_that_need_a_new_token_one_asks_for_it(file: AuthFile) -> None:
    async with serving() as identity:
        stored(file, identity, ends=-5)
        identity.answer(says(FRESH), says({"error": "bad_refresh_token"}))
        logins = [StoredLogin("github-copilot", file) for _ in range(8)]
        headers = await asyncio.gather(*(login.headers() for login in logins))
        assert {one["authorization"] for one in headers} == {"Bearer gho_fresh"}
        assert len(identity.seen) == 1


@pytest.mark.slow
async def test_of_several_processes_one_asks_for_it(file: AuthFile) -> None:
    async with serving() as identity:
        stored(file, identity, ends=-5)
        identity.answer(says(FRESH), says({"error": "bad_refresh_token"}))
        code = (
            "import asyncio, pathlib, sys; from toolwright.config.auth import AuthFile;"
            "from toolwright.models.logins.stored import StoredLogin;"
            "login = StoredLogin('github-copilot', AuthFile(pathlib.Path(sys.argv[1])));"
            "print(asyncio.run(login.headers())['authorization'])"
        )
        command = [sys.executable, "-c", code, str(file.path)]
        running = [await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE) for _ in range(3)]
        said = [(await one.communicate())[0].decode().strip() for one in running]
        assert said == ["Bearer gho_fresh"] * 3
        assert len(identity.seen) == 1


async def test_a_token_that_the_provider_refuses_is_renewed_once(server: Server, file: AuthFile) -> None:
    async with serving() as identity:
        stored(file, identity, ends=3600)
        identity.answer(says(FRESH))
        refused = says({"error": {"message": "token expired"}}, 401)
        server.answer(refused, Answer(pieces=list(chat(Reply(text="hello")))))
        assert text_of(await events_of(model_of(file, "github-copilot", "m", server))) == "hello"
        assert [seen.headers["authorization"] for seen in server.seen] == ["Bearer gho_secret", "Bearer gho_fresh"]


@pytest.mark.parametrize("status", [200, 400])
async def test_a_login_that_cannot_be_renewed_ends_the_request_in_one_sentence(
    server: Server, file: AuthFile, status: int
) -> None:
    async with serving() as identity:
        stored(file, identity, ends=-5)
        identity.answer(says({"error": "bad_refresh_token"}, status))
        with pytest.raises(
            ModelError, match=r"gave no token: bad_refresh_token.*tw auth --login github-copilot"
        ) as caught:
            await events_of(model_of(file, "github-copilot", "m", server))
    assert caught.value.kind == "auth"
    assert not caught.value.retryable
    assert server.seen == []
    assert not any(secret in str(caught.value) for secret in SECRETS)
    assert file.records()["github-copilot"]["refresh"] == "ghr_secret"


async def test_an_identity_server_that_is_gone_is_named(server: Server, file: AuthFile) -> None:
    async with serving() as identity:
        stored(file, identity, ends=-5)
    with pytest.raises(ModelError, match=r"127\.0\.0\.1:\d+ cannot be reached"):
        await events_of(model_of(file, "github-copilot", "m", server))


async def test_a_token_without_an_end_needs_no_renewal(server: Server, file: AuthFile) -> None:
    record = {"type": "oauth", "login": "device", "access": "gho_secret", "refresh": "", "expires": 0}
    file.store("github-copilot", record)
    server.answer(says({"error": {"message": "no such token"}}, 401))
    with pytest.raises(ModelError) as caught:
        await events_of(model_of(file, "github-copilot", "m", server))
    assert caught.value.kind == "auth"
    assert len(server.seen) == 1


async def test_the_thoughts_of_a_model_behind_copilot_are_read_and_go_back_where_they_came_from(server: Server) -> None:
    deltas: list[dict[str, str]] = [{"reasoning_text": "hm"}, {"content": "hello"}, {}]
    choices = [{"index": 0, "delta": delta, "finish_reason": None if delta else "stop"} for delta in deltas]
    server.stream(*(f"data: {json.dumps({'id': 'c', 'choices': [one]})}\n\n".encode() for one in choices))
    events = await events_of(CHAT.model(server))
    assert (text_of(events), thoughts_of(events)) == ("hello", "hm")
    assert seals_of(events) == [{"field": "reasoning_text"}]


# OpenRouter: the browser comes back with a code.


async def log_in_to_openrouter(
    server: Server, visit: Callable[[str], Coroutine[Any, Any, None]]
) -> tuple[dict[str, Any], str]:
    shown: list[str] = []
    going: list[asyncio.Task[None]] = []

    def show(line: str) -> None:
        shown.append(line)
        going.append(asyncio.create_task(visit(line.removeprefix("Open "))))

    record = await openrouter.log_in({openrouter.SERVER: origin(server)}, show, 0)
    await asyncio.gather(*going)
    return record, shown[0].removeprefix("Open ")


async def get(address: str) -> int:
    async with httpx2.AsyncClient(trust_env=False) as browser:
        return (await browser.get(address.replace("//localhost", "//127.0.0.1"))).status_code


def callback_of(address: str) -> str:
    return parse_qs(urlsplit(address).query)["callback_url"][0]


async def _agreeing(address: str) -> None:
    await get(f"{callback_of(address)}?code=the-code")


async def _refusing(address: str) -> None:
    await get(f"{callback_of(address)}?error=access_denied")


async def test_the_browser_brings_a_code_and_the_proof_gets_the_key(server: Server) -> None:
    server.answer(says({"key": "sk-or-secret"}))

    async def visit(address: str) -> None:
        back = urlsplit(callback_of(address))
        assert await get(f"http://{back.netloc}/elsewhere?code=forged") == 404
        assert await get(f"{callback_of(address)}?code=the-code") == 200

    record, address = await log_in_to_openrouter(server, visit)
    assert record == {"type": "api", "key": "sk-or-secret"}
    assert server.seen[-1].path == "/api/v1/auth/keys"
    sent = server.seen[-1].body
    digest = hashlib.sha256(sent["code_verifier"].encode()).digest()
    challenge = parse_qs(urlsplit(address).query)["code_challenge"][0]
    assert base64.urlsafe_b64encode(digest).decode().rstrip("=") == challenge
    assert sent["code"] == "the-code"
    assert sent["code_verifier"] not in address


async def test_who_says_no_in_the_browser_gets_no_key(server: Server) -> None:
    server.answer(says({}))
    with pytest.raises(ProviderLoginFailed, match="sent no code back"):
        await log_in_to_openrouter(server, _refusing)
    assert server.seen == []


async def test_a_code_that_openrouter_refuses_is_told(server: Server) -> None:
    server.answer(says({"error": {"code": 403, "message": "Invalid code_verifier"}}, 403))
    with pytest.raises(ProviderLoginFailed, match="gave no token: Invalid code_verifier"):
        await log_in_to_openrouter(server, _agreeing)


# Google: application default credentials.


def credentials(tmp_path: Path, **said: Any) -> dict[str, str]:
    file = tmp_path / "adc.json"
    file.write_text(json.dumps(said))
    return {google.FILE: str(file)}


def user(server: Server) -> dict[str, Any]:
    return {
        "type": "authorized_user",
        "client_id": "gcloud",
        "client_secret": "s",
        "refresh_token": "1//r",
        "quota_project_id": "shop",
        "token_uri": f"{origin(server)}/token",
    }


async def test_the_credentials_of_gcloud_give_tokens_for_gemini(server: Server, file: AuthFile, tmp_path: Path) -> None:
    async with serving() as identity:
        identity.answer(
            says({"access_token": "ya29_secret", "expires_in": 1}), says({"access_token": "ya29_b", "expires_in": 3599})
        )
        file.store("google", await google.log_in(credentials(tmp_path, **user(identity)), lambda _: None))
        server.stream(*gemini(Reply(text="hello")))
        model = model_of(file, "google", "gemini-3-flash", server)
        assert text_of(await events_of(model)) == "hello"
        sent = {"client_id": "gcloud", "client_secret": "s", "refresh_token": "1//r", "grant_type": "refresh_token"}
        assert form_of(identity) == sent
    headers = server.seen[-1].headers
    assert (headers["authorization"], headers["x-goog-user-project"]) == ("Bearer ya29_b", "shop")
    assert "x-goog-api-key" not in headers
    assert "1//r" not in file.path.read_text()


@pytest.mark.skipif(util.find_spec("cryptography") is None, reason="needs cryptography, of the extra `providers`")
async def test_a_service_account_signs_who_it_is(server: Server, tmp_path: Path) -> None:
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import padding, rsa

    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pem = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    ).decode()
    url = f"{origin(server)}/token"
    said = {"type": "service_account", "client_email": "bot@shop", "private_key": pem, "private_key_id": "k1"}
    server.answer(says({"access_token": "ya29_secret", "expires_in": 3599}))
    record = await google.log_in(credentials(tmp_path, **said, token_uri=url), lambda _: None)
    assert record["access"] == "ya29_secret"
    head, claims, signature = form_of(server)["assertion"].split(".")
    key.public_key().verify(_unpacked(signature), f"{head}.{claims}".encode(), padding.PKCS1v15(), hashes.SHA256())
    assert json.loads(_unpacked(head)) == {"alg": "RS256", "typ": "JWT", "kid": "k1"}
    told = json.loads(_unpacked(claims))
    assert (told["iss"], told["aud"], told["exp"] - told["iat"]) == ("bot@shop", url, 3600)
    assert "PRIVATE" not in json.dumps(record)


def _unpacked(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ({"type": "external_account"}, "of the kind 'external_account'; only authorized_user and service_account"),
        ({"type": "authorized_user", "token_uri": "http://evil.example/token"}, "not safe to log in at"),
        ({"type": "service_account", "private_key": "no key"}, "private key in .* cannot be read"),
    ],
)
async def test_credentials_that_are_of_no_use_are_named(tmp_path: Path, said: dict[str, Any], told: str) -> None:
    if "private_key" in said and util.find_spec("cryptography") is None:
        told = "cryptography must be installed"
    with pytest.raises(ProviderLoginFailed, match=told):
        await google.log_in(credentials(tmp_path, **said), lambda _: None)


async def test_missing_credentials_say_how_to_make_them(tmp_path: Path) -> None:
    with pytest.raises(ProviderLoginFailed, match=r"Run `gcloud auth application-default login`"):
        await google.log_in({"HOME": str(tmp_path)}, lambda _: None)
