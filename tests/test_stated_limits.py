"""The limits that users, models and other programs rely on: a change of one is a change of what they were told.

Each line is a module, the name of the limit, its value, and who would notice. Limits that only tune how something is
searched for or drawn are left out.
"""

from importlib import import_module

import pytest

LIMITS = """
tools.read                  LINES                2000         a model pages through files in steps of this
tools.read                  WIDTH                2000         longer lines are cut, and say so
tools.bash                  TIMEOUT              120_000      milliseconds, as the tool's text says
tools.grep                  LENGTH               10_000       a longer pattern is refused
tools.lsp                   MOST                 100          places that one answer lists
tools.question              LONGEST_LABEL        30           the schema of the tool says so
tools.webfetch              TIMEOUT              30           seconds, as the tool's text says
tools.webfetch              MAX_TIMEOUT          120          seconds, as the tool's text says
tools.websearch             RESULTS              8            results where the model names no number
tools.codesearch            TOKENS               5000         tokens where the model names no number
calls.truncate              MAX_LINES            2000         what a result may show; the rest is kept in a file
calls.truncate              KEPT_DAYS            7            how long that file is kept
files.search                LIMIT                100          what glob and grep show
files.search                SECONDS              60           a search ends then and says so
files.query                 LINES                100          lines of one file that are shown; the others are counted
files.media                 PIXELS               80_000_000   a larger picture is refused before it is unpacked
files.media                 SIDE                 2000         a larger picture is made smaller for the model
files.pdf_reader            SECONDS              20           a PDF that keeps a processor longer is given up
files.pdf_reader            LONGEST              20_000_000   characters of a PDF that are read
files.store                 SECONDS              20           a formatter or language server holds a file no longer
files.snapshot              MOST_FILES           2000         files that one step may keep for an undo
files.snapshot              MOST_OWN_FILES       10_000       files of the project's own that undo looks after
files.lock                  PATIENCE             30.0         seconds to wait for another program that writes
files.ignore                _MOST_LINES          10_000       a hostile .gitignore cannot keep us busy
files.globs                 _LONGEST             10_000       nor a hostile pattern
files.globs                 _MOST_ALTERNATIVES   256          nor one with braces in braces
files.paths                 _MOST_LINKS          40           links in links end like the kernel's
shell.analysis.analysis     LONGEST              100_000      a longer command is asked about, unread
shell.analysis.approval     MOST                 100          commands that one "always" may stand for
shell.analysis.approval     LONGEST              4000         a longer command is allowed once only
shell.state.findings        STEPS                4000         a script that unfolds further is asked about
shell.state.findings        LINKS                400          names that one line may give to places
shell.state.findings        WORDS                100_000      words that one line may come to
shell.grammar.scan          DEPTH                60           nested deeper, it is asked about
shell.state.state           ALTERNATIVES         16           values of a variable followed side by side
shell.requests.matching     MOST                 1000         files of a wildcard that are judged one by one
shell.analysis.scripts      FILES                8            scripts in scripts that are read
shell.programs.transfers    MOST                 256          names that a copy makes
tools.commands.held_changes FEW                  3            questions of one command before all in a folder is offered
network.published           MOST                 32           servers of one session that are led outside
process.running.scope       PROCESSES            4096         a command cannot fill the machine with processes
process.running.scope       MEMORY               0.75         nor take all of its memory
process.jobs.jobs           RUNNING              16           commands in the background at a time
process.jobs.jobs           REMEMBERED           32           jobs of one session that can be asked about
process.jobs.report         DISPLAY              30_000       characters of output that a display is given
process.programs.lookup     LINKS                40           links in links end like the kernel's
session.budget              STEPS                500          replies in one turn where nobody has said otherwise
session.turns.repeats       TIMES                3            the same call so often asks a person
session.subagents.subagents DEEPEST              4            subagents of subagents end there
session.turns.compaction    PRUNE_PROTECT        40_000       tokens of results that are never pruned
session.turns.compaction    PRUNE_MINIMUM        20_000       less is not worth a broken cache
session.turns.compaction    MOST_IN_A_ROW        3            a conversation that does not get shorter ends
session.turns.instructions  MOST_FILES           50           files that one pattern of the settings may bring
session.turns.instructions  MOST_ENTRIES         100          entries of `instructions` that are looked at
session.turns.title         LONGEST              100          a longer title is cut
session.storage.bundle      FORMAT               1            other programs read what is exported
session.turns.loops         MOST                 8            loops of a session at once
session.typed_answer        RETRIES              1            how often an answer that does not fit is asked for again
session.turns.compaction    OUTPUT_RESERVE       32_000       tokens kept free for a reply whose limit nobody knows
session.storage.on_disk     VERSION              2            an older program must not open a newer database
session.storage.writer      PATIENCE             8.0          seconds to wait for another process that writes
models.logins.openrouter    PORT                 3000         OpenRouter sends a browser back to no other port
models.transport.endpoint   SILENCE              300.0        a provider that says nothing for so long is given up
models.transport.endpoint   SHORTEST_KEY         6            a shorter key would mask half of an error's text
models.transport.connections CONNECT             30.0         seconds to reach a provider
models.transport.fallback   PATIENCE             2            failures before the next model takes over
models.transport.fallback   AWAY                 300.0        seconds until the first is tried again
models.formats.wire         LEAST_ROOM           256          tokens left for an answer
models.formats.anthropic    MAX_OUTPUT           8192         where a model says nothing of it
mcp.client.server           CALL                 60.0         seconds for a call; a `timeout` changes it
mcp.client.client           PAGES                1000         a server cannot list for ever
mcp.client.client           ENTRIES              10_000       nor without end
mcp.client.client           ROUNDS               10           nor ask again and again
mcp.client.oauth            LARGEST              1_000_000    what a login server may answer
mcp.client.login            PORT                 19_876       where a browser comes back to if nothing else is set
mcp.client.login            PATIENCE             300.0        a login that nobody finishes ends
mcp.client.shortlist        FOUND                8            tools that a search for tools brings
mcp.client.servers          INSTRUCTIONS         2000         characters that a server may tell the model
mcp.client.tools            LONGEST_TEXT         8000         characters that a tool may tell the model
mcp.serve.http              SESSIONS             100          the oldest ends when one more begins
mcp.serve.connection        PATIENCE             600.0        seconds that a call waits for an answer to its question
server.running              PORT                 4096         clients look for a server here
http_server.guard           WRONG                20           wrong secrets of one peer in a minute
http_server.guard           AT_ONCE              64           requests of one peer side by side
server.projects             OPEN_SESSIONS        100          sessions held open
server.routes.sessions      MOST                 10_000       sessions that are looked through for a list
server.routes.messages      MOST                 100_000      messages in one answer
server.routes.files         FOUND                200          files that a search answers with
server.routes.files         LISTED               5000         files that a folder answers with
server.routes.streams       STREAMS              256          listeners at a time
server.listeners            HEARTBEAT            10.0         seconds between two signs of life on a stream
config.reading              MOST_BYTES           1_000_000    a larger file of settings is refused
config.reader               MOST_ENTRIES         20_000       as is one with more entries
config.reader               MOST_AGENT_FILES     500          files of agents and commands that are read
config.rules                MOST_RULES           5000         rules that are judged by
config.markdown             MOST_CHARACTERS      64_000       characters of the head of an agent or command
config.content              MOST_FILES           2000         files that trust is asked for
config.trust                MOST_KEPT            65_536       bytes of a trusted file that later show what has changed
definition                  MAX_NAME             64           the least that any provider allows
protocols.json_text         DEPTH                100          JSON nested deeper is refused
schema.patterns             ORDINARY             1000         a pattern is tried on no longer text
commands                    MOST_FILES           1000         files of commands that are read
skills                      MAX_FOLDERS          1000         folders that are looked through below one place
protocols.jsonrpc           AT_ONCE              256          requests of one program side by side
machine.private_files       MOST_BYTES           16_000_000   no more of a file of ours is read
machine.git_index           LARGEST              64_000_000   a larger index of git is not read
extension                   CALLING              3600.0       a tool of an extension ends then
extensions.plugins          TO_ANSWER            10.0         seconds for one hook of a plugin
extensions.shell_hooks      SECONDS              60.0         seconds for a hook; its entry may say otherwise
extensions.shell_hooks      BLOCKED              2            the exit code of the protocol that blocks
extensions.shell_moments    AGAIN              3            times that a hook may send a turn on
extensions.tool_files       MOST_FILES           500          files of tools that are read
extensions.tool_files       LARGEST              1_000_000    bytes that one may have
extensions.environments     OLDEST_NODE         20           the version that an error asks for
extensions.environments     INSTALLING          600.0        seconds that installing may take
lsp.install                 SECONDS              600.0        seconds for one step of installing
lsp.diagnostics             PER_FILE             20           errors of one file that a model sees
lsp.diagnostics             OTHERS               5            other files of which it sees any
lsp.workspace_edit          MOST                 1000         files that one renaming may change
format.registry             TIMEOUT              10_000       milliseconds that a formatter may take
web.urls                    LONGEST              4096         a longer address is refused
web.fetch                   REDIRECTS            10           more are refused
web.pages                   MAX_PAGES            64           pages that are kept
web.pages                   KEPT_FOR             900.0        seconds that a page is kept
web.shown                   PDF_PAGES            200          pages of a PDF that are shown
web.exchange                CONNECT              5.0          seconds for one address before the next is tried
permission.slips            SHORTEST             4            a shorter name that differs is another name
copies.attempts             MOST                 16           attempts at one prompt
copies.merging              MOST_CHECKS          24           runs of a check that look for the guilty file
copies.referee              SECONDS              600.0        a check that runs longer fails
copies.life                 SECONDS              600.0        as does a command of `setup`
copies.duplicate            _CLONE               0x4004_9409  the kernel's number
app.runs                    KEPT                 200          runs in the background that are remembered
server.own_runs             IDLE                 600.0        seconds after which a server that nobody uses ends
server.terminals            MOST                 32           terminals at a time
files.journal               FOLDERS_KEPT         7            days that a folder is kept which undo took away
flows.naming                LONG_ID              6            characters from which a number in a prompt names a thing
proof.doubts                LISTED               12           parts of a check that are listed one by one
cli.commands.hook_command   BLOCK                2            the exit code that blocks a call
cli.commands.merge_command  NOT_WHOLE            1            the exit code that scripts ask for
tui.terminal                STOPPED              4            the exit code of what was told to end
cli.commands.gc_command     DAYS                 90           days that a session is kept which nobody goes back to
cli.run.input               MOST                 10_000_000   more on standard input is refused
cli.commands.session_command MOST_IMPORTED        500_000_000  characters of a session that is imported
cli.commands.trust_command  NOT_TRUSTED          1            the exit code that scripts ask for
app.history                 REMEMBERED           500          prompts that the arrow keys bring back
app.history                 LARGEST              10_000       a longer one is not remembered
app.masking                 SHORTEST             4            a shorter value would mask half of a text
acp.agent                   PAGE                 50           sessions on one page of a list
tui.prompt                  PASTED_LINES         6            a longer paste is folded
tui.prompt                  PASTED_LETTERS       1000         as is one with more letters
tui.app                     TWICE                2.0          seconds in which a second key leaves
app.own                     LISTED               500          sessions that are listed
fleet.slot                  TRIES                3            workers lost in one step before the run is given up
evaluate.compare            FEWEST               6            runs below which a difference is noise
machine.sockdiag            _TCP                 6            the kernel's number
process.keeper.seccomp      FILTER_MODE          2            the kernel's number
process.keeper.system       PR_SET_NO_NEW_PRIVS  38           the kernel's number
process.keeper.system       PR_SET_CHILD_SUBREAPER 36         the kernel's number
process.keeper.system       PR_SET_PDEATHSIG     1            the kernel's number
process.keeper.system       PR_SET_DUMPABLE      4            the kernel's number
process.keeper.system       PR_SET_SECCOMP       22           the kernel's number
process.keeper.system       PR_CAPBSET_DROP      24           the kernel's number
process.keeper.confine      NEW_NAMES            0x0002_0000  the kernel's number
process.keeper.confine      NEW_IPC              0x0800_0000  the kernel's number
process.keeper.confine      NEW_USER             0x1000_0000  the kernel's number
process.keeper.confine      NEW_PROCESSES        0x2000_0000  the kernel's number
"""


@pytest.mark.parametrize("line", LIMITS.strip().splitlines())
def test_a_limit_is_what_users_were_told(line: str) -> None:
    module, name, value, _ = line.split(maxsplit=3)
    limit = getattr(import_module(f"toolwright.{module}"), name)
    assert limit == (float(value) if "." in value else int(value, 0))
