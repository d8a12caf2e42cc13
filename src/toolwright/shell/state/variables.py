"""Variables that change what programs do, those the shell sets itself, and assignments to all others."""

import re

from toolwright.shell.state.findings import Contained
from toolwright.shell.state.state import Dialect, Field, ShellState, is_number, literal

_SPECIAL = re.compile(
    r"PATH|LD_\w+|DYLD_\w+|BASH\w*|ENV|GIT_\w+|IFS|PS4|PROMPT_COMMAND|SHELLOPTS|CDPATH|HOME|POSIXLY_CORRECT"
    r"|SHELL|EDITOR|VISUAL|PAGER|MANPAGER|BROWSER|LESSOPEN|LESSCLOSE|LESSKEY\w*|SSH_ASKPASS|SUDO_ASKPASS"
    r"|SUDO_EDITOR|NODE_OPTIONS|NODE_PATH|PERL5\w+|PERLLIB|RUBYOPT|RUBYLIB|PYTHONSTARTUP|PYTHONHOME|PYTHONPATH"
    r"|PYTHONWARNINGS|PYTHONINSPECT|PYTHONBREAKPOINT|\w*JAVA_\w*OPTIONS|GCONV_PATH|LOCPATH|TAR_OPTIONS"
    r"|RIPGREP_CONFIG_PATH|MAKEFLAGS|GNUMAKEFLAGS|TMPDIR|MAKEFILES|RUSTC_WRAPPER|RUSTC_WORKSPACE_WRAPPER|XDG_\w+"
    r"|INPUTRC|TMOUT|FPATH|fpath|path|cdpath|ZDOTDIR|(?i:npm_config_script_shell)|TOOLWRIGHT_\w+|OPENCODE_\w+"
    r"|CLAUDE_\w+|CODEX_\w+|FUNCNEST|GLOBIGNORE|EXECIGNORE"
)
"""Names that the shell acts on, or that a plain assignment changes for every later program because the environment has
them. For what is handed to a program on purpose, the list of the harmless below decides."""

_FOR_PROGRAMS = re.compile(
    r"(?:LD|DYLD)_LIBRARY_PATH|GIT_(?:\w*EDITOR|PAGER|SSH_COMMAND|ASKPASS|TRACE\w*)|EDITOR|VISUAL|PAGER|MANPAGER|BROWSER"
    r"|LESS\w+|NODE_\w+|PERL\w+|RUBY\w+|PYTHON\w+"
    r"|\w*JAVA_\w*OPTIONS|GCONV_PATH|LOCPATH|TAR_OPTIONS|RIPGREP_CONFIG_PATH|MAKEFLAGS|GNUMAKEFLAGS|MAKEFILES"
    r"|RUSTC_WRAPPER|RUSTC_WORKSPACE_WRAPPER|XDG_\w+"
)
"""Of these names, those that the shell itself leaves alone: they change no more than what a program does in its box."""

_ORDERS = re.compile(
    r"\w+RC|\w+_RSH|\w*MAKE\w*|\w*CONFIG\w*|\w*PATH\w*|\w*COMMAND\w*|\w*WRAPPER\w*|\w*OPT|\w*OPT(?:ION)?S|\w*FLAGS"
    r"|\w*HOME|\w*SHELL\w*|\w*EXEC\w*|\w*FILES?|\w*DIR|\w*PROGRAM\w*|\w*ASKPASS|(?i:npm_config_\w+)|PERL\w*|RUBY\w*"
    r"|PYTHON\w+|LESS\w*|JAVA\w*|LUA\w*|PHP\w*"
)
"""Names that sound like an order; for these not even a number is harmless, for it may be the name of a file."""

_HARMLESS = re.compile(
    r"CI|DEBUG|VERBOSE|TZ|LANG|LANGUAGE|LC_[A-Z]+|TERM|COLORTERM|COLUMNS|LINES|NO_COLOR|FORCE_COLOR"
    r"|CLICOLOR\w*|PORT|HOST|HOSTNAME|LOG_?LEVEL|LOGLEVEL|RUST_LOG|RUST_BACKTRACE|GOOS|GOARCH|GOARM"
    r"|CGO_ENABLED|GO111MODULE|GOMAXPROCS|GOGC|NODE_ENV|BABEL_ENV|RAILS_ENV|RACK_ENV|APP_ENV|FLASK_ENV|MIX_ENV"
    r"|ENVIRONMENT|STAGE|FLASK_APP|FLASK_DEBUG|DJANGO_SETTINGS_MODULE|PYTHONUNBUFFERED|PYTHONDONTWRITEBYTECODE"
    r"|PYTHONHASHSEED|PYTHONIOENCODING|PYTHONUTF8|PYTHONFAULTHANDLER|PYTHONASYNCIODEBUG|PYTHONOPTIMIZE"
    r"|CARGO_TERM_COLOR|CARGO_INCREMENTAL|CARGO_NET_OFFLINE|GIT_(?:AUTHOR|COMMITTER)_(?:NAME|EMAIL|DATE)"
    r"|GIT_TERMINAL_PROMPT|GIT_MERGE_AUTOEDIT|GIT_OPTIONAL_LOCKS|DOCKER_BUILDKIT|COMPOSE_PROJECT_NAME"
    r"|DEBIAN_FRONTEND|HOMEBREW_NO_\w+|DATABASE_URL|REDIS_URL|API_URL|BASE_URL|AWS_REGION|AWS_DEFAULT_REGION"
    r"|AWS_PROFILE|SKIP|SKIP_\w+|HUSKY|VERSION|SOURCE_DATE_EPOCH|OMP_NUM_THREADS"
    r"|npm_config_(?:yes|loglevel|audit|fund|progress)|NPM_CONFIG_(?:LOGLEVEL|AUDIT|FUND|PROGRESS)|PGDATABASE"
    r"|PGHOST|PGPORT|PGUSER|PWDEBUG|VITE_\w+|NEXT_PUBLIC_\w+|REACT_APP_\w+"
    r"|UV_\w*OFFLINE|PIP_NO_INPUT|PIP_DISABLE_PIP_VERSION_CHECK|TSC_\w+|JEST_WORKER_ID|TF_LOG"
    r"|TF_VAR_\w+|TF_IN_AUTOMATION|SHLVL|USER|(?:TEST|CYPRESS)_(?!\w*(?:BIN|CMD|COMMAND|EXEC|OPT|PATH|PROG|RUN|SHELL))\w+"
)
_FLAG = re.compile(r"|-?\d+(?:\.\d+)?|true|false|yes|no|on|off|True|False")
_QUIET = frozenset({"", "cat", "true", ":"})
_PROGRAM_FOLDER = (
    r"(?:/usr|/opt|/bin|/sbin|(?:\$HOME|\$\{HOME\}|~)/(?:\.local|\.cargo|\.bun|\.deno|go|\.npm-global|\.asdf"
    r"|\.volta|bin))(?:/[\w@.+-]+)*"
)
_OWN_PROGRAMS = re.compile(
    r"(?:(?:(?:\$PWD/|\$\(pwd\)/|\./)?(?:node_modules/\.bin|\.?venv/bin|vendor/bin)"
    rf"|{_PROGRAM_FOLDER}):)+\$(?:PATH|\{{PATH\}})"
)
_KNOWN_FORMS = {
    "PATH": re.compile(rf"(?:{_PROGRAM_FOLDER}:)*\$(?:PATH|\{{PATH\}})(?::{_PROGRAM_FOLDER})*"),
    "NODE_OPTIONS": re.compile(
        r"(?:--(?:max-old-space-size=\d+|no-warnings|enable-source-maps|experimental-vm-modules|trace-\w+)\s*)+"
    ),
    "MAKEFLAGS": re.compile(r"-?-?j(?:obs=)?\s*\d*|-[ks]+"),
    "RUSTFLAGS": re.compile(r"-[DWA] ?warnings"),
    "GOFLAGS": re.compile(r"(?:-(?:mod=(?:mod|vendor|readonly)|v|race|count=\d+|tags=[\w,]+)\s*)*"),
    "PYTHONWARNINGS": re.compile(r"ignore|error|default|always|module|once"),
    "LESS": re.compile(r"-?[FRXSiMeEK]+"),
    "TMPDIR": re.compile(r"/tmp(?:/[\w./-]+)?"),  # noqa: S108 - as below
    "PLAYWRIGHT_BROWSERS_PATH": re.compile(r"0|/ms-playwright"),
    "HOME": re.compile(r"/tmp/[\w./-]+"),  # noqa: S108 - a folder that a command line names
}
"""Values that are common and say nothing but what they seem to."""

_SET_BY_SHELL = re.compile(
    r"_|REPLY|OLDPWD|BASH\w*|DIRSTACK|OPTARG|OPTIND|OPTERR|RANDOM|SRANDOM|SECONDS|LINENO|EPOCH\w+|PPID|E?UID|GROUPS"
    r"|FUNCNAME|PIPESTATUS|COMP_\w+|COMPREPLY|READLINE_\w+|MAPFILE|COPROC\w*|HISTCMD|SHLVL|SHELLOPTS|HOSTNAME|HOSTTYPE"
    r"|MACHTYPE|OSTYPE|IFS|COLUMNS|LINES"
)
_SET_BY_ZSH = re.compile(
    r"\w*aliases|functions|commands|builtins|options|parameters|nameddirs|dis_\w+|argv|status|pipestatus|match"
    r"|MATCH|mbegin|mend|MBEGIN|MEND|ARGC|GID|EGID|USERNAME|TTYIDLE|LOGCHECK|zsh_\w+|ZSH_\w+|path|fpath|cdpath"
    r"|manpath|module_path|mailpath|psvar|prompt|PROMPT\w*|PS\d|NULLCMD|READNULLCMD|signals|keymaps|widgets"
    r"|history|historywords|jobstates|jobtexts|jobdirs|reswords|userdirs|usergroups|errnos|sysparams|mapfile"
    r"|terminfo|termcap|patchars|WATCH"
)
_CALCULATED = re.compile(r"S?RANDOM|SECONDS|LINENO|OPTIND|HISTCMD|BASHPID|EPOCH(?:SECONDS|REALTIME)|PPID|E?UID")
_CALCULATED_BY_ZSH = re.compile(
    r"HISTSIZE|SAVEHIST|DIRSTACKSIZE|KEYTIMEOUT|LISTMAX|LOGCHECK|MAILCHECK|ERRNO|PERIOD|TMOUT|BAUD|FUNCNEST|TTYIDLE|E?GID"
    r"|SHLVL|COLUMNS|LINES"
)
"""Numbers to the shell: what these variables are given is calculated, and a subscript in it can run commands."""
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")


def special(name: str, value: Field | None, *, source: str = "", dialect: Dialect = "bash") -> str:
    """Why setting this variable in the script needs a person's eye, or nothing."""
    if dialect == "zsh" and _SET_BY_ZSH.fullmatch(name):
        return _changes(name)
    calculated = _CALCULATED.fullmatch(name) or (dialect == "zsh" and _CALCULATED_BY_ZSH.fullmatch(name))
    if calculated and (value is None or not is_number(value)):
        return f"What `{name}` is set to is calculated, and is not known to be a number."
    if not _SPECIAL.fullmatch(name) or _is_harmless(name, value, source):
        return ""
    if name == "PATH" and _OWN_PROGRAMS.fullmatch(source.strip("\"'")):
        return Contained("Programs of the project come before those of the system.")
    return Contained(_changes(name)) if _FOR_PROGRAMS.fullmatch(name) else _changes(name)


def exported(name: str, value: Field | None, *, source: str = "", dialect: Dialect = "bash") -> str:
    """Why handing this variable to programs needs a person's eye, or nothing.

    What is not on the list of harmless names may be what some program takes its orders from; only a plain number or
    a yes or no can hardly be one.
    """
    if not _IDENTIFIER.fullmatch(name):
        return f"`{name}` is no name of a variable, and shells may read it as something else."
    if problem := special(name, value, source=source, dialect=dialect):
        return problem
    if _SPECIAL.fullmatch(name) or _is_harmless(name, value, source):
        return ""
    flag = value is not None and value.known and (value.number or all(map(_FLAG.fullmatch, value.texts)))
    return "" if flag and not _ORDERS.fullmatch(name) else Contained(_changes(name))


def _is_harmless(name: str, value: Field | None, source: str) -> bool:
    if _HARMLESS.fullmatch(name):
        return True
    form = _KNOWN_FORMS.get(name)
    spelled = source.strip("\"'") if name == "PATH" else value.text if value is not None else ""
    if form is not None and spelled and form.fullmatch(spelled):
        return ".." not in spelled
    if value is None or not value.exact:
        return False
    return name.endswith(("PAGER", "EDITOR")) and value.text in _QUIET


def _changes(name: str) -> str:
    return f"`{name}` is set, which may change what programs run or how words are read."


def assign(name: str, value: Field, state: ShellState, *, append: bool = False) -> None:
    """Give a variable its value, for what follows in the script."""
    sets_itself = _SET_BY_SHELL.fullmatch(name) or (state.dialect == "zsh" and _SET_BY_ZSH.fullmatch(name))
    if append or not value.known or sets_itself or name in state.fixed:
        state.forget(name)
    else:
        state.variables[name] = Field(
            f"${name}" if len(value.texts) > 1 or value.glob else value.spelled, *_rest(value)
        )


def split_assignment(text: str) -> tuple[str, Field]:
    """The name and value in a word such as `A=b` that a program is given."""
    name, _, value = text.partition("=")
    return name, literal(value)


def _rest(value: Field) -> tuple[tuple[str, ...], bool, bool, bool]:
    return value.texts, value.known, value.glob, value.number
