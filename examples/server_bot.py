"""A bot that works through `tw serve`: the same stream and the same result as in this process, over HTTP.

tw serve --port 4096 & python examples/server_bot.py http://127.0.0.1:4096 'Run the tests.'
"""

import asyncio
import sys

from toolwright import Asked, Finished, TextDelta, ToolFinished, TurnResult
from toolwright.client import Client


async def work(client: Client, text: str) -> TurnResult:
    """Allows commands that only look, and refuses the others with advice."""
    async with client.open_session() as session:
        async for event in session.stream(text):
            match event:
                case TextDelta(text=words):
                    print(words, end="", flush=True)
                case ToolFinished(tool=tool, result=result):
                    print(f"\n[{tool}: {result.error or result.title}]")
                case Asked(question=question):
                    looks = str(question.arguments.get("command", "")).startswith(("ls", "git log", "git diff"))
                    await session.reply(question.id, "once" if looks else "reject")
                case Finished(result=result):
                    return result
                case _:
                    pass
    raise AssertionError("a stream ends with Finished")


async def main(url: str, text: str) -> None:
    async with Client(url) as client:
        result = await work(client, text)
    for change in result.changes:
        print(f"\n{change.file}: +{change.additions} -{change.deletions}", end="")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2]))
