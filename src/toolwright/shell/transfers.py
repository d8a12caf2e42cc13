"""Programs that move bytes from one file to another, each with its own way of saying which is which."""

import re
from collections.abc import Mapping, Sequence

from toolwright.shell.arguments import Arguments, Effects, Handler, sort_arguments
from toolwright.shell.state import Field, literal


def copy(found: Effects, arguments: Sequence[Field]) -> None:
    """`cp`: all but the last operand are read, the last is written."""
    given = sort_arguments(arguments, "-t --target-directory -S --suffix")
    targets = given.values("-t", "--target-directory")
    sources = given.operands if targets else given.operands[:-1]
    found.touch("read", *sources)
    found.touch("write", *(targets or given.operands[-1:]))


def move(found: Effects, arguments: Sequence[Field]) -> None:
    given = sort_arguments(arguments, "-t --target-directory -S --suffix")
    targets = given.values("-t", "--target-directory")
    sources = given.operands if targets else given.operands[:-1]
    found.touch("delete", *sources)
    found.touch("write", *(targets or given.operands[-1:]))


def link(found: Effects, arguments: Sequence[Field]) -> None:
    """`ln`: what a link points to is as good as read and written through it later."""
    given = sort_arguments(arguments, "-t --target-directory -S --suffix")
    targets = given.values("-t", "--target-directory")
    sources = given.operands if targets or len(given.operands) == 1 else given.operands[:-1]
    written = targets or (given.operands[-1:] if len(given.operands) > 1 else [literal(".")])
    found.touch("read", *sources)
    found.touch("write", *written)
    for source in sources:
        for place in written:
            if source.exact and place.exact and not source.text.startswith("/"):
                found.touch("read", literal(f"{place.text}/../{source.text}"))


def install(found: Effects, arguments: Sequence[Field]) -> None:
    given = sort_arguments(
        arguments, "-m --mode -o --owner -g --group -t --target-directory -S --suffix --strip-program"
    )
    if given.has("--strip-program"):
        found.doubts.append("`install --strip-program` runs a program of its own.")
    if given.has("-d", "--directory"):
        found.touch("write", *given.operands)
        return
    targets = given.values("-t", "--target-directory")
    found.touch("read", *(given.operands if targets else given.operands[:-1]))
    found.touch("write", *(targets or given.operands[-1:]))


def rsync(found: Effects, arguments: Sequence[Field]) -> None:
    given = sort_arguments(
        arguments, "-e --rsh --exclude --include --filter -f --exclude-from --include-from --rsync-path"
    )
    if given.has("-e", "--rsh", "--rsync-path"):
        found.doubts.append("`rsync -e` runs a program of its own.")
    local = [one for one in given.operands if ":" not in one.spelled.partition("/")[0]]
    last = given.operands[-1:]
    found.touch("read", *(one for one in local if one not in last))
    written = [one for one in last if one in local]
    found.touch("write", *written)
    if any(option.startswith("--delete") for option in given.options):
        found.touch("delete", *written)
    if given.has("--remove-source-files"):
        found.touch("delete", *(one for one in local if one not in last))


def touch(found: Effects, arguments: Sequence[Field]) -> None:
    given = sort_arguments(arguments, "-d --date -t -r --reference")
    found.touch("read", *given.values("-r", "--reference"))
    found.touch("write", *given.operands)


def change_mode(found: Effects, arguments: Sequence[Field]) -> None:
    """`chmod`, `chown`, `chgrp`: the first operand says what to set, unless a file is the model."""
    modes = [one for one in arguments if re.fullmatch(r"-[rwxXst]+", one.text)]
    given = sort_arguments([one for one in arguments if one not in modes], "--from")
    found.touch("read", *given.values("--reference"))
    found.touch("write", *given.operands[0 if modes or given.has("--reference") else 1 :])


def dd(found: Effects, arguments: Sequence[Field]) -> None:
    for argument in arguments:
        head, equals, _ = argument.spelled.partition("=")
        if head not in ("if", "of") or not equals:
            continue
        value = Field(argument.spelled[3:], tuple(text[3:] for text in argument.texts), argument.known, argument.glob)
        found.touch("read" if head == "if" else "write", value)


def sort(found: Effects, arguments: Sequence[Field]) -> None:
    given = sort_arguments(
        arguments, "-o --output -k --key -t --field-separator -S -T --compress-program --files0-from"
    )
    if given.has("--compress-program"):
        found.doubts.append("`sort --compress-program` runs a program of its own.")
    found.touch("read", *given.operands, *given.values("--files0-from"))
    found.touch("write", *given.values("-o", "--output"))


def uniq(found: Effects, arguments: Sequence[Field]) -> None:
    given = sort_arguments(arguments, "-f -s -w -c -l -o -g --skip-fields --skip-chars --check-chars")
    found.touch("read", *given.operands[:1])
    found.touch("write", *given.operands[1:])


def split(found: Effects, arguments: Sequence[Field]) -> None:
    given = sort_arguments(arguments, "-a -b -C -l -n --filter --suffix-length --bytes --lines --number -t")
    found.scripts += given.values("--filter")
    found.touch("read", *given.operands[:1])
    prefix = given.operands[1:2] or [literal("x")]
    found.touch("write", *(_wider(one, "*") for one in prefix))


def compress(found: Effects, arguments: Sequence[Field]) -> None:
    """`gzip` and its like put another file in place of the one they are given."""
    given = sort_arguments(arguments, "-S --suffix -T -o")
    if given.has("-c", "--stdout", "--to-stdout", "-l", "--list", "-t", "--test"):
        found.touch("read", *given.operands)
        return
    found.touch("write", *given.operands, *given.values("-o"))
    found.touch("write", *(_wider(one, ".*") for one in given.operands))
    found.touch("write", *(_without_ending(one) for one in given.operands if one.exact))


def _wider(argument: Field, ending: str) -> Field:
    """The names that begin with the argument."""
    return Field(argument.spelled + ending, tuple(text + ending for text in argument.texts), argument.known, glob=True)


def _without_ending(argument: Field) -> Field:
    return literal(argument.text.rpartition(".")[0] or argument.text)


_TAR_RUNS = (
    *("-I", "--use-compress-program", "--to-command", "--checkpoint-action", "--info-script", "-F"),
    *("--new-volume-script", "--rsh-command"),
)


def _with_dashes(letters: str, rest: Sequence[Field]) -> list[Field]:
    """`tar xfC a.tar dir` in today's spelling: each letter that takes a value takes the next word."""
    waiting, spelled = list(rest), list[Field]()
    for letter in letters:
        spelled.append(literal(f"-{letter}"))
        if letter in "fCTXbgIF" and waiting:
            spelled.append(waiting.pop(0))
    return [*spelled, *waiting]


def tar(found: Effects, arguments: Sequence[Field]) -> None:
    if arguments and arguments[0].exact and not arguments[0].text.startswith("-"):
        arguments = _with_dashes(arguments[0].text, arguments[1:])
    given = sort_arguments(
        arguments,
        "-f --file -C --directory -T --files-from -X --exclude-from --exclude -b -g -I --use-compress-program"
        " --to-command --checkpoint-action --info-script -F --new-volume-script --rsh-command --transform",
    )
    if given.has(*_TAR_RUNS):
        found.doubts.append("`tar` is told to run a program of its own.")
    archives, folders = given.values("-f", "--file"), given.values("-C", "--directory")
    extracts, lists = given.has("-x", "--extract", "--get"), given.has("-t", "--list")
    found.touch("read" if extracts or lists else "write", *archives)
    found.touch("read", *given.values("-T", "--files-from", "-X", "--exclude-from"))
    if extracts:
        found.touch("write", *(folders or [literal(".")]))
        if given.has("-P", "--absolute-names"):
            found.doubts.append("`tar -P` writes wherever its archive says.")
    elif not lists:
        found.touch("read", *folders, *given.operands)
    if given.has("--remove-files"):
        found.touch("delete", *given.operands)


def unzip(found: Effects, arguments: Sequence[Field]) -> None:
    given = sort_arguments(arguments, "-d -x -P")
    found.touch("read", *given.operands[:1])
    if not given.has("-l", "-t", "-p", "-z", "-Z"):
        found.touch("write", *(given.values("-d") or [literal(".")]))


def zip_files(found: Effects, arguments: Sequence[Field]) -> None:
    given = sort_arguments(arguments, "-x -i -P -b -t -n -TT --unzip-command")
    if given.has("--unzip-command") or any(one.text == "-TT" for one in arguments):
        found.doubts.append("`zip -TT` runs a program of its own.")
    found.touch("write", *given.operands[:1])
    found.touch("read", *given.operands[1:])


def patch(found: Effects, arguments: Sequence[Field]) -> None:
    given = sort_arguments(arguments, "-p --strip -i --input -o --output -d --directory -D -F -B -r -V -Y -z --get -g")
    found.touch("read", *given.values("-i", "--input"), *given.operands[1:2])
    targets = (*given.operands[:1], *given.values("-o", "--output", "-r", "-d", "--directory"))
    found.touch("write", *(targets or (literal("."),)))


def grep(found: Effects, arguments: Sequence[Field]) -> None:
    """The first operand is the pattern, unless an option gives one."""
    _search(found, sort_arguments(arguments, "-e --regexp -f --file -A -B -C -m --max-count --include --exclude -d -D"))


def ripgrep(found: Effects, arguments: Sequence[Field]) -> None:
    given = sort_arguments(
        arguments,
        "-e --regexp -f --file -A -B -C -m --max-count -g --glob --iglob -t --type -T --type-not -r --replace -E -j"
        " --encoding --threads --sort --sortr --pre --pre-glob -d --max-depth --hostname-bin -M --ignore-file",
    )
    if given.has("--pre", "--hostname-bin"):
        found.doubts.append("`rg --pre` runs a program of its own.")
    _search(found, given)


def _search(found: Effects, given: Arguments) -> None:
    found.touch("read", *given.values("-f", "--file"))
    found.touch("read", *given.operands[0 if given.has("-e", "--regexp", "-f", "--file", "--files") else 1 :])


TRANSFERS: Mapping[str, Handler] = {
    "cp": copy,
    "gcp": copy,
    "mv": move,
    "ln": link,
    "link": link,
    "install": install,
    "ginstall": install,
    "rsync": rsync,
    "touch": touch,
    "chmod": change_mode,
    "chown": change_mode,
    "chgrp": change_mode,
    "dd": dd,
    "sort": sort,
    "uniq": uniq,
    "xxd": uniq,
    "split": split,
    "csplit": split,
    **dict.fromkeys(["gzip", "gunzip", "bzip2", "bunzip2", "xz", "unxz", "zstd", "unzstd", "lz4", "lzma"], compress),
    **dict.fromkeys(["tar", "gtar", "bsdtar"], tar),
    "unzip": unzip,
    "zip": zip_files,
    "patch": patch,
    **dict.fromkeys(["grep", "egrep", "fgrep", "zgrep", "ag", "ack"], grep),
    "rg": ripgrep,
}
