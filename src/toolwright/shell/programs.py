"""What programs do with the files they are given: data for the common ones, a cautious guess for the rest."""

from collections.abc import Mapping, Sequence

from toolwright.shell.arguments import Effects, Handler, names, paths_in, sort_arguments
from toolwright.shell.finder import find
from toolwright.shell.findings import Touch
from toolwright.shell.git import git
from toolwright.shell.languages import INTERPRETERS, awk, interpreter, sed
from toolwright.shell.network import NETWORK
from toolwright.shell.state import Field
from toolwright.shell.transfers import TRANSFERS


def is_listed(name: str) -> bool:
    return name in QUIET or name in PLAIN or name in INTERPRETERS or name in HANDLERS


def effects_of(name: str, arguments: Sequence[Field]) -> Effects:
    """What a call of the program `name` comes down to."""
    found = Effects()
    if name in QUIET:
        return found
    if name in PLAIN:
        kind, skip, valued = PLAIN[name]
        given = sort_arguments(arguments, valued)
        found.touch(kind, *given.operands[skip:])
        found.touch("write", *(given.values("-o", "--output") if name in ("tree", "shuf") else ()))
        return found
    if name in INTERPRETERS:
        interpreter(name, found, arguments)
        return found
    handler = HANDLERS.get(name, _guess)
    handler(found, arguments)
    touched = {text for _, argument in found.files for text in argument.texts}
    for argument in arguments:
        if argument.spelled.startswith("--"):
            found.touch("read", *(path for path in paths_in(argument) if not touched & set(path.texts)))
    return found


QUIET = names(
    "echo printf true false : pwd exit return break continue basename dirname date whoami uname hostname id"
    " groups seq sleep expr yes tr arch nproc uptime tty logname factor numfmt cal kill killall pkill pgrep ps"
    " jobs wait bg fg disown umask ulimit type which whereis hash times dirs let shift getopts getconf locale"
    " history clear reset tput export declare typeset readonly local unset set shopt alias unalias trap eval"
    " read mapfile readarray cd pushd popd test [ command builtin exec printenv free lsblk help"
)
"""Programs that touch no file they are told about, or that are dealt with elsewhere."""

PLAIN: Mapping[str, tuple[Touch, int, str]] = {
    **dict.fromkeys(
        names(
            "cat tac rev nl less more most bat batcat strings file stat md5sum sha1sum sha224sum sha256sum sha384sum"
            " sha512sum b2sum cksum sum diff cmp comm join sdiff diff3 colordiff zcat bzcat xzcat zstdcat ldd nm"
            " readelf objdump realpath readlink dir vdir lsattr getfacl exa eza lsd source . tsort ptx hexyl hexdump"
        ),
        ("read", 0, ""),
    ),
    **dict.fromkeys(["head", "tail"], ("read", 0, "-n -c --lines --bytes -s --pid")),
    "wc": ("read", 0, ""),
    "ls": ("read", 0, "-I --ignore -w -T --hide --block-size"),
    "tree": ("read", 0, "-L -I -P -o --filelimit --charset"),
    "du": ("read", 0, "-d --max-depth -t --exclude -B"),
    "df": ("read", 0, "-B -t -x"),
    "cut": ("read", 0, "-d -f -c -b --delimiter --fields --output-delimiter"),
    "paste": ("read", 0, "-d --delimiters"),
    "fold": ("read", 0, "-w --width"),
    "fmt": ("read", 0, "-w --width -p"),
    "pr": ("read", 0, "-l -w -h -o"),
    "expand": ("read", 0, "-t --tabs"),
    "unexpand": ("read", 0, "-t --tabs"),
    "column": ("read", 0, "-t -s -o -c -N"),
    "od": ("read", 0, "-A -t -j -N -w"),
    "base64": ("read", 0, "-w --wrap"),
    "base32": ("read", 0, "-w --wrap"),
    "shuf": ("read", 0, "-n -i -o --output --head-count --input-range"),
    "jq": ("read", 1, "--arg --argjson -f --from-file --indent --slurpfile --rawfile"),
    "yq": ("read", 1, ""),
    "rm": ("delete", 0, ""),
    "rmdir": ("delete", 0, ""),
    "unlink": ("delete", 0, ""),
    "shred": ("delete", 0, "-n -s --iterations --size"),
    "srm": ("delete", 0, ""),
    "trash": ("delete", 0, ""),
    "mkdir": ("write", 0, "-m --mode"),
    "mkfifo": ("write", 0, "-m --mode"),
    "mknod": ("write", 0, "-m --mode"),
    "tee": ("write", 0, ""),
    "truncate": ("write", 0, "-s --size"),
    "chattr": ("write", 1, ""),
    "fallocate": ("write", 0, "-l -o -p"),
    "mktemp": ("write", 0, "-p --tmpdir --suffix"),
}
"""For each program what it does to its operands, how many of them are no files, and which options take a value."""


def _guess(found: Effects, arguments: Sequence[Field]) -> None:
    """A program that is not known: whatever looks like a path is read, and `-o` names an output."""
    output = False
    for argument in arguments:
        if output:
            found.touch("write", argument)
        output = argument.text in ("-o", "-O", "--output", "--out", "--outfile", "--output-file")
        for path in paths_in(argument):
            found.touch("read", path)
            if argument.spelled.startswith(("--output=", "--out=", "--outfile=")):
                found.touch("write", path)


HANDLERS: Mapping[str, Handler] = {
    **TRANSFERS,
    **NETWORK,
    **dict.fromkeys(["sed", "gsed"], sed),
    **dict.fromkeys(["awk", "gawk", "mawk", "nawk"], awk),
    "find": find,
    "gfind": find,
    "git": git,
}
