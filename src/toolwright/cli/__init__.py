"""The command line. This file answers `--version` and `--help` alone, and imports nothing that they do not need."""

import gc
import sys

_COLLECT_AFTER = 50_000
"""New objects after which garbage is looked for; Python's own 700 is made for programs of another size."""

COMMANDS = {
    "demo": "watch a whole session on a small project; needs no key and no network",
    "chat": "talk with an agent here; tw alone on a terminal does the same",
    "run": "give an agent a prompt and watch it work",
    "session": "list, show, copy and delete sessions; undo their changes",
    "stats": "what the sessions here have taken: tokens, money, by model and tool",
    "blame": "which call wrote a line, for which prompt, and who allowed it",
    "undo": "undo the changes of the last turn",
    "redo": "redo what was undone",
    "serve": "serve sessions over HTTP, for a browser and for other clients",
    "web": "the same, for the page in your browser",
    "attach": "talk with a run in the background, or with an agent on a server elsewhere",
    "ps": "the runs in the background (tw run --bg), and how they are",
    "logs": "what was said and done in one of them",
    "stop": "end one of them",
    "acp": "work as the agent of an editor, over the Agent Client Protocol",
    "tool": "list the tools, show one, or call one as an agent would",
    "agent": "list the agents, show what one may do, or write a new one",
    "command": "list the commands: prompts with a name",
    "plugin": "list the plugins, or try whether they work",
    "permission": "explain a decision, test your rules, list and revoke approvals",
    "hook": "judge the calls of Claude Code by our rules, as a hook of its own",
    "import": "permissions of Claude Code, Codex or Gemini CLI as rules of ours",
    "network": "what commands may reach, who says so, and what went where",
    "copy": "copies of the project to work in beside it",
    "merge": "bring the work of copies back, as far as your check accepts it",
    "eval": "give an agent a file of tasks, each in a copy of its own, and compare",
    "config": "show the settings that hold here and where each comes from",
    "lsp": "the language servers here, the errors they find, and how to get one",
    "models": "the models that are known",
    "auth": "store the keys of model providers",
    "gc": "remove what is old, and tell how much room is taken",
    "mcp": "MCP servers: list, add and log in to them; offer our tools as one",
    "trust": "let this project's own rules and code take effect",
    "completion": "print a script with which your shell completes commands, or the manual page",
    "doctor": "check this machine: programs, folders, sandbox, settings",
}

HELP = """\
toolwright: the tools of a coding agent, with permissions you can read

  tw ['PROMPT']                  talk with an agent about this folder
  tw COMMAND [OPTIONS]           tw COMMAND --help or tw help COMMAND tells more

{commands}

everywhere
  --directory DIR   work on this folder instead of the current one
  --trust           trust the project for this once
  --version         print the version
  --help            print this

try
  tw demo
  tw tool list
  tw tool call bash '{{"command": "git status"}}' --agent plan --dry-run
  tw permission explain bash rm -rf build

exit codes: 0 done, 1 failed, 2 usage, 3 refused by permission, 4 aborted or timed out, 5 limit reached
"""


def main(arguments: list[str] | None = None) -> int:
    """Run one command; the answer goes to stdout, everything else to stderr."""
    words = sys.argv[1:] if arguments is None else arguments
    if words in (["--version"], ["-V"], ["-v"], ["version"]):
        from toolwright import __version__

        sys.stdout.write(f"{__version__}\n")
        return 0
    if _is_chat(words):
        words = ["chat", *words]
    if words in ([], ["--help"], ["-h"], ["help"]):
        sys.stdout.write(_help())
        return 0 if words else 2
    if words[0] == "help":
        words = [*words[1:], "--help"]
    return _run(words, whole_process=arguments is None)


def _run(words: list[str], *, whole_process: bool) -> int:
    """Run without looking for garbage: what a start makes lives to the end, so that would cost a fifth of the time."""
    if whole_process:
        gc.set_threshold(_COLLECT_AFTER)
    try:
        from toolwright.cli.dispatch import run_command

        return run_command(words)
    except KeyboardInterrupt:
        return 4
    finally:
        if whole_process:
            gc.freeze()


def _is_chat(arguments: list[str]) -> bool:
    """Nothing on a terminal, words in quotes, or an option of the conversation: no command has these."""
    words = list(arguments)
    while words[:1] in (["--directory"], ["--trust"]):
        words = words[2 if words[0] == "--directory" else 1 :]
    if not words:
        return sys.stdin is not None and sys.stdin.isatty() and sys.stdout is not None and sys.stdout.isatty()
    return words[0].partition("=")[0] in _CHAT_OPTIONS or len(words[0].split()) > 1


_CHAT_OPTIONS = ("--continue", "-c", "--session", "-s", "--agent", "--model", "-m", "--plain", "--inline")


def _help() -> str:
    return HELP.format(commands="\n".join(f"  {name:<12}{text}" for name, text in COMMANDS.items()))
