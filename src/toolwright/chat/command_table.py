"""The `/` commands there are, with a sentence each: the same in the line-based and the full-screen conversation."""

COMMANDS = {
    "help": "this list",
    "new": "begin a new session",
    "sessions": "list the sessions, or go on with one",
    "rename": "give the session another title",
    "fork": "go on with a copy of the session",
    "model": "list the models, or take one",
    "variant": "how hard the model thinks",
    "agent": "list the agents, or take one",
    "undo": "undo the last turn, `file PATH`, `hunk PATH NUMBER` or `call ID`; `preview` shows it first",
    "redo": "undo the last undo",
    "compact": "put a summary in the place of the conversation so far",
    "diff": "what the session has changed",
    "cost": "what the session has cost",
    "context": "how full the model's context is",
    "permissions": "what is approved",
    "explain": "what a call would need, and which rule decides",
    "tools": "the tools of the agent",
    "mcp": "MCP servers, language servers and formatters, and how they are",
    "jobs": "commands that run in the background",
    "export": "write the session to a file",
    "copy": "copy the last answer",
    "editor": "write a prompt in your editor",
    "theme": "choose how it looks",
    "keys": "what each key does",
    "demo": "watch a session that needs no model",
    "quit": "leave",
}
FULL_SCREEN = {
    "subagents": "step into a subagent, also while it works",
    "timeline": "the prompts of the session: jump to one, fork or undo there",
}
"""What only the full screen has."""
OTHER_NAMES = {
    "exit": "quit",
    "q": "quit",
    "clear": "new",
    "resume": "sessions",
    "continue": "sessions",
    "models": "model",
    "agents": "agent",
    "summarize": "compact",
    "themes": "theme",
}
"""What people know them by from elsewhere."""
OTHERS = (
    "!COMMAND       run a command yourself; the agent is not told of it",
    "@path, @agent  in a prompt: send the file along, or have the agent called",
)
