"""tw run --attach: the same prompt, answered by a server, shown as if it were answered here."""

import argparse
import asyncio
import base64
import inspect
import mimetypes
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any

from toolwright.chat.renderer import Renderer
from toolwright.cli.dispatch import FAILED, USAGE
from toolwright.cli.input import with_piped
from toolwright.cli.json_lines import JsonLines
from toolwright.cli.options import note, server_address
from toolwright.cli.questions import answerer
from toolwright.cli.refusals import Refusals
from toolwright.cli.run_command import stop_on_interrupt, told, view_of
from toolwright.client import Client, ServerError
from toolwright.client.events import event_of, question_of
from toolwright.client.reading import result_of
from toolwright.errors import UsageError
from toolwright.events import Bus
from toolwright.inbox import NOBODY, Answerer, Question, Reply, as_reply
from toolwright.jsontypes import Json
from toolwright.messages import Assistant
from toolwright.session.result import TurnResult


async def run_attached(options: argparse.Namespace) -> int:
    """Give a prompt to the server, show what happens, and say by exit code how it went."""
    _refuse_limits(options)
    user = answerer(options)
    text = "" if options.command else with_piped(" ".join(options.prompt))
    if not text.strip() and not options.command and not options.file:
        raise UsageError("There is no prompt. Give one, or pipe it in.")
    async with Client(server_address(options.attach), directory=getattr(options, "directory", "")) as client:
        return await _run(client, user, text, options)


async def _run(client: Client, user: Answerer | None, text: str, options: argparse.Namespace) -> int:
    files = [_data_url(Path(name)) for name in options.file]
    session_id = await _session(client, options)
    view, refusals, bus = view_of(session_id, options), Refusals(), Bus()
    bus.subscribe(view)
    bus.subscribe(refusals)
    ready = asyncio.Event()
    following = asyncio.create_task(_follow(client, session_id, user, bus, ready))
    stop_on_interrupt(partial(client.abort, session_id))
    try:
        await ready.wait()
        async with view.ticking() if isinstance(view, Renderer) else nullcontext():
            result = await _answered(client, session_id, text, files, options)
            # What was told of the turn before its end is shown before its end is told.
            await asyncio.wait([following], timeout=1)
    except ServerError as error:
        refused = error.status in (400, 404, 422)
        if isinstance(view, JsonLines):
            view.fail(error, USAGE if refused else FAILED, "usage" if refused else "failed")
        if not refused:
            raise
        # A prompt that could not even be taken leaves no empty session behind.
        if not (options.session or options.go_on):
            await client.delete_session(session_id)
        raise UsageError(str(error)) from error
    finally:
        following.cancel()
    return told(result, view, refusals, options)


def _refuse_limits(options: argparse.Namespace) -> None:
    limits = ("max_steps", "max_tokens", "max_cost", "max_seconds")
    given = [f"--{name.replace('_', '-')}" for name in limits if getattr(options, name) is not None]
    if given:
        raise UsageError(f"{given[0]} cannot be given with --attach: the limits are those of the server's settings.")


async def _session(client: Client, options: argparse.Namespace) -> str:
    if options.session and options.go_on:
        raise UsageError("--session and --continue both say which session; give one of them.")
    if options.session:
        return (await client.session(options.session)).id
    if options.go_on:
        last = next((one for one in await client.sessions() if one.parent_id is None), None)
        if last is None:
            raise UsageError("There is no session to continue there.")
        return last.id
    return (await client.create_session(title=options.title)).id


async def _answered(
    client: Client, session_id: str, text: str, files: list[str], options: argparse.Namespace
) -> TurnResult:
    chosen: Json = {"agent": options.agent, "model": options.model, "variant": options.variant}
    if options.command:
        last = await client.command(session_id, options.command, " ".join(options.prompt), **chosen)
    else:
        last = await client.prompt(session_id, text, files=files, **chosen)
    messages = await client.messages(last.info.session_id)
    parent = last.info.parent_id if isinstance(last.info, Assistant) else last.info.id
    return result_of(last, messages, await client.diff(last.info.session_id, parent))


def _data_url(file: Path) -> str:
    """A file of this machine, which the server cannot see."""
    try:
        data = file.read_bytes()
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}.") from error
    kind = mimetypes.guess_type(file.name)[0] or "text/plain"
    return f"data:{kind};base64,{base64.b64encode(data).decode()}"


async def _follow(client: Client, session_id: str, user: Answerer | None, bus: Bus, ready: asyncio.Event) -> None:
    """Show what happens until the session is at rest, and answer what is asked meanwhile."""
    family = {session_id}
    answering: set[asyncio.Task[None]] = set()
    began = False
    try:
        async for payload in client.events(deltas=True):
            ready.set()
            properties = payload["properties"]
            info = properties.get("info") or {}
            if payload["type"] == "session.created" and info.get("parentID") in family:
                family.add(info["id"])
            if _session_of(payload) not in family:
                continue
            began = began or payload["type"] == "session.status"
            if (event := event_of(payload)) is not None:
                bus.publish(event)
            if (question := question_of(payload)) is not None:
                answering.add(asyncio.create_task(_answer(client, question, user)))
            if began and payload["type"] == "session.idle" and properties.get("sessionID") == session_id:
                return
    finally:
        ready.set()
        for task in answering:
            task.cancel()


def _session_of(payload: Json) -> str:
    properties = payload["properties"]
    about = properties.get("part") or properties.get("info") or {}
    named = about.get("id", "") if payload["type"].startswith("session.") else about.get("sessionID", "")
    return str(properties.get("sessionID") or named)


async def _answer(client: Client, question: Question, user: Answerer | None) -> None:
    said: Any = Reply(kind="reject", message=NOBODY) if user is None else user(question)
    if inspect.isawaitable(said):
        said = await said
    try:
        await client.settle(question, as_reply(said))
    except ServerError as error:
        # Somebody else was faster, or the turn has ended.
        note(str(error))
