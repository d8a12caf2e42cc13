"""Traces and metrics, as OpenTelemetry's own in-memory exporters see them."""

import logging
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.waiting import PATIENCE
from toolwright.models.scripted import DEFAULT_INFO
from toolwright.testing import ScriptedModel, ScriptedUser, make_workspace

pytest.importorskip("opentelemetry.sdk", reason="opentelemetry-sdk is not installed")

from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind

from toolwright.telemetry import FirstTrouble, extension


class Traced:
    """Providers that keep what they are told."""

    def __init__(self) -> None:
        self.exporter, self.reader = InMemorySpanExporter(), InMemoryMetricReader()
        self.tracers = TracerProvider()
        self.tracers.add_span_processor(SimpleSpanProcessor(self.exporter))
        self.meters = MeterProvider(metric_readers=[self.reader])

    def extension(self, **more: Any) -> Any:
        return extension(tracer_provider=self.tracers, meter_provider=self.meters, **more)

    def span(self, name: str) -> Any:
        [found] = [one for one in self.exporter.get_finished_spans() if one.name == name]
        return found

    def names(self) -> list[str]:
        return [one.name for one in self.exporter.get_finished_spans()]

    def metrics(self) -> dict[str, Any]:
        data = self.reader.get_metrics_data()
        return {
            one.name: one
            for resource in data.resource_metrics
            for scope in resource.scope_metrics
            for one in scope.metrics
        }


MODEL: list[Any] = [
    {"tools": [{"name": "bash", "args": {"command": "echo secret-word", "description": "Say"}, "id": "c1"}]},
    {"tools": [{"name": "read", "args": {"filePath": "nothing.txt"}, "id": "c2"}]},
    {"text": "secret-answer"},
]


async def run(project: Path, traced: Traced, steps: list[Any], **more: Any) -> Any:
    user = ScriptedUser.saying("once", "once")
    config = {"permission": {"bash": "ask"}}
    opening: dict[str, Any] = {"extensions": [traced.extension(**more)], "config": config, "user": user}
    workspace = make_workspace(project, model=ScriptedModel(*steps), **opening)
    async with workspace, workspace.session() as session:
        return await session.prompt("secret-prompt")


async def test_a_turn_its_requests_calls_and_waits_are_one_tree(project: Path) -> None:
    traced = Traced()
    result = await run(project, traced, MODEL)
    turn = traced.span("invoke_agent build")
    assert turn.parent is None
    assert turn.attributes["gen_ai.conversation.id"] == result.session_id
    assert turn.attributes["gen_ai.operation.name"] == "invoke_agent"
    chats = [one for one in traced.exporter.get_finished_spans() if one.name == "chat scripted"]
    assert [one.kind for one in chats] == [SpanKind.CLIENT] * 3
    assert {one.parent.span_id for one in chats} == {turn.context.span_id}
    assert chats[0].attributes["gen_ai.provider.name"] == "scripted"
    assert chats[0].attributes["gen_ai.response.finish_reasons"] == ("tool_calls",)
    assert chats[0].attributes["gen_ai.usage.input_tokens"] > 0
    bash = traced.span("execute_tool bash")
    assert bash.parent.span_id == turn.context.span_id
    assert bash.attributes["gen_ai.tool.call.id"] == "c1"
    assert traced.span("permission bash").parent.span_id == bash.context.span_id
    assert traced.span("permission bash").attributes["toolwright.reply"] == "once"
    [box] = [one for one in traced.exporter.get_finished_spans() if one.name.startswith("sandbox")]
    assert box.parent.span_id == bash.context.span_id
    read = traced.span("execute_tool read")
    assert read.attributes["error.type"] == "not_found"
    assert not read.status.is_ok


async def test_every_name_is_one_of_the_conventions(project: Path) -> None:
    conventions = pytest.importorskip("opentelemetry.semconv._incubating.attributes.gen_ai_attributes")
    known = {getattr(conventions, name) for name in dir(conventions) if name.startswith("GEN_AI_")}
    replaced = {"gen_ai.system", "gen_ai.prompt", "gen_ai.completion", "gen_ai.usage.prompt_tokens"}
    traced = Traced()
    await run(project, traced, MODEL, content=True)
    used = {name for one in traced.exporter.get_finished_spans() for name in one.attributes}
    assert {name for name in used if name.startswith("gen_ai.")} <= known - replaced


async def test_content_is_left_out_unless_asked_for(project: Path) -> None:
    for content in (False, True):
        traced = Traced()
        await run(project, traced, MODEL, content=content)
        told = str([(one.name, dict(one.attributes), one.status) for one in traced.exporter.get_finished_spans()])
        for word in ("secret-prompt", "secret-word", "secret-answer"):
            assert (word in told) is content


async def test_tokens_and_durations_are_measured(project: Path) -> None:
    traced = Traced()
    result = await run(project, traced, MODEL)
    found = traced.metrics()
    assert found["gen_ai.client.token.usage"].unit == "{token}"
    points = {
        one.attributes["gen_ai.token.type"]: one.sum for one in found["gen_ai.client.token.usage"].data.data_points
    }
    assert points["input"] + points["output"] == result.tokens.total
    for name in ("gen_ai.client.operation.duration", "gen_ai.client.operation.time_to_first_chunk"):
        assert sum(one.count for one in found[name].data.data_points) == 3


async def test_providers_have_the_names_of_the_conventions(project: Path) -> None:
    conventions = pytest.importorskip("opentelemetry.semconv._incubating.attributes.gen_ai_attributes")
    traced = Traced()
    model = ScriptedModel({"text": "Hello."}, info=replace(DEFAULT_INFO, provider="google"))
    async with make_workspace(project, model=model, extensions=[traced.extension()]) as workspace:
        await workspace.prompt("Hi")
    name = traced.span("chat scripted").attributes["gen_ai.provider.name"]
    assert name == conventions.GenAiProviderNameValues.GCP_GEMINI.value


async def test_a_model_that_fails_is_an_error_of_our_kind(project: Path) -> None:
    traced = Traced()
    await run(project, traced, [{"error": {"message": "No.", "kind": "auth"}}])
    assert traced.span("chat scripted").attributes["error.type"] == "auth"
    assert not traced.span("invoke_agent build").status.is_ok


async def test_a_subagent_is_a_child_of_the_call_that_started_it(project: Path) -> None:
    task = {"description": "Look", "prompt": "Look around", "subagent_type": "explore"}
    steps = [{"tools": [{"name": "task", "args": task, "id": "t1"}]}, {"text": "Seen."}, {"text": "Done."}]
    traced = Traced()
    await run(project, traced, steps)
    call = traced.span("execute_tool task")
    assert traced.span("invoke_agent explore").parent.span_id == call.context.span_id


def test_the_command_line_traces_where_an_address_is_set(tmp_path: Path, project: Path) -> None:
    """A collector on this machine gets the spans of one command, and nothing is lost at its end."""
    pytest.importorskip("opentelemetry.exporter.otlp.proto.http", reason="the exporter is not installed")
    import json
    import os
    import subprocess
    import sys
    import threading
    from http.server import BaseHTTPRequestHandler, HTTPServer

    bodies: list[bytes] = []

    class Collector(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None: ...

    server = HTTPServer(("127.0.0.1", 0), Collector)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    script = tmp_path / "script.json"
    script.write_text(json.dumps([{"text": "Hello."}]))
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path / "home"),
        "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{server.server_port}",
        "OTEL_EXPORTER_OTLP_COMPRESSION": "none",
        "OTEL_EXPORTER_OTLP_TIMEOUT": str(PATIENCE),
    }
    argv = [sys.executable, "-m", "toolwright", "run", "Hi", "--model", f"scripted/{script}"]
    done = subprocess.run(argv, cwd=project, env=environment, capture_output=True, text=True, check=False)
    server.shutdown()
    server.server_close()
    assert done.returncode == 0, done.stderr
    assert b"invoke_agent build" in b"".join(bodies)
    assert b"gen_ai.client.token.usage" in b"".join(bodies)


def test_a_collector_that_cannot_be_reached_is_told_once(capsys: pytest.CaptureFixture[str]) -> None:
    logger = logging.getLogger("opentelemetry.exporter.test")
    trouble = FirstTrouble()
    logger.addHandler(trouble)
    try:
        for attempt in range(3):
            logger.warning("attempt %d\nfailed", attempt)
    finally:
        logger.removeHandler(trouble)
    assert capsys.readouterr().err == "tw: warning: traces cannot be sent: attempt 0 failed\n"
