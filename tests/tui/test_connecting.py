"""The first minute: no key, no model, and a prompt that is not lost."""

import json
from pathlib import Path

import pytest

pytest.importorskip("textual", reason="the full screen needs textual: pip install 'toolwright[tui]'")

from textual.widgets import Input

from tests.models.known.test_local_servers import answering
from tests.tui.stage import on_stage
from toolwright.app.model_choices import ModelChoice, ProviderChoice, connectable, ordered
from toolwright.config.auth import AuthFile
from toolwright.tui.connecting import KeyDialog
from toolwright.tui.dialog import Picker


async def test_without_a_model_one_is_connected_with_its_key_and_the_prompt_is_kept(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("toolwright.models.known.local_servers.USUAL", {})
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    async with on_stage(project, {"text": "Hello."}) as stage:
        stage.workspace.__dict__["model"] = ""
        await stage.talk.refresh()
        await stage.type("fix the basket")
        await stage.until(lambda: isinstance(stage.app.screen, Picker), "the providers")
        assert "no model server runs" in stage.words
        await stage.press(*"anthropic", "enter")
        await stage.until(lambda: isinstance(stage.app.screen, KeyDialog), "the line for the key")
        stage.app.screen.query_one(Input).value = "sk-secret"
        await stage.pilot.pause()
        assert "sk-secret" not in stage.text
        await stage.press("enter")
        await stage.until(lambda: isinstance(stage.app.screen, Picker), "its models")
        await stage.see("$")
        assert AuthFile(stage.workspace.folders.auth).records()["anthropic"]["key"] == "sk-secret"
        await stage.press("escape")
        await stage.until(lambda: not isinstance(stage.app.screen, Picker), "the prompt again")
        assert stage.app.prompt.text == "fix the basket"


async def test_one_logs_in_to_an_account_from_inside_and_chooses_a_model_of_it(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("toolwright.models.known.local_servers.USUAL", {})
    credentials = project.parent / "credentials.json"
    with answering({"/token": {"access_token": "ya29_secret", "expires_in": 3599}}) as url:
        told = {"type": "authorized_user", "refresh_token": "1//secret", "token_uri": url.replace("/v1", "/token")}
        credentials.write_text(json.dumps(told))
        async with on_stage(project, {"text": "Hello."}) as stage:
            environment = dict(stage.workspace.environment) | {"GOOGLE_APPLICATION_CREDENTIALS": str(credentials)}
            monkeypatch.setattr(stage.workspace, "environment", environment)
            await stage.type("/connect google@work")
            await stage.until(lambda: isinstance(stage.app.screen, Picker), "the ways")
            await stage.press(*"log in", "enter")
            await stage.until(lambda: "google@work/gemini" in stage.words, "its models")
            assert AuthFile(stage.workspace.folders.auth).records()["google@work"]["access"] == "ya29_secret"
            await stage.press("enter")
            await stage.see("build · google@work/gemini")


def test_models_chosen_lately_come_first_then_those_with_a_key() -> None:
    known = [
        ModelChoice(full_name="a/one"),
        ModelChoice(full_name="b/two", ready=True),
        ModelChoice(full_name="c/three"),
    ]
    found = [one.full_name for one in ordered(known, ["c/three"], "local/own")]
    assert found == ["local/own", "c/three", "b/two", "a/one"]


def test_a_model_tells_its_price_its_room_what_it_can_do_and_whether_there_is_a_key() -> None:
    model = ModelChoice(
        full_name="a/one", name="One", context=200_000, input_price=3, output_price=15, can=("reasoning", "images")
    )
    told = " ".join(model.line.split())
    assert told == "a/one One · no key · 200k · $3 in, $15 out · reasoning, images"


def test_servers_on_this_machine_come_before_providers_and_those_with_a_key_before_the_others() -> None:
    providers = [
        ProviderChoice(id="zed", name="Zed"),
        ProviderChoice(id="openai", name="OpenAI"),
        ProviderChoice(id="rare", name="Rare", ready=True),
    ]
    assert [name for name, _ in connectable(providers, ["ollama/llama"])] == ["ollama/llama", "rare", "openai", "zed"]
