"""A server that is a program here: started in a scope of its own, spoken to over its pipes."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from toolwright.mcp.client.link import LARGEST, Handlers
from toolwright.process.programs.rpc_program import Speech, SpokenProgram
from toolwright.process.running.scope import Scopes
from toolwright.protocols.jsonrpc import MCP


class ProgramLink:
    """The program, and what it complained of last."""

    stateless = False
    version = ""

    def __init__(self, program: SpokenProgram) -> None:
        self.peer = program.peer
        self._program = program

    @classmethod
    async def start(
        cls, scopes: Scopes, argv: Sequence[str], *, cwd: Path, env: Mapping[str, str], handlers: Handlers
    ) -> "ProgramLink":
        """Start the program. ToolError says what stood in its way."""
        speech = Speech(dialect=MCP, answer=handlers.answer, notified=handlers.notified, largest=LARGEST)
        return cls(await SpokenProgram.start(scopes, argv, cwd=cwd, env=env, speech=speech))

    def stderr_tail(self) -> str:
        return self._program.last_line()

    async def listen(self) -> None:
        """Nothing to do: all that the program says comes over the one pipe."""

    async def close(self) -> None:
        await self._program.close()

    async def died(self) -> str:
        """Return in words how the program ended, once its pipes are closed."""
        how = await self._program.how_it_ended()
        return f"it {how}" if how else "it closed its output"
