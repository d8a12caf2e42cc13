"""Programs that move bytes from one file to another, each with its own way of saying which is which."""

import posixpath
import re
from collections.abc import Mapping, Sequence

from toolwright.shell.programs.arguments import (
    Arguments,
    Effects,
    Handler,
    after_start,
    at_end,
    at_start,
    before_end,
    is_one,
    wider,
)
from toolwright.shell.programs.options import take_options
from toolwright.shell.state.findings import Contained
from toolwright.shell.state.state import Field, literal

_COPY = (
    "-a -b -c -d -f -H -i -l -L -n -N -p -P -r -R -s -S: -t: -T -u -v -x -X -Z --archive --attributes-only"
    " --backup? --debug --context? --copy-contents --dereference --force --interactive --link --no-clobber"
    " --no-dereference --no-preserve: --no-target-directory --one-file-system --parents --preserve?"
    " --recursive --reflink? --remove-destination --sparse: --strip-trailing-slashes --suffix:"
    " --symbolic-link --target-directory: --update? --verbose"
)
_MOVE = (
    "-b -f -h -i -n -S: -t: -T -u -v -Z --backup? --context --debug --exchange --force --interactive"
    " --no-clobber --no-copy --no-target-directory --strip-trailing-slashes --suffix: --target-directory:"
    " --update? --verbose"
)
_LINK = (
    "-b -d -f -F -h -i -L -n -P -r -s -S: -t: -T -v --backup? --directory --force --interactive --logical --physical"
    " --no-dereference --no-target-directory --relative --suffix: --symbolic --target-directory: --verbose"
)
_INSTALL = (
    "-b -c -C -d -D -g: -m: -M -o: -p -s -S: -t: -T -v -Z --backup? --compare --context? --directory --group: --mode:"
    " --no-target-directory --owner: --preserve-context --preserve-timestamps --strip --strip-program! --suffix:"
    " --target-directory: --verbose"
)
_RSYNC = (
    "-0 -4 -6 -8 -a -A -b -c -C -d -D -E -f: -F -g -h -H -i -I -k -K -l -L -m -n -N -o -O -p -P -q -r -R -s"
    " -S -t -u -U -v -W -x -X -y -z -e! --rsh! --rsync-path! -M! --remote-option! --archive --recursive"
    " --verbose --compress --delete --delete-after --delete-before --delete-during --delete-excluded"
    " --dry-run --exclude: --exclude-from< --include: --include-from< --filter: --files-from< --force"
    " --human-readable --ignore-existing --inplace --itemize-changes --links --no-owner --no-group --no-perms"
    " --no-times --partial --perms --progress --remove-source-files --size-only --stats --times --update"
    " --checksum --relative --bwlimit: --max-size: --min-size: --mkpath --info: --out-format: --backup"
    " --backup-dir> --suffix: --log-file> --link-dest< --compare-dest< --copy-links --chmod: --timeout:"
)
_FILTER = re.compile(r"[-+HSPR][!/sx]? .*|(?:exclude|include|hide|show|protect|risk) .*|(?::-|dir-merge,-) \.\w+")
_TOUCH = "-a -A: -c -d: -f -h -m -r< -t: --date: --no-create --no-dereference --reference< --time:"


def _copies(effects: Effects, parsed: Arguments) -> tuple[list[Field], list[Field]]:
    """Return what is copied and where to; a folder as the target gets each of them under its own name."""
    targets = parsed.values("-t", "--target-directory")
    sources = parsed.operands if targets else before_end(parsed.operands)
    written = targets or at_end(parsed.operands)
    effects.touch("write", *written)
    for target in written:
        for source in sources:
            effects.touch("into", _named_in(target, source))
    return sources, written


def _named_in(target: Field, source: Field) -> Field:
    """The path a file gets in a folder; `dir/.` and wildcards stand for names that are not told here."""
    names = [text.rstrip("/").rpartition("/")[2] for text in source.texts]
    names = ["*" if name in (".", "..", "") else name for name in names]
    texts = tuple(f"{folder}/{name}" for folder in target.texts for name in names)
    wild = source.glob or target.glob or "*" in names
    return Field(f"{target.spelled}/…", texts[:MOST], source.known and target.known and len(texts) <= MOST, glob=wild)


MOST = 256
"""The most names made by a copy that are followed."""


def copy(effects: Effects, arguments: Sequence[Field]) -> None:
    """`cp`: all but the last operand are read, the last is written."""
    parsed = take_options(effects, "cp", arguments, _COPY)
    sources, written = _copies(effects, parsed)
    whole = parsed.has("-r", "-R", "-a", "--recursive", "--archive")
    effects.touch("take" if whole else "read", *sources)
    if whole:
        effects.touch("within", *written)


def move(effects: Effects, arguments: Sequence[Field]) -> None:
    parsed = take_options(effects, "mv", arguments, _MOVE)
    sources, _ = _copies(effects, parsed)
    effects.touch("delete", *sources)
    effects.touch("carry", *sources)


def link(effects: Effects, arguments: Sequence[Field]) -> None:
    """`ln`: what a link points to is as good as read and written through it later."""
    parsed = take_options(effects, "ln", arguments, _LINK)
    targets = parsed.values("-t", "--target-directory")
    alone = sum(map(is_one, parsed.operands)) < 2
    sources = parsed.operands if targets or alone else before_end(parsed.operands)
    several = len(parsed.operands) > 1 or not all(map(is_one, parsed.operands))
    written = targets or [*(at_end(parsed.operands) if several else ()), *([literal(".")] if alone else ())]
    # what a symbolic link says is read from the folder that it lies in
    afar = parsed.has("-s", "--symbolic") and not parsed.has("-r", "--relative") and all(one.exact for one in written)
    effects.touch("read", *(one for one in sources if not (afar and one.exact and not one.text.startswith("/"))))
    effects.touch("write", *written)
    for source in sources:
        for place in written:
            effects.touch("into", _named_in(place, source))
            effects.links.append((place, source))
            if source.exact and place.exact and not source.text.startswith("/"):
                folder = place.text if place.text in (".", "..") else posixpath.dirname(place.text)
                effects.touch("read", literal(posixpath.join(folder, source.text)))


def install(effects: Effects, arguments: Sequence[Field]) -> None:
    parsed = take_options(effects, "install", arguments, _INSTALL)
    if parsed.has("-d", "--directory"):
        effects.touch("write", *parsed.operands)
        return
    sources, _ = _copies(effects, parsed)
    effects.touch("read", *sources)


def rsync(effects: Effects, arguments: Sequence[Field]) -> None:
    parsed = take_options(effects, "rsync", arguments, _RSYNC)
    for value in parsed.values("-f", "--filter"):
        if not value.exact or not _FILTER.fullmatch(value.text):
            effects.doubts.append(
                Contained(f"`{value.spelled}` may be a file with rules, which are shown if they are none.")
            )
    local = [one for one in parsed.operands if ":" not in one.spelled.partition("/")[0]]
    sources = [one for one in before_end(parsed.operands) if one in local]
    effects.touch("take", *sources)
    written = [one for one in at_end(parsed.operands) if one in local]
    effects.touch("write", *written)
    effects.touch("within", *written)
    if any(option.startswith("--delete") for option in parsed.options):
        effects.remove(*written)
    if parsed.has("--remove-source-files"):
        effects.remove(*sources)


def touch(effects: Effects, arguments: Sequence[Field]) -> None:
    parsed = take_options(effects, "touch", arguments, _TOUCH)
    effects.touch("write", *parsed.operands)


_MODE = (
    "-c -f -h -H -L -P -R -v --changes --dereference --no-dereference --from: --no-preserve-root"
    " --preserve-root --quiet --silent --recursive --reference< --verbose"
)


def change_mode(effects: Effects, arguments: Sequence[Field]) -> None:
    """`chmod`, `chown`, `chgrp`: the first operand says what to set, unless a file is the model."""
    modes = [one for one in arguments if re.fullmatch(r"-[rwxXst]+", one.text)]
    parsed = take_options(effects, "chmod", [one for one in arguments if one not in modes], _MODE)
    files = after_start(parsed.operands, 0 if modes or parsed.has("--reference") else 1)
    effects.touch("write", *files)
    effects.touch("within", *(files if parsed.has("-R", "--recursive") else ()))


def dd(effects: Effects, arguments: Sequence[Field]) -> None:
    for argument in arguments:
        head, equals, _ = argument.spelled.partition("=")
        if head not in ("if", "of") or not equals:
            continue
        value = Field(argument.spelled[3:], tuple(text[3:] for text in argument.texts), argument.known, argument.glob)
        effects.touch("read" if head == "if" else "write", value)


_SORT = (
    "-b -c -C -d -f -g -h -i -k: -m -M -n -o> -r -R -s -S: -t: -T> -u -V -z --batch-size: --buffer-size:"
    " --check? --debug --compress-program! --dictionary-order --field-separator: --files0-from<"
    " --general-numeric-sort --key: --merge --human-numeric-sort --ignore-case --ignore-leading-blanks"
    " --ignore-nonprinting --month-sort --numeric-sort --output> --parallel: --random-sort --random-source<"
    " --reverse --sort: --stable --temporary-directory> --unique --version-sort --zero-terminated"
)


def sort(effects: Effects, arguments: Sequence[Field]) -> None:
    effects.touch("read", *take_options(effects, "sort", arguments, _SORT).operands)


_UNIQ = (
    "-c -d -D -f: -i -s: -u -w: -z -# --count --repeated --all-repeated? --skip-fields: --group?"
    " --ignore-case --skip-chars: --unique --zero-terminated --check-chars:"
)
_XXD = (
    "-a -b -c: -C -d -e -E -g: -h -i -l: -n: -o: -p -ps -postscript -plain -r -s: -u -v -len: -seek: -cols: -bits"
    " -groupsize: -R:"
)


def uniq(effects: Effects, arguments: Sequence[Field]) -> None:
    _from_to(effects, take_options(effects, "uniq", arguments, _UNIQ).operands)


def xxd(effects: Effects, arguments: Sequence[Field]) -> None:
    _from_to(effects, take_options(effects, "xxd", arguments, _XXD).operands)


def _from_to(effects: Effects, operands: Sequence[Field]) -> None:
    effects.touch("read", *at_start(operands))
    effects.touch("write", *after_start(operands))


_SPLIT = (
    "-a: -b: -C: -d -e -l: -n: -p: -t: -u -x -# --suffix-length: --additional-suffix: --bytes: --line-bytes:"
    " --lines: --number: --numeric-suffixes? --hex-suffixes? --elide-empty-files --separator: --unbuffered"
    " --verbose --filter:"
)
_CSPLIT = (
    "-b: -f: -k -n: -q -s -z --suffix-format: --prefix: --keep-files --suppress-matched --digits: --quiet"
    " --elide-empty-files"
)


def split(effects: Effects, arguments: Sequence[Field]) -> None:
    parsed = take_options(effects, "split", arguments, _SPLIT)
    effects.scripts += parsed.values("--filter")
    effects.touch("read", *at_start(parsed.operands))
    effects.touch("write", *(wider(one, "*") for one in after_start(parsed.operands) or [literal("x")]))


def csplit(effects: Effects, arguments: Sequence[Field]) -> None:
    parsed = take_options(effects, "csplit", arguments, _CSPLIT)
    effects.touch("read", *at_start(parsed.operands))
    effects.touch("write", *(wider(one, "*") for one in parsed.values("-f", "--prefix") or [literal("xx")]))


_PATCH = (
    "-b -B! -c -d: -D: -e -E -f -F: -g: -i< -l -n -N -o> -p: -r> -R -s -t -T -u -v -V: -Y! -z: -Z --backup"
    " --backup-if-mismatch --batch --binary --context --directory: --dry-run --force --forward --fuzz: --get:"
    " --ifdef: --ignore-whitespace --input< --merge? --no-backup-if-mismatch --normal --output> --posix"
    " --quiet --reject-file> --reverse --silent --strip: --suffix: --unified --verbose --prefix!"
    " --remove-empty-files"
)


def patch(effects: Effects, arguments: Sequence[Field]) -> None:
    parsed = take_options(effects, "patch", arguments, _PATCH)
    effects.touch("read", *at_start(parsed.operands, 2))
    if parsed.has("-e", "--ed"):
        effects.doubts.append("`patch -e` hands the patch to `ed`, which can run commands.")
    if parsed.has("--dry-run"):
        return
    folders = parsed.values("-d", "--directory")
    targets = (*at_start(parsed.operands), *parsed.values("-o", "--output"))
    effects.touch("write", *(targets or folders or (literal("."),)))
    if not targets:
        effects.touch("within", *(folders or (literal("."),)))


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
    "xxd": xxd,
    "split": split,
    "csplit": csplit,
    "patch": patch,
}
