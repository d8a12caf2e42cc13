"""An extension that keeps secrets out of what a model reads: copy it to `.toolwright/plugin/`, or run it.

python examples/extension_redact.py config.env
"""

import asyncio
import re
import sys
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

from toolwright import Call, Extension, Result, ToolContext, ToolError, open_workspace

SECRET = re.compile(r"\b(sk|ghp|xoxb)[-_][A-Za-z0-9]{8,}")


async def without_secrets(proceed: Callable[[Call], Awaitable[Result]], call: Call, _: ToolContext) -> Result:
    """Around every call of every agent: refuse what would send a secret out, and blot out those that come back."""
    if call.tool == "webfetch" and SECRET.search(str(call.arguments)):
        raise ToolError("This address holds a secret. Leave it out.", "denied")
    result = await proceed(call)
    return replace(result, output=SECRET.sub(r"\1-…", result.output))


extension = Extension(name="redact", hooks=[without_secrets])


async def show(file: str, folder: str | Path = ".") -> str:
    async with open_workspace(folder, extensions=[extension]) as workspace:
        return (await workspace.call("read", filePath=file)).output


if __name__ == "__main__":
    print(asyncio.run(show(sys.argv[1])))
