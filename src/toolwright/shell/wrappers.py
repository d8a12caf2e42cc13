"""Programs whose work is to run another program: how to find that one among their arguments."""

from collections.abc import Mapping, Sequence
from dataclasses import field

from toolwright.record import record
from toolwright.shell.arguments import names, split_option
from toolwright.shell.state import Field, literal


@record(frozen=True, slots=True)
class Wrapper:
    """Where the inner command begins: after options, perhaps assignments, and `skip` further words."""

    valued: frozenset[str] = frozenset()
    """Options whose value is the next word."""
    skip: int = 0
    assigns: bool = False
    scripts: frozenset[str] = frozenset()
    """Options whose value is a script for a shell."""
    folders: frozenset[str] = frozenset()
    """Options whose value is the folder to run in."""
    silent: frozenset[str] = frozenset()
    """Options with which nothing is run."""
    opens: frozenset[str] = frozenset()
    """Options with which a shell is started that reads its commands from elsewhere."""
    writes: frozenset[str] = frozenset()
    """Options whose value is a file that is written."""
    skips_file: bool = False
    """Whether the words that are skipped are files, which are written."""
    joins: bool = False
    """Whether the words are put together and given to a shell."""
    each: bool = False
    """Whether every word is a script of its own."""


def _wrapper(valued: str = "", skip: int = 0, *flags: str, **sets: str) -> Wrapper:
    """A wrapper from lists kept as text; `flags` are the names of what is true of it."""
    named = {name: names(value) for name, value in sets.items()}
    return Wrapper(
        valued=names(valued),
        skip=skip,
        assigns="assigns" in flags,
        joins="joins" in flags,
        each="each" in flags,
        skips_file="skips_file" in flags,
        **named,
    )


WRAPPERS: Mapping[str, Wrapper] = {
    "env": _wrapper("-u --unset", 0, "assigns", scripts="-S --split-string", folders="-C --chdir"),
    "command": _wrapper(silent="-v -V"),
    "builtin": _wrapper(),
    "exec": _wrapper("-a"),
    "coproc": _wrapper(),
    "nohup": _wrapper(),
    "noglob": _wrapper(),
    "nocorrect": _wrapper(),
    "repeat": _wrapper(skip=1),
    "time": _wrapper("-f --format", 0, "assigns", writes="-o --output"),
    "timeout": _wrapper("-k --kill-after -s --signal", skip=1),
    "gtimeout": _wrapper("-k --kill-after -s --signal", skip=1),
    "nice": _wrapper("-n --adjustment"),
    "ionice": _wrapper("-c --class -n --classdata", silent="-p --pid"),
    "chrt": _wrapper("-T -P -D", skip=1, silent="-p --pid"),
    "taskset": _wrapper(skip=1, silent="-p --pid"),
    "setsid": _wrapper(),
    "stdbuf": _wrapper("-i --input -o --output -e --error"),
    "unbuffer": _wrapper(),
    "caffeinate": _wrapper("-t -w"),
    "sudo": _wrapper(
        "-u --user -g --group -h --host -p --prompt -C -r --role -t --type -T -U -R --chroot",
        0,
        "assigns",
        folders="-D --chdir",
        silent="-l --list -v --validate -k -K",
        opens="-s --shell -i --login -e --edit",
    ),
    "doas": _wrapper("-u -C", 0, "assigns", opens="-s"),
    "pkexec": _wrapper("--user"),
    "runuser": _wrapper("-u --user -g --group -G -s --shell", scripts="-c --command"),
    "su": _wrapper("-g --group -G -s --shell -w", skip=9, scripts="-c --command", opens="-"),
    "sg": _wrapper(skip=9, scripts="-c"),
    "setpriv": _wrapper("--reuid --regid --groups --inh-caps --bounding-set --ambient-caps --securebits --pdeathsig"),
    "chroot": _wrapper("--userspec --groups", skip=1),
    "unshare": _wrapper("-S -G --setuid --setgid -R --root", folders="-w --wd"),
    "nsenter": _wrapper("-t --target -S -G", folders="-w --wd"),
    "strace": _wrapper("-e -p -s -u -E -a -b -I -O -S -P -X", writes="-o"),
    "ltrace": _wrapper("-e -p -s -u -a -l -n", writes="-o"),
    "valgrind": _wrapper(),
    "perf": _wrapper("-e --event -F -c", skip=1, writes="-o --output"),
    "xvfb-run": _wrapper("-n -s -e -f -p -w"),
    "dbus-run-session": _wrapper("--config-file"),
    "ssh-agent": _wrapper("-a -t -P -E"),
    "rlwrap": _wrapper("-f -H -p -s"),
    "script": _wrapper("-o -E", 1, "skips_file", scripts="-c --command", writes="-t -T -I -O -B"),
    "flock": _wrapper("-w --timeout -E", 1, "skips_file", scripts="-c --command"),
    "busybox": _wrapper(silent="--list --help"),
    "toybox": _wrapper(),
    "xargs": _wrapper("-a --arg-file -d --delimiter -E -I -L --max-lines -n --max-args -P --max-procs -s --max-chars"),
    "parallel": _wrapper("-j --jobs -a --arg-file -S --colsep --delay --results --joblog --tmpdir -N -n", 0, "joins"),
    "watch": _wrapper("-n --interval -q --equexit", 0, "joins"),
    "entr": _wrapper(scripts="-s"),
    "hyperfine": _wrapper("-w --warmup -r --runs -m --min-runs -M -N -u", 0, "each", scripts="-p --prepare -c"),
    "npx": _wrapper("-p --package", scripts="-c --call"),
    "bunx": _wrapper("-p --package"),
    "pnpx": _wrapper("--package"),
    "uvx": _wrapper("--from --with -p --python --index"),
    "pipx": _wrapper("--spec --python", skip=1),
    "direnv": _wrapper(skip=2),
    "eatmydata": _wrapper(),
    "torsocks": _wrapper(),
    "proxychains": _wrapper("-f"),
}

RUNNERS: Mapping[tuple[str, str], Wrapper] = {
    ("uv", "run"): _wrapper("--with --extra --group --python -p --env-file --package --index", folders="--directory"),
    ("uv", "tool"): _wrapper("--from --with -p --python", skip=1),
    ("poetry", "run"): _wrapper(),
    ("pipenv", "run"): _wrapper(),
    ("pdm", "run"): _wrapper(),
    ("hatch", "run"): _wrapper(),
    ("rye", "run"): _wrapper(),
    ("bundle", "exec"): _wrapper(),
    ("npm", "exec"): _wrapper("-p --package", scripts="-c --call"),
    ("npm", "x"): _wrapper("-p --package", scripts="-c --call"),
    ("pnpm", "exec"): _wrapper(),
    ("pnpm", "dlx"): _wrapper("--package"),
    ("yarn", "exec"): _wrapper(),
    ("yarn", "dlx"): _wrapper("-p --package"),
    ("bun", "x"): _wrapper(),
    ("mise", "exec"): _wrapper(),
    ("asdf", "exec"): _wrapper(),
    ("conda", "run"): _wrapper("-n --name -p --prefix", folders="--cwd"),
    ("nix", "run"): _wrapper(),
}
"""Programs that run another one when given a certain first word."""


@record(slots=True)
class Unwrapped:
    """What a wrapper would run."""

    argv: list[Field] = field(default_factory=list[Field])
    scripts: list[Field] = field(default_factory=list[Field])
    assigned: list[Field] = field(default_factory=list[Field])
    folder: Field | None = None
    options: dict[str, Field] = field(default_factory=dict[str, Field])
    """The options given, with their values."""
    written: list[Field] = field(default_factory=list[Field])
    doubt: str = ""


def unwrap(name: str, argv: Sequence[Field]) -> Unwrapped | None:
    """What `argv` runs in turn; None if its program is not one that does."""
    second = argv[1].text if len(argv) > 1 else ""
    if (name, second) in RUNNERS:
        return _unwrapped(RUNNERS[name, second], argv[2:])
    if name in WRAPPERS:
        return _unwrapped(WRAPPERS[name], argv[1:])
    return None


def _unwrapped(wrapper: Wrapper, arguments: Sequence[Field]) -> Unwrapped:
    found, skip, position = Unwrapped(), wrapper.skip, 0
    while position < len(arguments):
        argument = arguments[position]
        text = argument.text
        if not argument.exact:
            found.doubt = f"`{argument.spelled}` may decide which command is run, and is only known when it runs."
            break
        if text in wrapper.opens:
            found.doubt = f"`{text}` starts a shell whose commands cannot be seen."
        elif text == "--":
            position += 1
            break
        elif text.startswith("-") and len(text) > 1:
            position += _take_option(wrapper, found, text, arguments[position + 1 : position + 2])
        elif wrapper.assigns and "=" in text[1:]:
            found.assigned.append(argument)
        elif skip:
            skip -= 1
            found.written += [argument] if wrapper.skips_file else []
        else:
            break
        position += 1
    if any(option in wrapper.silent for option in found.options):
        return Unwrapped()
    rest = list(arguments[position:])[skip:]
    if wrapper.joins and rest:
        found.scripts.append(_joined(rest))
    elif wrapper.each:
        found.scripts += rest
    else:
        found.argv = rest
    return found


def _take_option(wrapper: Wrapper, found: Unwrapped, text: str, following: Sequence[Field]) -> int:
    """Note what an option means; how many words it takes beyond itself."""
    takes = wrapper.valued | wrapper.scripts | wrapper.folders | wrapper.writes
    name, value, glued = split_option(text, takes)
    found.options[name or text] = literal("")
    if not name:
        return 0
    given = literal(value) if glued else following[0] if following else literal("")
    found.options[name] = given
    if name in wrapper.scripts:
        found.scripts.append(given)
    elif name in wrapper.folders:
        found.folder = given
    elif name in wrapper.writes:
        found.written.append(given)
    return 0 if glued else 1


def _joined(arguments: Sequence[Field]) -> Field:
    text = " ".join(one.spelled for one in arguments)
    return Field(text, (text,), known=all(one.exact for one in arguments))
