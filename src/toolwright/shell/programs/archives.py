"""Programs that pack and unpack: what they read and write, and what they take away once it is packed."""

import posixpath
import re
from collections.abc import Mapping, Sequence

from toolwright.shell.programs.arguments import Effects, Handler, after_start, at_end, at_start, tail, wider
from toolwright.shell.programs.options import take_options
from toolwright.shell.state.findings import Contained
from toolwright.shell.state.state import Field, literal, unknown

_COMPRESS = (
    "-0 -a -c -d -D< -e -f -h -H -k -l -L -m -n -N -o> -q -r -s -S: -t -T: -v -V -z -# --best --compress"
    " --decompress --uncompress --fast? --force --keep --list --name --no-name --quiet --recursive"
    " --rsyncable --stdout --to-stdout --suffix: --test --threads: --verbose --extreme --rm --ultra --long?"
    " --output-dir-flat> --format: --no-progress --small --single-thread"
)


def compress(effects: Effects, arguments: Sequence[Field]) -> None:
    """`gzip` and its like put another file in place of the one they are given."""
    _compress(effects, arguments, keeps=False)


def compress_beside(effects: Effects, arguments: Sequence[Field]) -> None:
    """`zstd` and its like leave the file that they are given, unless they are told to remove it."""
    _compress(effects, arguments, keeps=True)


def _compress(effects: Effects, arguments: Sequence[Field], *, keeps: bool) -> None:
    parsed = take_options(effects, "gzip", arguments, _COMPRESS)
    effects.touch("read", *parsed.operands)
    if parsed.has("-c", "--stdout", "--to-stdout", "-l", "--list", "-t", "--test"):
        return
    effects.touch("write", *parsed.operands)
    effects.touch("write", *(wider(one, ".*") for one in parsed.operands))
    effects.touch("write", *(_without_ending(one) for one in parsed.operands if one.exact))
    for suffix in parsed.values("-S", "--suffix"):
        effects.touch("write", *(wider(one, suffix.spelled) for one in parsed.operands))
    effects.touch("within", *(parsed.operands if parsed.has("-r", "--recursive") else ()))
    if parsed.has("--rm"):
        effects.remove(*parsed.operands)
    elif not keeps and not parsed.has("-k", "--keep"):
        effects.touch("delete", *parsed.operands)


def _without_ending(argument: Field) -> Field:
    return literal(argument.text.rpartition(".")[0] or argument.text)


def _with_dashes(letters: str, rest: Sequence[Field]) -> list[Field]:
    """`tar xfC a.tar dir` in today's spelling: each letter that takes a value takes the next word."""
    waiting, spelled = list(rest), list[Field]()
    for letter in letters:
        spelled.append(literal(f"-{letter}"))
        if letter in "fCTXbgIF" and waiting:
            spelled.append(waiting.pop(0))
    return [*spelled, *waiting]


_TAR = (
    "-a -A -b: -B -c -C: -d -f: -g> -G -h -H: -i -I! -j -J -k -K: -l -L: -m -M -n -N: -o -O -p -P! -r -R -s"
    " -S -t -T! -u -U -v -V: -w -W -x -X< -z -Z -F! --absolute-names! --add-file< --after-date: --anchored"
    " --append --auto-compress --backup? --bzip2 --blocking-factor: --checkpoint? --compare --concatenate"
    " --create --delete --dereference --diff --directory: --exclude: --exclude-backups --exclude-caches"
    " --exclude-from< --exclude-ignore: --exclude-tag: --exclude-vcs --exclude-vcs-ignores --extract --file:"
    " --files-from! --format: --full-time --get --group: --gunzip --gzip --hard-dereference --ignore-case"
    " --ignore-failed-read --ignore-zeros --incremental --index-file> --keep-newer-files --keep-old-files"
    " --label: --level: --list --listed-incremental> --lzip --lzma --lzop --mode: --mtime: --newer:"
    " --newer-mtime: --no-recursion --no-same-owner --no-same-permissions --no-wildcards --no-xattrs --null"
    " --numeric-owner --occurrence? --one-file-system --one-top-level? --overwrite --owner: --posix"
    " --preserve-permissions --record-size: --recursion --recursive-unlink --remove-files --same-owner"
    " --same-permissions --show-transformed-names --skip-old-files --sort: --sparse --strip-components:"
    " --suffix: --test-label --to-stdout --totals? --touch --uncompress --ungzip --unlink-first --update"
    " --utc --verbatim-files-from --verbose --verify --warning: --wildcards --wildcards-match-slash --xattrs"
    " --xz --zstd --transform: --xform: --use-compress-program! --to-command! --checkpoint-action!"
    " --info-script! --new-volume-script! --rsh-command! --rmt-command!"
)


def tar(effects: Effects, arguments: Sequence[Field]) -> None:
    if arguments and arguments[0].exact and not arguments[0].text.startswith("-"):
        arguments = _with_dashes(arguments[0].text, arguments[1:])
    parsed = take_options(effects, "tar", arguments, _TAR)
    if any("e" in one.text.rpartition(one.text[1:2] or "/")[2] for one in parsed.values("--transform", "--xform")):
        effects.doubts.append("`tar --transform` can run the names it makes.")
    archives, folders = parsed.values("-f", "--file"), parsed.values("-C", "--directory")
    if any(":" in one.spelled for one in archives):
        effects.doubts.append(Contained("`tar` reaches an archive on another machine by a program of its own choice."))
    extracts, lists = parsed.has("-x", "--extract", "--get"), parsed.has("-t", "--list", "-d", "--diff", "--compare")
    effects.touch("read" if extracts or lists else "write", *(one for one in archives if one.text != "-"))
    starts = _one_after_the_other(folders)
    if extracts and not parsed.has("-O", "--to-stdout"):
        effects.touch("write", *(starts or [literal(".")]))
        effects.touch("within", *(starts or [literal(".")]))
        return
    if lists or extracts:
        return
    effects.touch("look", *starts)
    packed = [_below(start, one) for one in parsed.operands for start in starts or [literal(".")]]
    effects.touch("take", *packed)
    if parsed.has("--remove-files"):
        effects.remove(*packed)


def _one_after_the_other(folders: Sequence[Field]) -> list[Field]:
    """Return where each `-C` leads: from where the one before it has led."""
    reached = list(folders[:1])
    for folder in folders[1:]:
        known = reached[-1].exact and folder.exact
        reached.append(literal(posixpath.join(reached[-1].text, folder.text)) if known else unknown(folder.spelled))
    return reached


def _below(folder: Field, path: Field) -> Field:
    """A path that is meant from a folder that an option names."""
    if path.spelled.startswith("/") or folder.text == ".":
        return path
    if not folder.exact:
        return Field(path.spelled, path.texts, known=False)
    return Field(path.spelled, tuple(f"{folder.text}/{text}" for text in path.texts), path.known, path.glob)


_UNZIP = "-a -b -B -C -d: -D -f -j -K -l -L -M -n -o -p -P: -q -t -T -u -v -V -x: -X -z -Z"
_ZIP = (
    "-# -0 -9 -A -b> -c -d -D -e -f -F -g -h -i: -j -J -k -l -L -m -n: -o -O> -P: -q -r -R -s: -S -t: -T -u"
    " -v -x: -X -y -z -ll -FS -sf -TT! --unzip-command! --recurse-paths --junk-paths --exclude: --include:"
    " --update --quiet --move --encrypt --symlinks"
)


def unzip(effects: Effects, arguments: Sequence[Field]) -> None:
    parsed = take_options(effects, "unzip", arguments, _UNZIP)
    effects.touch("read", *at_start(parsed.operands))
    if not parsed.has("-l", "-t", "-p", "-z", "-Z", "-v"):
        effects.touch("write", *(parsed.values("-d") or [literal(".")]))
        effects.touch("within", *(parsed.values("-d") or [literal(".")]))


def zip_files(effects: Effects, arguments: Sequence[Field]) -> None:
    parsed = take_options(effects, "zip", arguments, _ZIP)
    sources = after_start(parsed.operands)
    archives = at_start(parsed.operands)
    effects.touch("write", *archives)
    effects.touch("write", *(wider(one, ".zip") for one in archives if not one.spelled.endswith(".zip")))
    effects.touch("take", *sources)
    lists = parsed.values("-i", "-x", "--include", "--exclude")
    effects.touch("read", *(tail(one, 1) for one in lists if one.spelled.startswith("@")))
    if parsed.has("-m", "--move"):
        effects.remove(*sources)


_SEVEN = re.compile(
    r"-(?:y|r[-\d]?|b[bds]\w*|t\w+|m\w+(?:=\w+)?|p.*|[xi]r?[-\d]?!.*|ao[asut]|ss[cw]\w*|scs\S+|scc\S+|slt|sfx|spf\d?|sni|snl"
    r"|snh|sdel|so|si.*|v\d+\w?|o.+|w.*|u.*)"
)
_SEVEN_PACKS = frozenset({"a", "u", "d", "rn"})


def seven_zip(effects: Effects, arguments: Sequence[Field]) -> None:
    """`7z`: a letter says what is done to the archive that the next word names."""
    words = [one for one in arguments if not one.spelled.startswith(("-", "@"))]
    options = [one for one in arguments if one.spelled.startswith("-")]
    strange = [one.spelled for one in options if not one.exact or not _SEVEN.fullmatch(one.text)]
    what = words[0].text if words else ""
    if strange or what not in {*_SEVEN_PACKS, "e", "x", "l", "t", "i", "b", "h", ""}:
        effects.doubts.append(
            Contained(f"`{' '.join(['7z', what, *strange])}` is not among what is known to be harmless.")
        )
    effects.touch("read", *(tail(one, 1) for one in arguments if one.spelled.startswith("@")))
    archives, files = at_start(words[1:]), after_start(words[1:])
    if what in _SEVEN_PACKS:
        effects.touch("write", *archives, *(wider(one, ".*") for one in archives))
        effects.touch("take", *(files if what in ("a", "u") else ()))
        if any(one.text == "-sdel" for one in options):
            effects.remove(*(files or [literal(".")]))
    else:
        effects.touch("read", *(words[1:] if what == "h" else archives))
    if what in ("e", "x") and not any(one.text == "-so" for one in options):
        folders = [tail(one, 2) for one in options if one.text.startswith("-o")] or [literal(".")]
        effects.touch("write", *folders)
        effects.touch("within", *folders)


_RAR_DELETES = ("-df", "-dr", "-dw")


def rar(effects: Effects, arguments: Sequence[Field]) -> None:
    """`rar` and `unrar`: `m` packs and deletes; `x` unpacks to the last word if it ends in a slash."""
    words = [one for one in arguments if not one.spelled.startswith(("-", "@"))]
    what = words[0].text if words else ""
    archives, files = at_start(words[1:]), after_start(words[1:])
    deletes = what in ("m", "mf") or any(one.text in _RAR_DELETES for one in arguments)
    if what in ("l", "lb", "lt", "v", "vb", "vt", "t", "p", ""):
        effects.touch("read", *archives)
    elif what in ("x", "e"):
        folders = [one for one in at_end(files) if one.spelled.endswith("/")] or [literal(".")]
        effects.touch("read", *archives)
        effects.touch("write", *folders)
        effects.touch("within", *folders)
    else:
        effects.touch("write", *archives, *(wider(one, ".*") for one in archives))
        effects.touch("take", *files)
    if deletes:
        effects.remove(*(files or [literal(".")]))


_CPIO = (
    "-0 -a -A -b -B -c -C: -d -D> -E< -f -F: -H: -i -I< -k -l -L -m -n -o -O> -p -R: -s -S -t -u -v -V -W:"
    " --append --create --directory> --dot --extract --file: --format: --link --list --make-directories"
    " --no-absolute-filenames --no-preserve-owner --null --pass-through --pattern-file< --preserve-modification-time"
    " --quiet --reset-access-time --sparse --unconditional --verbose"
)


def cpio(effects: Effects, arguments: Sequence[Field]) -> None:
    """`cpio` packs what it is fed the names of, and unpacks into the folder that it is in."""
    parsed = take_options(effects, "cpio", arguments, _CPIO)
    packs, passes = parsed.has("-o", "--create"), parsed.has("-p", "--pass-through")
    effects.touch("write" if packs else "read", *parsed.values("-F", "--file"))
    if packs or passes:
        effects.doubts.append(Contained("`cpio` copies the files whose names it is fed."))
    if passes:
        effects.touch("write", *at_end(parsed.operands))
        effects.touch("within", *at_end(parsed.operands))
    elif not packs and not parsed.has("-t", "--list"):
        folders = parsed.values("-D", "--directory") or [literal(".")]
        effects.touch("write", *folders)
        effects.touch("within", *folders)


def jar(effects: Effects, arguments: Sequence[Field]) -> None:
    """`jar cf x.jar files`, in the letters of `tar`; longer options are not followed."""
    letters = arguments[0].text.lstrip("-") if arguments and arguments[0].exact else ""
    if not letters.isalpha() or set(letters) - set("ctxuif0Mmev"):
        effects.doubts.append(Contained("This call of `jar` is not among what is known to be harmless."))
        letters = ""
    files = arguments[1:]
    extracts = "x" in letters
    effects.touch("read" if extracts or "t" in letters else "write", *at_start(files))
    effects.touch("read", *after_start(files))
    effects.touch("within", *([literal(".")] if extracts else ()))


ARCHIVES: Mapping[str, Handler] = {
    **dict.fromkeys(
        [
            *(
                "gzip",
                "gunzip",
                "bzip2",
                "bunzip2",
                "xz",
                "unxz",
                "lzma",
                "unlzma",
                "pigz",
                "unpigz",
                "lbzip2",
                "pbzip2",
            ),
            *("pbunzip2", "pxz", "pixz", "lzip", "plzip", "compress", "uncompress"),
        ],
        compress,
    ),
    **dict.fromkeys(["zstd", "unzstd", "pzstd", "lz4", "unlz4", "lzop", "brotli", "unbrotli"], compress_beside),
    **dict.fromkeys(["tar", "gtar", "bsdtar"], tar),
    **dict.fromkeys(["7z", "7za", "7zr", "7zz", "p7zip"], seven_zip),
    **dict.fromkeys(["rar", "unrar"], rar),
    **dict.fromkeys(["cpio", "bsdcpio"], cpio),
    "jar": jar,
    "unzip": unzip,
    "zip": zip_files,
}
