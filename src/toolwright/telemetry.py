"""OpenTelemetry traces and metrics of what a workspace does, by the GenAI conventions; it only listens."""

import json
import logging
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import field
from typing import Any

from opentelemetry import metrics, trace
from opentelemetry.trace import SpanKind, Status, StatusCode

from toolwright.call import is_cancelled
from toolwright.definition import Call, Result, ToolContext
from toolwright.errors import ToolwrightError
from toolwright.events import Event, PermissionAsked, PermissionReplied
from toolwright.extension import Extension, Hook
from toolwright.hooks import Proceed
from toolwright.models.hooked import ModelRequest, Stream
from toolwright.models.info import Usage
from toolwright.models.model import CallEnd, Finish, TextDelta
from toolwright.protocols.client_json import to_json
from toolwright.record import record
from toolwright.session.prompt import Prompt
from toolwright.session.result import TurnEnd
from toolwright.text.display import visible
from toolwright.version import VERSION
from toolwright.workspace import Workspace

PATIENCE = 2.0
"""Seconds in which a collector must take what is sent at the end of a command, unless the user has said otherwise."""
_TOKENS = [1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864]
_SECONDS = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92]
"""The bounds that the conventions advise."""
_CHUNK = [0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0]
_PROVIDERS = {
    "amazon-bedrock": "aws.bedrock",
    "azure": "azure.ai.openai",
    "google": "gcp.gemini",
    "google-vertex": "gcp.vertex_ai",
    "mistral": "mistral_ai",
    "xai": "x_ai",
}
"""The providers that the conventions have another name for."""


def extension(*, tracer_provider: Any = None, meter_provider: Any = None, content: bool = False) -> Extension:
    """Traces of a workspace: `open_workspace(".", extensions=[extension()])`.

    Without providers the global ones are used. `content` adds prompts, answers, arguments and outputs.
    """
    listener = _listener(tracer_provider, meter_provider, content)

    @asynccontextmanager
    async def start(workspace: Workspace) -> AsyncIterator[None]:
        stop = listener.listen(workspace)
        try:
            yield
        finally:
            stop()

    return Extension(name="telemetry", hooks=[listener.hook()], start=start)


def join(workspace: Workspace, environment: Mapping[str, str]) -> None:
    """Trace a workspace of the command line to the address in the environment, with providers of its own."""
    from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    resource = Resource.create({"service.name": "toolwright", "service.version": VERSION})
    patience = None if "OTEL_EXPORTER_OTLP_TIMEOUT" in environment else PATIENCE
    tracers = TracerProvider(resource=resource)
    tracers.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(timeout=patience)))
    reader = PeriodicExportingMetricReader(OTLPMetricExporter(timeout=patience))
    meters = MeterProvider([reader], resource=resource)
    logging.getLogger("opentelemetry").addHandler(FirstTrouble())
    listener = _listener(tracers, meters, environment.get("TOOLWRIGHT_TRACE_CONTENT") == "1")
    workspace.hooks.append(listener.hook())
    workspace.caller.hooks.append(listener.call)
    listener.listen(workspace)
    workspace.stack.callback(meters.shutdown)
    workspace.stack.callback(tracers.shutdown)


class FirstTrouble(logging.Handler):
    """Says once that nothing can be sent. The exporters would tell of each of their attempts."""

    _told = False

    def emit(self, record: logging.LogRecord) -> None:
        if not self._told and record.levelno >= logging.WARNING:
            self._told = True
            reason = " ".join(record.getMessage().split())
            sys.stderr.write(visible(f"tw: warning: traces cannot be sent: {reason[:200]}", lines=False) + "\n")


def _listener(tracer_provider: Any, meter_provider: Any, content: bool) -> "_Listener":
    meter = metrics.get_meter("toolwright", VERSION, meter_provider=meter_provider)
    return _Listener(
        tracer=trace.get_tracer("toolwright", VERSION, tracer_provider=tracer_provider),
        tokens=meter.create_histogram(
            "gen_ai.client.token.usage", "{token}", "Tokens used", explicit_bucket_boundaries_advisory=_TOKENS
        ),
        duration=meter.create_histogram(
            "gen_ai.client.operation.duration", "s", "Duration", explicit_bucket_boundaries_advisory=_SECONDS
        ),
        first=meter.create_histogram(
            "gen_ai.client.operation.time_to_first_chunk",
            "s",
            "Time until a reply begins",
            explicit_bucket_boundaries_advisory=_CHUNK,
        ),
        content=content,
    )


@record(slots=True, kw_only=True)
class _Listener:
    """The open spans of one workspace, by what they belong to."""

    tracer: Any
    tokens: Any
    duration: Any
    first: Any
    content: bool
    workspace: Workspace | None = None
    turns: dict[str, Any] = field(default_factory=dict[str, Any])
    """By session: the turn under way, or the compaction within it."""
    calls: dict[tuple[str, str], Any] = field(default_factory=dict[tuple[str, str], Any])
    questions: dict[str, Any] = field(default_factory=dict[str, Any])

    def listen(self, workspace: Workspace) -> Callable[[], None]:
        self.workspace = workspace
        return workspace.bus.subscribe(self.hear)

    def hook(self) -> Hook:
        return Hook(call=self.call, request=self.request, prompt=self.prompt, compaction=self.compaction)

    # Turns.

    async def prompt(self, proceed: Callable[[Prompt], Awaitable[TurnEnd]], prompt: Prompt, session_id: str) -> TurnEnd:
        session = self.workspace.sessions_open.get(session_id) if self.workspace else None
        agent = prompt.agent or (session.agent if session else "")
        attributes = {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": agent,
            "gen_ai.conversation.id": session_id,
        }
        if self.content:
            attributes["gen_ai.input.messages"] = _message_json("user", prompt.text)
        span = self.tracer.start_span(f"invoke_agent {agent}".rstrip(), attributes=attributes)
        using = trace.use_span(span, end_on_exit=False, record_exception=False, set_status_on_exception=False)
        with using, self._under_way(session_id, span):
            end = await proceed(prompt)
            self._turn_ended(span, end)
            return end

    def _turn_ended(self, span: Any, end: TurnEnd) -> None:
        span.set_attribute("gen_ai.usage.input_tokens", end.spending.input)
        span.set_attribute("gen_ai.usage.output_tokens", end.spending.output)
        failure = getattr(end.message.info, "error", None)
        if failure is not None:
            _fail(span, failure.name, str(failure.data.get("message", "")))
        if self.content:
            span.set_attribute("gen_ai.output.messages", _message_json("assistant", end.message.text))

    async def compaction(self, proceed: Callable[[], Awaitable[None]], session_id: str) -> None:
        attributes = {"gen_ai.conversation.id": session_id}
        above = _below(self.turns.get(session_id))
        span = self.tracer.start_span("compaction", context=above, attributes=attributes)
        with self._under_way(session_id, span):
            await proceed()

    @contextmanager
    def _under_way(self, session_id: str, span: Any) -> Iterator[None]:
        """Yield what happens in the session meanwhile is below this span, which ends with how it went."""
        before, self.turns[session_id] = self.turns.get(session_id), span
        try:
            yield
        except BaseException as error:
            _fail(span, _kind(error), str(error))
            raise
        finally:
            span.end()
            if before is None:
                self.turns.pop(session_id, None)
            else:
                self.turns[session_id] = before

    # Requests to models.

    async def request(self, proceed: Stream, request: ModelRequest) -> AsyncIterator[Any]:
        model, settings = request.info.id, request.settings
        common = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": _PROVIDERS.get(request.info.provider, request.info.provider),
            "gen_ai.request.model": model,
        }
        facts = {
            "gen_ai.conversation.id": request.session_id or None,
            "gen_ai.request.stream": True,
            "gen_ai.request.temperature": settings.temperature,
            "gen_ai.request.top_p": settings.top_p,
            "gen_ai.request.max_tokens": settings.max_output,
        }
        attributes = common | {name: value for name, value in facts.items() if value is not None}
        if self.content:
            attributes["gen_ai.input.messages"] = json.dumps(to_json(list(request.messages)), default=str)
        span = self.tracer.start_span(
            f"chat {model}",
            context=_below(self.turns.get(request.session_id)),
            kind=SpanKind.CLIENT,
            attributes=attributes,
        )
        started, begun, failed, pieces = time.perf_counter(), False, "", []
        try:
            async for event in proceed(request):
                if not begun:
                    begun = True
                    self._begun(span, time.perf_counter() - started, common)
                self._heard(span, event, common)
                if self.content and isinstance(event, TextDelta | CallEnd):
                    pieces.append(event.text if isinstance(event, TextDelta) else f"{event.name}({event.arguments})")
                yield event
        except Exception as error:
            failed = _kind(error)
            _fail(span, failed, str(error))
            raise
        finally:
            if pieces:
                span.set_attribute("gen_ai.output.messages", _message_json("assistant", "".join(pieces)))
            more = {"error.type": failed} if failed else {}
            self.duration.record(time.perf_counter() - started, common | more)
            span.end()

    def _begun(self, span: Any, seconds: float, common: Mapping[str, str]) -> None:
        span.set_attribute("gen_ai.response.time_to_first_chunk", seconds)
        self.first.record(seconds, common)

    def _heard(self, span: Any, event: Any, common: Mapping[str, str]) -> None:
        if isinstance(event, Finish):
            span.set_attribute("gen_ai.response.finish_reasons", [event.reason])
        elif isinstance(event, Usage):
            read, written = event.input + event.cache_read + event.cache_write, event.output + event.reasoning
            span.set_attribute("gen_ai.usage.input_tokens", read)
            span.set_attribute("gen_ai.usage.output_tokens", written)
            if event.cache_read:
                span.set_attribute("gen_ai.usage.cache_read.input_tokens", event.cache_read)
            if event.cache_write:
                span.set_attribute("gen_ai.usage.cache_creation.input_tokens", event.cache_write)
            if event.reasoning:
                span.set_attribute("gen_ai.usage.reasoning.output_tokens", event.reasoning)
            for kind, count in (("input", read), ("output", written)):
                self.tokens.record(count, {**common, "gen_ai.token.type": kind})

    # Calls of tools.

    async def call(self, proceed: Proceed, call: Call, ctx: ToolContext) -> Result:
        parent = self.calls.get((ctx.session_id, ctx.parent)) or self.turns.get(ctx.session_id)
        attributes = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": call.tool,
            "gen_ai.tool.call.id": call.id,
            "gen_ai.tool.type": "function",
            "gen_ai.conversation.id": ctx.session_id,
            "gen_ai.agent.name": ctx.agent,
        }
        if self.content:
            attributes["gen_ai.tool.call.arguments"] = json.dumps(call.arguments, default=str)
        span = self.tracer.start_span(f"execute_tool {call.tool}", context=_below(parent), attributes=attributes)
        self.calls[ctx.session_id, call.id] = span
        started = time.time_ns()
        with trace.use_span(span, end_on_exit=False, record_exception=False, set_status_on_exception=False):
            try:
                result = await proceed(call)
                self._call_ended(span, result, started)
                return result
            except BaseException as error:
                _fail(span, _kind(error), str(error))
                raise
            finally:
                self.calls.pop((ctx.session_id, call.id), None)
                span.end()

    def _call_ended(self, span: Any, result: Result, started: int) -> None:
        if result.error is not None:
            _fail(span, result.error.kind, str(result.error) if self.content else "")
        if self.content:
            span.set_attribute("gen_ai.tool.call.result", result.output)
        if rung := result.metadata.get("sandbox"):
            box = self.tracer.start_span(f"sandbox {rung}", context=_below(span), start_time=started)
            box.set_attribute("toolwright.sandbox", str(rung))
            box.end()

    # Waits for people.

    def hear(self, event: Event) -> None:
        match event:
            case PermissionAsked(tool=tool):
                call = self.calls.get((event.session_id, (tool or {}).get("callID", "")))
                below = _below(call or self.turns.get(event.session_id))
                span = self.tracer.start_span(f"permission {event.permission}", context=below)
                span.set_attribute("gen_ai.conversation.id", event.session_id)
                span.set_attribute("toolwright.permission", event.permission)
                if self.content:
                    span.set_attribute("toolwright.schema.patterns", list(event.patterns))
                self.questions[event.id] = span
            case PermissionReplied() if event.request_id in self.questions:
                span = self.questions.pop(event.request_id)
                span.set_attribute("toolwright.reply", event.reply)
                span.end()
            case _:
                pass


def _below(span: Any) -> Any:
    """The context of a span; the current one if there is none."""
    return None if span is None else trace.set_span_in_context(span)


def _fail(span: Any, kind: str, text: str) -> None:
    span.set_attribute("error.type", kind)
    span.set_status(Status(StatusCode.ERROR, text or None))


def _kind(error: BaseException) -> str:
    if isinstance(error, ToolwrightError):
        return str(getattr(error, "kind", type(error).__name__))
    return "aborted" if is_cancelled() else type(error).__name__


def _message_json(role: str, text: str) -> str:
    return json.dumps([{"role": role, "parts": [{"type": "text", "content": text}]}], ensure_ascii=False)
