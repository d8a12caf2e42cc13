"""tw acp: the agent for editors that speak the Agent Client Protocol, on standard input and output."""

import asyncio
import json
import sys
from pathlib import Path

from toolwright.cli.dispatch import DONE
from toolwright.cli.options import CommandParser, parser
from toolwright.cli.output import say
from toolwright.errors import UsageError


def main(arguments: list[str]) -> int:
    if arguments[:1] == ["auth"]:
        # An editor that lets the user log in starts us with the arguments of the way to do so behind its own.
        from toolwright.cli.commands.auth_command import main as store_key

        return store_key(arguments[1:])
    options = _parser().parse_args(arguments)
    if options.print_config:
        say(_fragment(options.print_config), lines=True)
        return DONE
    asyncio.run(
        _serve(
            Path(getattr(options, "directory", ".")).resolve(),
            trust=getattr(options, "trust", False),
            pure=getattr(options, "pure", False),
        )
    )
    return DONE


def _parser() -> CommandParser:
    root = parser(
        "acp",
        "Work as the agent of an editor, over the Agent Client Protocol. Started by the editor, not by hand.",
        examples="  tw acp --print-config zed",
    )
    root.add_argument("--print-config", choices=("zed", "jetbrains", "neovim"), help="what the editor's settings want")
    return root


def _fragment(editor: str) -> str:
    command = {"command": "tw", "args": ["acp"], "env": {}}
    if editor == "zed":
        return json.dumps({"agent_servers": {"toolwright": {"type": "custom", **command}}}, indent=2)
    if editor == "jetbrains":
        return json.dumps({"agent_servers": {"toolwright": command}}, indent=2)
    return _NEOVIM


_NEOVIM = """\
require("codecompanion").setup({
  adapters = {
    acp = {
      toolwright = function()
        return require("codecompanion.adapters").extend("opencode", {
          name = "toolwright",
          formatted_name = "Toolwright",
          commands = { default = { "tw", "acp" } },
        })
      end,
    },
  },
  strategies = { chat = { adapter = "toolwright" } },
})"""


async def _serve(folder: Path, *, trust: bool, pure: bool) -> None:
    from toolwright.acp.agent import EditorAgent
    from toolwright.cli.options import answer_plugins, let_copies_be_made
    from toolwright.extension import Extension
    from toolwright.inbox import Answerer
    from toolwright.protocols.json_types import JsonView
    from toolwright.protocols.jsonrpc import ACP, Peer
    from toolwright.workspace import Workspace

    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    try:
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin.buffer)
        transport, protocol = await loop.connect_write_pipe(
            lambda: asyncio.StreamReaderProtocol(asyncio.StreamReader()), sys.stdout.buffer
        )
    except ValueError as error:
        raise UsageError(
            "tw acp speaks over pipes, not over files. An editor starts it: see --print-config."
        ) from error
    # Whatever else would print goes where it does no harm.
    sys.stdout = sys.stderr
    writer = asyncio.StreamWriter(transport, protocol, None, loop)

    def make(path: Path, answer: Answerer, *, config: JsonView, extensions: list[Extension]) -> Workspace:
        workspace = Workspace(
            path, answer=answer, client="acp", keep=True, trust=trust, pure=pure, config=config, extensions=extensions
        )
        answer_plugins(workspace)
        let_copies_be_made(workspace)
        return workspace

    agent = EditorAgent(folder, make)
    async with Peer(reader, writer, ACP, answer=agent.answer, notified=agent.notified) as peer:
        await agent.serve(peer)
