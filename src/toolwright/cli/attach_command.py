"""tw attach: one prompt, answered by a server, with what happens shown as it happens."""

import asyncio
import sys
from typing import Any

from toolwright.cli.dispatch import DONE, FAILED, REFUSED
from toolwright.cli.options import Parser, note, parser
from toolwright.cli.terminal import read_line


def main(arguments: list[str]) -> int:
    return asyncio.run(_attach(_parser().parse_args(arguments)))


def _parser() -> Parser:
    made = parser(
        "attach",
        "Give a prompt to a server that runs elsewhere (tw serve). The secret of your own server on this machine is "
        "found by itself; else put it into the address, or into OPENCODE_SERVER_PASSWORD.",
        examples="  tw attach http://127.0.0.1:4096 'why does test_login fail?'",
    )
    made.add_argument("url", help="the address that tw serve has printed")
    made.add_argument("prompt", nargs="*", help="what you want; read from stdin if it is piped in")
    made.add_argument("--session", "-s", default="", metavar="ID", help="go on with this session")
    made.add_argument("--agent", default="", help="the agent to ask (build)")
    made.add_argument("--model", "-m", default="", metavar="P/M", help="the model to use")
    return made


async def _attach(options: Any) -> int:
    from toolwright.client import Client

    text = " ".join(options.prompt) or ("" if sys.stdin.isatty() else sys.stdin.read())
    async with Client(options.url, directory=getattr(options, "directory", "")) as client:
        session_id = options.session or (await client.create_session()).id
        listening = asyncio.create_task(_show(client, session_id))
        try:
            message = await client.prompt(session_id, text, agent=options.agent, model=options.model)
        finally:
            listening.cancel()
        print(message.text)
        note(f"session {session_id}")
        error = getattr(message.info, "error", None)
        if error is not None:
            note(f"tw: {error.data.get('message', error.name)}")
            return FAILED
        return REFUSED if any(part.state.status == "error" for part in message.calls) else DONE


async def _show(client: Any, session_id: str) -> None:
    async for event in client.events():
        properties = event["properties"]
        if event["type"] == "permission.asked":
            await _decide(client, properties)
        elif event["type"] == "message.part.updated":
            part = properties["part"]
            if part["sessionID"] == session_id and part.get("state", {}).get("status") == "completed":
                note(f"{part['tool']} {part['state'].get('title', '')}")


async def _decide(client: Any, asked: Any) -> None:
    what = f"{asked['permission']} {', '.join(asked['patterns'])}"
    if not sys.stdin.isatty():
        await client.reply(asked["id"], "reject", "nobody can be asked in this run: go on without it")
        return
    note(f"{what}? y once, a always, n no")
    said = (await read_line()).strip().lower()
    await client.reply(asked["id"], {"y": "once", "a": "always"}.get(said[:1], "reject"))
