"""Our tools as plain functions for any loop, and over MCP from a program."""

import asyncio
from pathlib import Path

import httpx2
import pytest

from toolwright import Reply, serve_mcp
from toolwright.adapters.functions import tools
from toolwright.testing import make_workspace

ASKING = {"permission": {"bash": "ask", "edit": "deny"}}


async def test_a_loop_of_ones_own_has_name_schema_and_function(project: Path) -> None:
    (project / "a.txt").write_text("hello\n")
    async with make_workspace(project, config=ASKING) as workspace:
        offered = {one.name: one for one in await tools(workspace, answer=lambda _: Reply(kind="once"))}
        assert "write" not in offered
        read, bash = offered["read"], offered["bash"]
        assert "hello" in (await read(filePath="a.txt")).output
        assert (await read.run('{"filePath": "a.txt"}')).error is None
        broken = await read.run('{"filePath": ')
        assert broken.error is not None
        assert (await bash(command="echo asked")).output == "asked\n"
        assert read.as_openai()["function"] == {
            "name": "read",
            "description": read.description,
            "parameters": read.parameters,
        }
        assert read.as_anthropic()["input_schema"]["required"] == ["filePath"]
        assert read.__name__ == "read"


async def test_a_program_serves_its_tools_over_mcp(project: Path) -> None:
    def stock(article: str) -> str:
        """How much of an article there is."""
        return f"5 {article}"

    told: asyncio.Queue[str] = asyncio.Queue()
    async with make_workspace(
        project, tools=[stock], config={"permission": {"stock": "ask"}}, user=lambda _: "once"
    ) as workspace:
        serving = asyncio.create_task(serve_mcp(workspace, http=0, token="t", tools=["stock"], say=told.put_nowait))
        address = (await told.get()).split()[-1]
        headers = {"authorization": "Bearer t", "accept": "application/json, text/event-stream"}
        async with httpx2.AsyncClient(headers=headers, trust_env=False) as client:

            async def send(method: str, params: object, number: int) -> str:
                body = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
                answer = await client.post(address, json=body)
                client.headers.update({k: v for k, v in answer.headers.items() if k == "mcp-session-id"})
                return answer.text

            about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
            await send("initialize", about, 1)
            assert '"stock"' in await send("tools/list", {}, 2)
            # This client can ask nobody, so the program itself is asked.
            assert "5 tea" in await send("tools/call", {"name": "stock", "arguments": {"article": "tea"}}, 3)
            assert "not offered" in await send("tools/call", {"name": "bash", "arguments": {"command": "ls"}}, 4)
        serving.cancel()
        with pytest.raises(asyncio.CancelledError):
            await serving
        assert (await workspace.call("stock", article="milk")).output == "5 milk"
