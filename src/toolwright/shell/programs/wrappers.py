"""Programs whose work is to run another program: how to find that one among their arguments."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import field

from toolwright.record import record
from toolwright.shell.programs.arguments import names, split_option
from toolwright.shell.state.findings import Contained
from toolwright.shell.state.state import Field, literal


@record(frozen=True, slots=True)
class Wrapper:
    """The form of a wrapper: its options, perhaps assignments, and `skip` further words before the inner command."""

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
    """True if the words that are skipped are files, which are written."""
    joins: bool = False
    """True if the words are put together and given to a shell."""
    each: bool = False
    """True if every word is a script of its own."""
    reads: frozenset[str] = frozenset()
    """Options whose value is a file that is read."""
    sets: frozenset[str] = frozenset()
    """Options whose value is an assignment for the environment."""
    flags: frozenset[str] = frozenset()
    """Further options that only change how the inner command is run."""


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


_TIMEOUT = "-v -f -p --foreground --preserve-status --verbose"
_XARGS = "-0 -r -t -p -x -o --null --no-run-if-empty --verbose --interactive --exit --open-tty -i -l -e -J"
_NPX = "-y -n -q -s --yes --no --no-install --quiet --silent --prefer-offline --offline --no-audit --ignore-existing -w"
_UV = (
    "-q -v --quiet --verbose --no-sync --frozen --locked --isolated --offline --all-extras --all-groups"
    " --no-dev --dev --only-dev --active --no-project --no-config --exact --no-cache --refresh -m --module -s"
    " --script --no-editable --no-env-file"
)

WRAPPERS: Mapping[str, Wrapper] = {
    "env": _wrapper(
        "-u --unset",
        0,
        "assigns",
        scripts="-S --split-string",
        folders="-C --chdir",
        flags="-0 -v --null --debug",
        silent="--version --help",
    ),
    "command": _wrapper(silent="-v -V", flags="-p"),
    "builtin": _wrapper(),
    "exec": _wrapper("-a", flags="-l"),
    "coproc": _wrapper(),
    "nohup": _wrapper(silent="--version --help"),
    "noglob": _wrapper(),
    "nocorrect": _wrapper(),
    "repeat": _wrapper(skip=1),
    "time": _wrapper("-f --format", 0, "assigns", writes="-o --output", flags="-p -v -a -l -h --append --verbose"),
    "timeout": _wrapper("-k --kill-after -s --signal", skip=1, flags=_TIMEOUT),
    "gtimeout": _wrapper("-k --kill-after -s --signal", skip=1, flags=_TIMEOUT),
    "nice": _wrapper("-n --adjustment", flags="-#"),
    "ionice": _wrapper("-c --class -n --classdata", silent="-p --pid", flags="-t --ignore -#"),
    "chrt": _wrapper("-T -P -D", skip=1, silent="-p --pid", flags="-a -b -f -i -m -o -r -v -R -d"),
    "taskset": _wrapper(skip=1, silent="-p --pid", flags="-a -c --cpu-list"),
    "prlimit": _wrapper(flags="-v --raw --noheadings -n -u -m -s -t -d -f -l -c -e -i -q -r -x -y", silent="--pid -p"),
    **dict.fromkeys(
        ["setarch", "linux32", "linux64", "i386", "i686", "x86_64", "uname26"],
        _wrapper(flags="-R -v -B -F -I -L -S -T -X -Z -3 --addr-no-randomize"),
    ),
    "choom": _wrapper("-n --adjust", silent="-p --pid"),
    "ifne": _wrapper(flags="-n"),
    "pee": _wrapper("", 0, "each"),
    "sem": _wrapper("-j --jobs --id", 0, "joins", flags="--fg --bg --wait -u"),
    "chronic": _wrapper(flags="-v -e"),
    "mispipe": _wrapper("", 0, "each"),
    "gpg-agent": _wrapper("--homedir --options --default-cache-ttl", flags="--daemon --server --quiet --sh --csh"),
    "dbus-launch": _wrapper("--sh-syntax", flags="--exit-with-session"),
    "systemd-inhibit": _wrapper("--what --who --why --mode"),
    "faketime": _wrapper("-f", skip=1),
    "cpulimit": _wrapper("-l -p -e", flags="-f -z -i -v --"),
    "numactl": _wrapper("-C -N -m -p"),
    "catchsegv": _wrapper(),
    "trickle": _wrapper("-u -d -w -t -l -n", flags="-s -v"),
    "with-contenv": _wrapper(),
    "dotenv": _wrapper("-e -f -p -c", flags="--override --no-override -o", skip=0),
    "cross-env": _wrapper("", 0, "assigns"),
    "dumb-init": _wrapper(flags="-v -c"),
    "tini": _wrapper(flags="-s -v -g"),
    "gosu": _wrapper(skip=1),
    "su-exec": _wrapper(skip=1),
    "fakeroot": _wrapper("-l -s -i -b"),
    "proot": _wrapper("-r -b -w -q"),
    "sshpass": _wrapper("-p -f -d -P", flags="-e"),
    "execline": _wrapper(),
    "setsid": _wrapper(flags="-c -f -w --ctty --fork --wait"),
    "stdbuf": _wrapper("-i --input -o --output -e --error"),
    "unbuffer": _wrapper(flags="-p"),
    "caffeinate": _wrapper("-t -w", flags="-d -i -m -s -u"),
    "sudo": _wrapper(
        "-u --user -g --group -h --host -p --prompt -C -r --role -t --type -T -U -R --chroot",
        0,
        "assigns",
        folders="-D --chdir",
        silent="-l --list -v --validate -K",
        flags="-A -b -B -E -H -i -k -n -N -P -S --askpass --background --preserve-env --set-home --non-interactive"
        " --stdin",
        opens="-s --shell -i --login -e --edit",
    ),
    "doas": _wrapper("-u -C", 0, "assigns", opens="-s", flags="-n -L"),
    "pkexec": _wrapper("--user"),
    "runuser": _wrapper("-u --user -g --group -G -s --shell", scripts="-c --command"),
    "su": _wrapper("-g --group -G -s --shell -w", skip=9, scripts="-c --command", opens="-"),
    "sg": _wrapper(skip=9, scripts="-c"),
    "setpriv": _wrapper(
        flags="--no-new-privs --clear-groups --init-groups --keep-groups",
        valued="--reuid --regid --groups --inh-caps --bounding-set --ambient-caps --securebits --pdeathsig",
    ),
    "chroot": _wrapper("--userspec --groups", skip=1),
    "unshare": _wrapper("-S -G --setuid --setgid -R --root", folders="-w --wd"),
    "nsenter": _wrapper("-t --target -S -G", folders="-w --wd"),
    "strace": _wrapper(
        "-e -p -s -u -a -b -I -O -S -P -X --trace --string-limit",
        sets="-E --env",
        writes="-o --output",
        flags="-f -ff -c -C -d -i -k -n -q -qq -r -t -tt -ttt -T -v -V -w -x -xx -y -yy -z -Z --follow-forks"
        " --seccomp-bpf -D -A -h",
    ),
    "ltrace": _wrapper("-e -p -s -u -a -l -n", writes="-o", flags="-f -c -C -i -r -S -t -tt -T"),
    "valgrind": _wrapper(
        flags="--leak-check --error-exitcode --show-leak-kinds --track-origins --tool --num-callers --trace-children"
        " -q -v --quiet --verbose --errors-for-leak-kinds --show-reachable --undef-value-errors"
    ),
    "perf": _wrapper("-e --event -F -c", skip=1, writes="-o --output"),
    "xvfb-run": _wrapper("-n -s -e -f -p -w", flags="-a -l --auto-servernum -d"),
    "dbus-run-session": _wrapper("--config-file"),
    "ssh-agent": _wrapper("-a -t -P -E"),
    "rlwrap": _wrapper("-f -H -p -s"),
    "script": _wrapper(
        "-o -E",
        1,
        "skips_file",
        scripts="-c --command",
        writes="-t -T -I -O -B",
        flags="-a -e -f -q -r -k --quiet --return --flush",
    ),
    "flock": _wrapper(
        "-w --timeout -E --wait",
        1,
        "skips_file",
        scripts="-c --command",
        flags="-e -n -o -s -u -x -F -v --nonblock --exclusive --shared",
    ),
    "busybox": _wrapper(silent="--list --help --install"),
    "toybox": _wrapper(),
    "xargs": _wrapper(
        flags=_XARGS,
        reads="-a --arg-file",
        valued="-d --delimiter -E -I -L --max-lines -n --max-args -P --max-procs -s --max-chars --replace --eof"
        " --process-slot-var",
    ),
    "parallel": _wrapper(
        "-j --jobs -S --colsep --delay --results --joblog --tmpdir -N -n", 0, "joins", reads="-a --arg-file"
    ),
    "watch": _wrapper(
        "-n --interval -q --equexit",
        0,
        "joins",
        flags="-b -c -C -d -e -g -p -r -t -w -x --no-title --color --differences",
    ),
    "entr": _wrapper(scripts="-s", flags="-a -c -d -n -p -r -z"),
    "hyperfine": _wrapper("-w --warmup -r --runs -m --min-runs -M -N -u", 0, "each", scripts="-p --prepare -c"),
    "npx": _wrapper("-p --package", scripts="-c --call", flags=_NPX),
    "bunx": _wrapper("-p --package", flags="--bun --silent -y"),
    "pnpx": _wrapper("--package"),
    "uvx": _wrapper("--from --with -p --python --index", flags=_UV),
    "pipx": _wrapper("--spec --python", skip=1),
    "direnv": _wrapper(skip=2),
    "eatmydata": _wrapper(),
    "torsocks": _wrapper(),
    "proxychains": _wrapper("-f"),
}

RUNNERS: Mapping[tuple[str, str], Wrapper] = {
    ("uv", "run"): _wrapper(
        "--with --extra --group --python -p --env-file --package --index --project --with-requirements"
        " --with-editable --no-group",
        folders="--directory",
        flags=_UV,
    ),
    ("uv", "tool"): _wrapper("--from --with -p --python", skip=1),
    ("poetry", "run"): _wrapper(),
    ("pipenv", "run"): _wrapper(),
    ("pdm", "run"): _wrapper(),
    ("hatch", "run"): _wrapper(),
    ("rye", "run"): _wrapper(),
    ("bundle", "exec"): _wrapper(),
    ("npm", "exec"): _wrapper("-p --package", scripts="-c --call", flags=_NPX),
    ("npm", "x"): _wrapper("-p --package", scripts="-c --call", flags=_NPX),
    ("pnpm", "exec"): _wrapper(),
    ("pnpm", "dlx"): _wrapper("--package"),
    ("yarn", "exec"): _wrapper(),
    ("yarn", "dlx"): _wrapper("-p --package"),
    ("bun", "x"): _wrapper(),
    ("mise", "exec"): _wrapper(),
    ("asdf", "exec"): _wrapper(),
    ("conda", "run"): _wrapper("-n --name -p --prefix", folders="--cwd", flags="--no-capture-output --live-stream -v"),
    ("nix", "run"): _wrapper(),
}
"""Programs that run another one when given a certain first word."""


@record(slots=True)
class Unwrapped:
    """Commands and files of a wrapper's call."""

    argv: list[Field] = field(default_factory=list[Field])
    scripts: list[Field] = field(default_factory=list[Field])
    assigned: list[Field] = field(default_factory=list[Field])
    folder: Field | None = None
    options: dict[str, Field] = field(default_factory=dict[str, Field])
    """The options given, with their values."""
    written: list[Field] = field(default_factory=list[Field])
    read: list[Field] = field(default_factory=list[Field])
    unknown: list[Contained] = field(default_factory=list[Contained])
    """Options that are in no list."""
    doubt: str = ""


def unwrap(name: str, argv: Sequence[Field]) -> Unwrapped | None:
    """Return what `argv` runs in turn; None if its program is not one that does."""
    if name in WRAPPERS:
        return _unwrapped(name, WRAPPERS[name], argv[1:])
    if name not in _RUNNING:
        return None
    for position, argument in enumerate(argv[1:_BEFORE], 1):
        if (name, argument.text) in RUNNERS:
            return _unwrapped(name, RUNNERS[name, argument.text], argv[position + 1 :])
        if position == 1 and not argument.text.startswith("-"):
            return None
    return None


_RUNNING = frozenset(name for name, _ in RUNNERS)
_BEFORE = 8
"""Among how many words the one is looked for that makes a program run another."""


def _unwrapped(name: str, wrapper: Wrapper, arguments: Sequence[Field]) -> Unwrapped:
    inner, skip, position = Unwrapped(), wrapper.skip, 0
    while position < len(arguments):
        argument = arguments[position]
        text = argument.text
        if not argument.exact:
            inner.doubt = f"`{argument.spelled}` may decide which command is run, and is only known when it runs."
            break
        if text in wrapper.opens:
            inner.doubt = f"`{text}` starts a shell whose commands cannot be seen."
        elif text == "--":
            position += 1
            break
        elif text.startswith("-") and (len(text) > 1 or name == "env"):
            position += _take_option(name, wrapper, inner, text, arguments[position + 1 : position + 2])
            if name == "env" and inner.scripts and inner.scripts[0].exact and not inner.doubt:
                # its words stand where the option stood, before whatever follows
                words = [literal(word) for word in inner.scripts.pop().text.split()]
                arguments = [*arguments[: position + 1], *words, *arguments[position + 1 :]]
        elif wrapper.assigns and "=" in text[1:]:
            inner.assigned.append(argument)
        elif skip:
            skip -= 1
            inner.written += [argument] if wrapper.skips_file else []
        else:
            break
        position += 1
    if any(option in wrapper.silent for option in inner.options):
        return Unwrapped()
    rest = list(arguments[position:])[skip:]
    if name in ("parallel", "sem"):
        _each_of(inner, rest)
    elif wrapper.joins and rest:
        inner.scripts.append(_joined(rest))
    elif wrapper.each:
        inner.scripts += rest
    else:
        inner.argv = rest
    if name in _CHANGES_USER and any(one.spelled.rpartition("/")[2] == "git" for one in rest[:1]):
        inner.unknown.append(Contained(f"`{name}` takes away what keeps git from showing what may not be read."))
    return inner


def _each_of(inner: Unwrapped, rest: Sequence[Field]) -> None:
    """`parallel command ::: a b`: the command with each of the words after it, where they are put in a plain way."""
    texts = [one.text for one in rest]
    end = texts.index(":::") if ":::" in texts else len(rest)
    command, values = rest[:end], rest[end + 1 :]
    text = " ".join(one.spelled for one in command)
    plain = not _MARKS.search(text.replace("{}", "")) and not any(_SOURCES.match(one.spelled) for one in values)
    if end == len(rest) or not plain or not all(one.exact for one in rest):
        inner.doubt = "`parallel` runs commands with words that are only known when it runs."
        inner.scripts += [_joined(rest)] if rest else []
        return
    for value in values:
        inner.scripts.append(
            literal(text.replace("{}", value.text) if "{}" in text else f"{text} {value.text}".strip())
        )


_MARKS = re.compile(r"\{.*\}")
_SOURCES = re.compile(r":::|::::")

_CHANGES_USER = frozenset({"sudo", "doas", "su", "runuser", "pkexec", "setpriv"})
"""They give a program another environment."""


def _take_option(program: str, wrapper: Wrapper, inner: Unwrapped, text: str, following: Sequence[Field]) -> int:
    """Note what an option means; how many words it takes beyond itself."""
    takes = wrapper.valued | wrapper.scripts | wrapper.folders | wrapper.writes | wrapper.sets | wrapper.reads
    name, value, glued = split_option(text, takes)
    inner.options[name or text] = literal("")
    if not _is_known(wrapper, text, name):
        inner.unknown.append(Contained(f"`{text}` is not among the options of `{program}` known to be harmless."))
    if not name:
        return 0
    option_value = literal(value) if glued else following[0] if following else literal("")
    inner.options[name] = option_value
    if name in wrapper.scripts:
        inner.scripts.append(option_value)
    elif name in wrapper.folders:
        inner.folder = option_value
    elif name in wrapper.writes:
        inner.written.append(option_value)
    elif name in wrapper.reads:
        inner.read.append(option_value)
    elif name in wrapper.sets:
        inner.assigned.append(option_value)
    if program == "env" and name in ("-u", "--unset") and not _PLAIN_VARIABLE.fullmatch(option_value.spelled):
        inner.unknown.append(
            Contained(f"`{option_value.spelled}` may be what keeps git from showing what may not be read.")
        )
    if program == "env" and name in wrapper.scripts and not _PLAIN_WORDS.fullmatch(option_value.spelled):
        inner.doubt = f"`env {name}` reads `{option_value.spelled}` by rules of its own."
    return 0 if glued else 1


_PLAIN_VARIABLE = re.compile(r"(?!GIT_|TOOLWRIGHT_)\w+")
_PLAIN_WORDS = re.compile(r"[\w ./:=@%+,-]*")


def _is_known(wrapper: Wrapper, text: str, name: str) -> bool:
    """Tell whether every option in a word is in the lists; `name` is the one of them that takes a value."""
    known = wrapper.flags | wrapper.silent
    if text in known or text.partition("=")[0] in known | {name} or ("-#" in known and text[1:].isdecimal()):
        return True
    if text == "-" or text.startswith("--"):
        return bool(name)
    letters = text[1 : text.index(name[1], 1)] if name and not name.startswith("--") else "" if name else text[1:]
    return all(f"-{letter}" in known for letter in letters)


def _joined(arguments: Sequence[Field]) -> Field:
    text = " ".join(one.spelled for one in arguments)
    return Field(text, (text,), known=all(one.exact for one in arguments))
