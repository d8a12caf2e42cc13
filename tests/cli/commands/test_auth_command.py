"""tw auth: keys stored, logins made, and neither ever shown."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Tw
from tests.models.known.test_local_servers import answering


def stored(home: Path) -> dict[str, Any]:
    records: dict[str, Any] = json.loads((home / ".local/share/toolwright/auth.json").read_text())
    return records


def test_a_login_by_the_credentials_of_google_is_stored_and_no_token_is_shown(
    tw: Tw, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "adc.json"
    with answering({"/token": {"access_token": "ya29_secret", "expires_in": 3599}}) as url:
        told = {"type": "authorized_user", "refresh_token": "1//secret", "token_uri": url.replace("/v1", "/token")}
        file.write_text(json.dumps(told))
        monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(file))
        monkeypatch.setenv("GEMINI_API_KEY", "key_secret")
        outcome = tw("auth", "--login", "google")
    assert outcome.code == 0
    assert str(file) in outcome.err
    assert "warning: GEMINI_API_KEY is set and goes before this login" in outcome.err
    listed = tw("auth")
    assert listed.out == "google  variable GEMINI_API_KEY; the stored oauth is not used\n"
    assert "secret" not in outcome.err + outcome.out + listed.err + listed.out
    assert stored(home)["google"]["access"] == "ya29_secret"
    assert tw("auth", "--remove", "google").code == 0
    assert stored(home) == {}


def test_the_list_says_which_key_is_used_and_shows_none(tw: Tw, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "hush-1")
    (home / ".config/toolwright").mkdir(parents=True)
    settings = {"provider": {"groq": {"options": {"apiKey": "hush-2"}}}}
    (home / ".config/toolwright/toolwright.json").write_text(json.dumps(settings))
    tw("auth", "openai", stdin="hush-3\n")
    tw("auth", "groq", stdin="hush-4\n")
    listed = dict(line.split(maxsplit=1) for line in tw("auth").out.splitlines())
    assert listed == {
        "openai": "api",
        "groq": "setting provider.groq.options.apiKey; the stored api is not used",
        "anthropic": "variable ANTHROPIC_API_KEY",
    }


def test_several_keys_of_one_provider_have_names(tw: Tw, home: Path) -> None:
    tw("auth", "openai", stdin="hush-1\n")
    assert tw("auth", "openai@work", stdin="hush-2\n").code == 0
    assert tw("auth").out.split() == ["openai", "api", "openai@work", "api"]
    assert stored(home)["openai@work"]["key"] == "hush-2"
    assert "openai@work/gpt-" in tw("models", "openai@work").out
    assert "is no name for an account" in tw("auth", "openai@wo rk", stdin="hush-3\n").err
    assert tw("auth", "--remove", "openai@work").code == 0
    assert list(stored(home)) == ["openai"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (
            ("--login", "anthropic"),
            "There is no login to Anthropic, only to github-copilot, openrouter, google, azure and what plugins",
        ),
        (("--login", "github-copilot"), "set TOOLWRIGHT_COPILOT_CLIENT_ID to its client id"),
        (("--login", "nobody"), "There is no provider 'nobody'"),
        (("--login",), "Name the provider"),
        (("--login", "--remove", "openai"), "not allowed with argument"),
    ],
)
def test_a_login_that_cannot_be_is_one_sentence(tw: Tw, home: Path, arguments: tuple[str, ...], told: str) -> None:
    outcome = tw("auth", *arguments)
    assert outcome.code != 0
    assert told in outcome.err
    assert not (home / ".local/share/toolwright/auth.json").exists()
