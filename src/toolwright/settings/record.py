"""The record of all settings, with defaults: what a configuration file may say, and what a reader gets."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Any, Literal

from toolwright.protocols.json_types import JsonView
from toolwright.settings.field import (
    also,
    free,
    joined,
    lower_limits,
    lowest,
    narrower,
    off_wins,
    refusing,
    stricter_mode,
    tightens,
    user_only,
    within,
    within_if_any,
)
from toolwright.settings.section import Section

NONE: Mapping[str, Any] = MappingProxyType({})
"""No entries; a default that nobody can write into."""
Names = tuple[str, ...]
Texts = Mapping[str, str]

COUNT = {"minimum": 1}
MORE_THAN_NOTHING = {"exclusiveMinimum": 0}
ACTION = {"type": "string", "enum": ["allow", "ask", "deny"]}
BY_PATTERN = {"anyOf": [ACTION, {"type": "object", "additionalProperties": ACTION}]}
RULE = {
    "type": "object",
    "properties": {"action": {"type": "string"}, "resource": {"type": "string"}, "effect": ACTION},
    "required": ["action", "resource", "effect"],
}
PERMISSION = {
    "anyOf": [ACTION, {"type": "object", "additionalProperties": BY_PATTERN}, {"type": "array", "items": RULE}]
}
TOOLS = {"type": "object", "additionalProperties": {"type": "boolean"}}
AGENT_TOOLS = {"anyOf": [TOOLS, {"type": "array", "items": {"type": "string"}}]}


class SandboxSection(Section):
    """The box around commands."""

    mode: Annotated[
        Literal["auto", "bubblewrap", "landlock", "seatbelt", "off"],
        user_only("how commands are boxed in; `auto` takes the best that works here", stricter_mode),
    ] = "auto"
    writable: Annotated[Names, user_only("further places commands may write", within)] = ()
    readable: Annotated[Names, tightens("what commands may read besides the project and the system", narrower)] = ("/",)
    network: Annotated[bool, tightens("whether commands have the network", off_wins)] = True
    capture: Annotated[
        bool,
        user_only("keep what programs change as it was before, so that it can be undone, where Linux helps"),
    ] = True
    keys: Annotated[
        Texts, user_only("by host, a header that is put in outside of the box, see [network.md](network.md#keys)")
    ] = NONE
    reveal: Annotated[
        Names, user_only("patterns of files to show to commands although a rule denies reading them", within)
    ] = ()


class EnvironmentSection(Section):
    """The variables that commands get."""

    allow: Annotated[Names, user_only("names to hand on although they look like secrets", within)] = ()
    deny: Annotated[Names, tightens("further names of variables to keep from commands", joined)] = ()


class EditSection(Section):
    """Settings of the tools that change files."""

    drift: Annotated[
        Literal["merge", "replace", "refuse"],
        tightens("what `edit` does where lines differ, see [differences.md](differences.md#editing)", refusing),
    ] = "merge"
    gate: Annotated[bool, user_only("say first that a change brought new errors, and offer `undo`; needs `lsp`")] = (
        False
    )


class ReadSection(Section):
    """Settings of the tool `read`."""

    form: Annotated[
        Literal["file", "path"],
        free("`file`: lines as `00012| text` in `<file>`; `path`: as `12: text` below `<path>` and `<type>`"),
    ] = "file"


class LimitsSection(Section):
    """Limits of the output that a model sees, for one agent or tool; what is None is as in general."""

    max_lines: Annotated[int | None, tightens("lines", lowest, schema=COUNT)] = None
    max_bytes: Annotated[int | None, tightens("bytes", lowest, schema=COUNT)] = None
    direction: Annotated[Literal["head", "tail", "both"] | None, free("which end is kept")] = None


class TruncateSection(Section):
    """Limits of the output that a model sees."""

    max_lines: Annotated[int, tightens("lines of an output a model sees", lowest, schema=COUNT)] = 2000
    max_bytes: Annotated[int, tightens("bytes of it", lowest, schema=COUNT)] = 51200
    direction: Annotated[
        Literal["head", "tail", "both"] | None,
        free("which end is kept", default="`both` for bash, `head` for the others"),
    ] = None
    agent: Annotated[Mapping[str, LimitsSection], tightens("the same three by agent", default="none")] = NONE
    tool: Annotated[
        Mapping[str, LimitsSection], tightens("the same three by tool; they win over an agent's", default="none")
    ] = NONE


class BatchSection(Section):
    """The `batch` tool."""

    max_calls: Annotated[int, tightens("calls in one batch", lowest, schema=COUNT)] = 10


class BackgroundSection(Section):
    """Agents that work in the background, see [background.md](background.md)."""

    agents: Annotated[int, tightens("how many at once below one session of yours", lowest, schema=COUNT)] = 16
    total: Annotated[int, tightens("how many for one prompt", lowest, schema=COUNT)] = 100
    seconds: Annotated[int, tightens("seconds that each may take", lowest, schema=COUNT)] = 3600


class CompactionSection(Section):
    """Compaction of a conversation that has grown too long."""

    auto: Annotated[
        bool, user_only("whether a summary may take the place of a conversation that has grown too long")
    ] = True
    prune: Annotated[bool, user_only("whether old results are cleared after a turn")] = True
    reserved: Annotated[
        int | None,
        user_only("tokens kept free for the reply", schema=COUNT, default="the model's longest reply, at most 32000"),
    ] = None


class BudgetSection(Section):
    """When a turn is stopped; None is no limit. See [sessions.md](sessions.md#limits)."""

    steps: Annotated[int | None, tightens("replies of the model in a turn", lowest, schema=COUNT)] = None
    tokens: Annotated[int | None, tightens("tokens in a turn", lowest, schema=COUNT)] = None
    cost: Annotated[float | None, tightens("dollars in a turn", lowest, schema=MORE_THAN_NOTHING)] = None
    seconds: Annotated[float | None, tightens("seconds a turn may take", lowest, schema=MORE_THAN_NOTHING)] = None


class ExperimentalSection(Section):
    """Settings that may still change."""

    batch_tool: Annotated[bool, user_only("offer the `batch` tool")] = False
    plan_mode: Annotated[bool, user_only("offer `plan_enter` and `plan_exit` on the command line")] = False
    continue_loop_on_deny: Annotated[bool, user_only("go on after a refusal without advice", off_wins)] = False
    primary_tools: Annotated[Names, user_only("tools that subagents are not offered", joined)] = ()
    lsp_tool: Annotated[bool, user_only("offer the `lsp` tool")] = False
    web_search: Annotated[bool, user_only("offer the `websearch` and `codesearch` tools")] = False
    mcp_timeout: Annotated[int | None, user_only("milliseconds for calls of MCP servers", schema=COUNT)] = None
    chat_max_retries: Annotated[
        int | None,
        user_only("retries of a model request", schema={"minimum": 0}, key="chatMaxRetries", effect=False),
    ] = None
    open_telemetry: Annotated[bool, user_only("traces", key="openTelemetry", effect=False)] = False
    disable_paste_summary: Annotated[bool, user_only("of the reference's screen", effect=False)] = False
    hook: Annotated[JsonView, user_only("the reference's older `file_edited` and `session_completed`")] = NONE


class ProviderSettings(Section):
    """A provider: where it is and which models it has. An untrusted project may only add one, without your keys."""

    name: Annotated[str, free("its name for people")] = ""
    api: Annotated[str, free("the wire format, or the address")] = ""
    npm: Annotated[str, free("the package whose wire format it speaks")] = ""
    env: Annotated[Names, user_only("variables that may hold its key")] = ()
    options: Annotated[JsonView, free("`baseURL`, `apiKey`, `headers`, `timeout` and what its models take")] = NONE
    models: Annotated[Mapping[str, JsonView], free("its models")] = NONE
    whitelist: Annotated[Names, free("the only models to offer")] = ()
    blacklist: Annotated[Names, free("models not to offer")] = ()
    said: JsonView = NONE
    """The record as JSON, with what it says and nothing else; for the catalogue."""


class SearchSection(Section):
    """Whom searches are sent to."""

    url: Annotated[
        str,
        user_only(
            "the address of the search service, see [web.md](web.md#searching)", schema={"pattern": "^https?://"}
        ),
    ] = ""
    headers: Annotated[Texts, user_only("headers of every search")] = NONE
    timeout: Annotated[int | None, user_only("milliseconds for a search", schema=COUNT)] = None
    backend: Annotated[Literal["mcp", "searxng"], user_only("what the service speaks")] = "mcp"


class CommandSettings(Section):
    """A prompt with a name."""

    template: Annotated[str, user_only("the prompt; `$ARGUMENTS` is what follows the name")]
    description: Annotated[str, user_only("what it is for")] = ""
    agent: Annotated[str, user_only("who carries it out")] = ""
    model: Annotated[str, user_only("with which model")] = ""
    subtask: Annotated[bool | None, user_only("whether as a subagent")] = None


class McpSettings(Section):
    """An MCP server."""

    type: Annotated[Literal["local", "remote"] | None, user_only("a program, or an address")] = None
    command: Annotated[Names, user_only("the program and its arguments")] = ()
    environment: Annotated[Texts, user_only("variables for the program")] = NONE
    cwd: Annotated[str, user_only("the folder it runs in")] = ""
    url: Annotated[str, user_only("the address")] = ""
    headers: Annotated[Texts, user_only("headers of every request")] = NONE
    oauth: Annotated[JsonView | Literal[False] | None, user_only("how to log in, or `false`")] = None
    enabled: Annotated[bool, user_only("whether it is used")] = True
    enabled_tools: Annotated[Names | None, user_only("the only tools of it to offer, by its own names")] = None
    disabled_tools: Annotated[Names, user_only("tools of it not to offer")] = ()
    trusted: Annotated[
        bool, user_only("whether its results are no words of others, see [network.md](network.md#flows)")
    ] = False
    timeout: Annotated[int | None, user_only("milliseconds for a request", schema=COUNT)] = None
    pinned: Annotated[bool, user_only("whether a tool that has changed waits until you accept it")] = True


class ProgramSettings(Section):
    """A formatter or a language server."""

    disabled: Annotated[bool, user_only("whether it is left out")] = False
    command: Annotated[Names, user_only("the program and its arguments")] = ()
    environment: Annotated[Texts, user_only("variables for the program")] = NONE
    env: Annotated[Texts, user_only("the same")] = NONE
    extensions: Annotated[Names, user_only("for which files")] = ()
    initialization: Annotated[JsonView, user_only("what a language server is told at the start")] = NONE
    timeout: Annotated[int | None, user_only("milliseconds a formatter may take", schema=COUNT)] = None


class ForeignSection(Section):
    """Parts of other programs' set-ups that are read, yours and the project's."""

    claude: Annotated[
        Names,
        user_only(
            "of Claude Code: `agents`, `commands`, `hooks`, `mcp` (`.mcp.json`), `permissions`",
            within,
            schema={"items": {"enum": ["agents", "commands", "hooks", "mcp", "permissions"]}},
        ),
    ] = ()
    codex: Annotated[
        Names,
        user_only(
            "of Codex, in `.codex`: `hooks`, `mcp`, `permissions` (its rules for commands)",
            within,
            schema={"items": {"enum": ["hooks", "mcp", "permissions"]}},
        ),
    ] = ()
    gemini: Annotated[
        Names,
        user_only(
            "of Gemini CLI, in `.gemini`: `mcp`, `permissions` (its policies)",
            within,
            schema={"items": {"enum": ["mcp", "permissions"]}},
        ),
    ] = ()
    plugins: Annotated[Names, user_only("folders of plugins of Claude Code, from `/` or from `~/`", within)] = ()
    skills: Annotated[bool, user_only("whether skills in `.claude/skills` and `.agents/skills` count", off_wins)] = True


class CopiesSection(Section):
    """Copies of the project that work goes on in beside it, see [copies.md](copies.md)."""

    leave_out: Annotated[
        Names, user_only("paths of the project that no copy gets, with wildcards, such as `*/node_modules`", joined)
    ] = ()
    check: Annotated[str, user_only("the command that decides whether what `tw merge` put together holds")] = ""
    merge: Annotated[
        Literal["at_end", "by_hand"],
        user_only("whether what a `task` has done in a copy is merged when it ends, or left to `tw merge`"),
    ] = "at_end"
    variables: Annotated[
        Texts, user_only("variables that commands in a copy get, with `{name}`, `{number}`, `{port}`, `{folder}` of it")
    ] = NONE
    setup: Annotated[Names, user_only("commands that are run in a new copy")] = ()
    teardown: Annotated[Names, user_only("commands that are run in a copy before it is dropped")] = ()
    network: Annotated[
        Literal["own", "shared"],
        user_only("whether `localhost` is the copy's own where the machine can do that, see [copies.md](copies.md)"),
    ] = "own"


class AcpSection(Section):
    """Work left to the editor by `tw acp`, see [acp.md](acp.md)."""

    files: Annotated[
        Literal["editor", "disk"],
        user_only("where `tw acp` reads and writes files that the editor may have open"),
    ] = "editor"
    terminal: Annotated[bool, user_only("run commands in the editor's terminal, outside of the sandbox", off_wins)] = (
        False
    )


class AgentSettings(Section):
    """An agent. An untrusted project may bring a new one; of one there is it may only tighten the permissions."""

    name: Annotated[str, free("in a file of its own, what it is called instead of by its path")] = ""
    description: Annotated[str, free("when to use it")] = ""
    mode: Annotated[Literal["primary", "subagent", "all"] | None, free("who may call it")] = None
    model: Annotated[str, user_only("`provider/model`")] = ""
    variant: Annotated[str, user_only("a variant of the model")] = ""
    prompt: Annotated[str, free("what the model is told to be")] = ""
    temperature: Annotated[float | None, free("how freely the model chooses")] = None
    top_p: Annotated[float | None, free("the same by another measure")] = None
    steps: Annotated[int | None, free("replies in a turn", schema=COUNT)] = None
    max_steps: Annotated[int | None, free("the older name of `steps`", schema=COUNT, key="maxSteps")] = None
    disable: Annotated[bool, user_only("hide the agent")] = False
    hidden: Annotated[bool, user_only("leave it out of lists")] = False
    copy: Annotated[bool, free("work in a copy of the project, where others hand work to it")] = False
    color: Annotated[str, free("`#rrggbb` or a name", schema={"pattern": "^#[0-9a-fA-F]{6}$|^[a-z][a-z-]*$"})] = ""
    permission: Annotated[Any, tightens("rules of its own", schema=PERMISSION)] = None
    tools: Annotated[
        Any, tightens("a list of the only ones it has; an object is the older form of `permission`", schema=AGENT_TOOLS)
    ] = None
    output: Annotated[Any, free("the JSON Schema of its answers", schema={"type": "object"})] = None
    hand_over: Annotated[Names, user_only("the agents to which it may hand the conversation over")] = ()
    options: Annotated[JsonView, user_only("handed on to the provider")] = NONE


class Settings(Section):
    """Everything that can be set. Read it with `load_config`, which has weighed who said what."""

    permission: Annotated[
        Any, tightens("rules, see [permissions.md](permissions.md)", schema=PERMISSION, default="as told there")
    ] = None
    tools: Annotated[
        Any, tightens('`{"bash": false}`: the older way to deny or allow a tool', schema=TOOLS, default="none")
    ] = None
    run_later: Annotated[
        Mapping[str, bool],
        tightens(
            "what other programs run by themselves, folders with a slash: a change of what is true is asked about;"
            " see [permissions.md](permissions.md#files-that-run-later)",
            also,
            default="the list there",
        ),
    ] = NONE
    agent: Annotated[
        Mapping[str, AgentSettings],
        tightens(
            "agents by name, see [agents.md](agents.md)",
            default="the built-in ones",
            before_trust="new ones without a model; of others only stricter rules",
        ),
    ] = NONE
    default_agent: Annotated[str, user_only("who takes a prompt", default="`build`")] = ""
    model: Annotated[str, user_only("`provider/model` for prompts", default="none: name one with `--model`")] = ""
    small_model: Annotated[
        str, user_only("for titles", default="a small model of the same provider, or the same model")
    ] = ""
    provider: Annotated[
        Mapping[str, ProviderSettings],
        tightens(
            "providers and models, see [models.md](models.md)",
            default="the catalogue that ships",
            before_trust="new ones, which get none of your keys",
        ),
    ] = NONE
    disabled_providers: Annotated[Names, tightens("providers that are not used", joined)] = ()
    enabled_providers: Annotated[
        Names, user_only("the only providers that are used", within_if_any, default="all")
    ] = ()
    command: Annotated[
        Mapping[str, CommandSettings], user_only("prompts with a name, see [commands.md](commands.md)", default="none")
    ] = NONE
    mcp: Annotated[
        Mapping[str, McpSettings], user_only("MCP servers by name, see [mcp.md](mcp.md)", default="none")
    ] = NONE
    formatter: Annotated[
        bool | Mapping[str, ProgramSettings],
        user_only("programs that format; see [lsp.md](lsp.md#formatters)", default="none"),
    ] = False
    lsp: Annotated[
        bool | Mapping[str, ProgramSettings], user_only("language servers; see [lsp.md](lsp.md)", default="none")
    ] = False
    instructions: Annotated[
        Names,
        tightens("further files and globs whose text every model gets", before_trust="files of the project itself"),
    ] = ()
    hooks: Annotated[
        JsonView,
        user_only(
            "programs to run at certain moments, see [extensions.md](extensions.md#hooks)",
            schema={"type": "object", "additionalProperties": {"type": "array", "items": {"type": "object"}}},
            default="none",
        ),
    ] = NONE
    plugin: Annotated[tuple[Any, ...], user_only("plugins, see [extensions.md](extensions.md#plugins)")] = ()
    shell: Annotated[
        str,
        user_only("the shell for commands", default="`$SHELL`, unless it is fish or nu; else bash, or zsh on macOS"),
    ] = ""
    sandbox: Annotated[
        SandboxSection, user_only("the mode alone, or an object; see [shell.md](shell.md#the-sandbox)", short="mode")
    ] = SandboxSection()
    environment: EnvironmentSection = EnvironmentSection()
    edit: EditSection = EditSection()
    read: ReadSection = ReadSection()
    encoding: Annotated[
        str,
        user_only(
            "for files that are neither UTF-8 nor UTF-16, such as `cp1252`",
            default="none: such bytes are kept as they are",
        ),
    ] = ""
    theme: Annotated[
        str,
        user_only("how the full screen looks: `dark`, `light`, `contrast` or `terminal`", default="`dark`"),
    ] = ""
    keybinds: Annotated[
        Mapping[str, str], user_only("keys of the full screen, see [chat.md](chat.md#keys)", default="none")
    ] = NONE
    telemetry: Annotated[bool, user_only("send traces of commands, see [telemetry.md](telemetry.md)")] = False
    search: SearchSection = SearchSection()
    acp: AcpSection = AcpSection()
    copies: CopiesSection = CopiesSection()
    foreign: ForeignSection = ForeignSection()
    truncate: Annotated[TruncateSection, tightens("how much of an output a model sees", lower_limits)] = (
        TruncateSection()
    )
    background: BackgroundSection = BackgroundSection()
    batch: BatchSection = BatchSection()
    budget: BudgetSection = BudgetSection()
    compaction: CompactionSection = CompactionSection()
    experimental: ExperimentalSection = ExperimentalSection()


FOREIGN = (
    "logLevel",
    "tui",
    "server",
    "watcher",
    "snapshot",
    "share",
    "autoshare",
    "autoupdate",
    "username",
    "layout",
    "enterprise",
    "skills",
    "references",
    "subagent_depth",
    "attachment",
)
"""Settings of the reference that mean nothing here; accepted, so that a file carries over; `tw doctor` names them."""
RESERVED_OPTIONS = frozenset(
    {
        "model",
        "messages",
        "tools",
        "stream",
        "input",
        "contents",
        "system",
        "instructions",
        "systemInstruction",
        "system_instruction",
    }
)
"""Parts of a request that are ours to write, which no option of a provider or an agent replaces."""
