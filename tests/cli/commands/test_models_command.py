"""tw models: the list that ships, a newer one, and what servers on this machine serve."""

import argparse
import io
import json
from pathlib import Path

import pytest

from tests.cli.conftest import Tw
from tests.models.known.test_local_servers import LLAMACPP, answering
from tests.models.known.test_refresh import MODELS_DEV
from toolwright.cli.commands.run_command import _offered_model
from toolwright.models.known import local_servers
from toolwright.testing import make_workspace


def test_the_command_keeps_the_list_and_uses_it_from_then_on(tw: Tw, tmp_path: Path) -> None:
    (tmp_path / "list.json").write_text(json.dumps(MODELS_DEV))
    first = tw("models", "openai", "--refresh", str(tmp_path / "list.json"))
    assert first.code == 0
    assert "kept in" in first.err
    assert first.out.split() == ["openai/gpt-9", "0k", "$7", "in,", "$8", "out", "image,", "pdf,", "text"]
    assert tw("models", "openai").out == first.out
    broken = tw("models", "--refresh", str(tmp_path / "none.json"))
    assert broken.code == 1
    assert "No list of models" in broken.err


def test_a_running_server_is_listed_and_the_doctor_says_how_to_use_it(
    tw: Tw, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with answering(LLAMACPP) as url:
        config = {"provider": {"llamacpp": {"options": {"baseURL": url}}}}
        (project / "toolwright.json").write_text(json.dumps(config))
        assert tw("models", "llamacpp", "--trust").out.split()[:2] == ["llamacpp/smol.gguf", "8k"]
        port = int(url.split(":")[2].split("/")[0])
        monkeypatch.setattr(local_servers, "USUAL", {"llamacpp": ("llama.cpp", port)})
        told = [one["told"] for one in tw("doctor", "--json").json if one["what"] == "models"]
        assert told[0].endswith(": --model llamacpp/smol.gguf (8k context)")
        assert "8192 tokens leaves little room" in told[1]
        assert tw("completion", "models").out.splitlines()[0] == "llamacpp/smol.gguf"


def test_degrees_of_reasoning_and_the_end_of_a_model_are_told(tw: Tw) -> None:
    listed = {one["id"]: one for one in tw("models", "anthropic", "--json").json}
    assert listed["anthropic/claude-opus-5-5"]["variants"] == ["low", "medium", "high", "xhigh", "max"]
    assert "(until 2026-11-30)" in tw("models", "anthropic").out


class _Person(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("said", "chosen"), [("y", "llamacpp/smol.gguf"), ("n", ""), ("", "")])
async def test_a_person_without_a_model_is_offered_one_that_runs_here(
    project: Path, monkeypatch: pytest.MonkeyPatch, said: str, chosen: str
) -> None:
    async def typed() -> str:
        return said

    monkeypatch.setattr("toolwright.cli.commands.run_command.read_line", typed)
    monkeypatch.setattr("sys.stdin", _Person())
    monkeypatch.setattr("sys.stderr", screen := _Person())
    with answering(LLAMACPP) as url:
        port = int(url.split(":")[2].split("/")[0])
        monkeypatch.setattr(local_servers, "USUAL", {"llamacpp": ("llama.cpp", port)})
        options = argparse.Namespace(agent="", go_on=False, session="")
        assert await _offered_model(make_workspace(project), options) == chosen
        assert "llamacpp/smol.gguf runs on this machine" in screen.getvalue()
        with_model = make_workspace(project, config={"model": "openai/gpt-6-sol"})
        assert await _offered_model(with_model, options) == ""


def test_a_provider_that_is_not_there_is_told_and_a_bare_model_name_gets_its_provider(tw: Tw) -> None:
    nowhere = tw("models", "nope")
    assert (nowhere.code, nowhere.out) == (2, "")
    assert "There is no provider 'nope'." in nowhere.err
    bare = tw("run", "hi", "--model", "claude")
    assert bare.code == 2
    assert "'claude' names no provider. Write provider/model, such as anthropic/claude-" in bare.err
