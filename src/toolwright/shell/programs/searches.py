"""Programs that look for text in files."""

from collections.abc import Mapping, Sequence

from toolwright.shell.programs.arguments import Arguments, Effects, Handler, after_start
from toolwright.shell.programs.options import take_options
from toolwright.shell.state.state import Field, literal

_GREP = (
    "-# -a -A: -b -B: -c -C: -d: -D: -e: -E -f< -F -G -h -H -i -I -l -L -m: -n -o -O -p -P -q -r -R -s -S -T"
    " -U -v -V -w -x -y -z -Z --after-context: --basic-regexp --before-context: --binary --binary-files:"
    " --byte-offset --color? --colour? --context? --count --dereference-recursive --devices: --directories:"
    " --exclude-dir: --exclude-from< --exclude: --extended-regexp --file< --files-with-matches"
    " --files-without-match --fixed-strings --group-separator: --ignore-case --include: --initial-tab"
    " --invert-match --label: --line-buffered --line-number --line-regexp --max-count: --no-filename"
    " --no-group-separator --no-ignore-case --no-messages --null --null-data --only-matching --perl-regexp"
    " --quiet --recursive --regexp: --silent --text --with-filename --word-regexp"
)
_ACK = (
    "-A: -B: -c -C: -f -g: -G: -h -H -i -l -L -m: -n -o -Q -r -s -S -t -u -U -v -w -x -z -a --ignore: --nocolor"
    " --color --hidden"
)
_RG = (
    "-# -0 -a -A: -b -B: -c -C: -d: -e: -E: -f< -F -g: -h -H -i -I -j: -l -L -m: -M: -n -N -o -p -P -q -r: -s"
    " -S -t: -T: -u -U -v -V -w -x -z --after-context: --before-context: --case-sensitive --color: --colors:"
    " --column --context: --count --count-matches --crlf --debug --encoding: --engine: --file< --files"
    " --files-with-matches --files-without-match --fixed-strings --follow --glob: --glob-case-insensitive"
    " --heading --hidden --iglob: --ignore-case --ignore-file< --invert-match --json --line-number"
    " --line-regexp --max-columns: --max-columns-preview --max-count: --max-depth: --max-filesize: --mmap"
    " --multiline --multiline-dotall --no-config --no-filename --no-heading --no-ignore --no-ignore-vcs"
    " --no-line-number --no-messages --null --one-file-system --only-matching --passthru --path-separator:"
    " --pcre2 --pretty --quiet --regexp: --replace: --search-zip --smart-case --sort: --sortr: --stats --text"
    " --threads: --trim --type: --type-not: --type-list --unrestricted --vimgrep --with-filename"
    " --word-regexp --hostname-bin! --pre! --pre-glob: --type-add:"
)


_NAMES_ONLY = (
    *("-l", "-L", "-c", "-q", "--files", "--files-with-matches", "--files-without-match", "--count", "--count-matches"),
    *("--quiet", "--silent", "--type-list"),
)
_NARROWED = ("--include", "-g", "--glob", "--iglob", "-t", "--type")
"""Options with which only some kinds of files are looked at."""


def grep(effects: Effects, arguments: Sequence[Field]) -> None:
    """The first operand is the pattern, unless an option gives one."""
    parsed = take_options(effects, "grep", arguments, _GREP)
    deep = parsed.has("-r", "-R", "--recursive", "--dereference-recursive")
    _search(
        effects, parsed, everywhere=deep or any(one.text == "recurse" for one in parsed.values("-d", "--directories"))
    )


def ack(effects: Effects, arguments: Sequence[Field]) -> None:
    parsed = take_options(effects, "ag", arguments, _ACK)
    files = after_start(parsed.operands, 0 if parsed.has("-f", "-g") else 1) or [literal(".")]
    effects.touch("read", *files)
    effects.touch("search", *([] if parsed.has("-f", "-g", "-l", "-L", "-c") else files))


def ripgrep(effects: Effects, arguments: Sequence[Field]) -> None:
    _search(effects, take_options(effects, "rg", arguments, _RG), everywhere=True)


def _search(effects: Effects, parsed: Arguments, *, everywhere: bool) -> None:
    """Without a file a search goes through what it is fed or, `everywhere`, through the folder it is in."""
    has_pattern = parsed.has("-e", "--regexp", "-f", "--file", "--files")
    files = after_start(parsed.operands, 0 if has_pattern else 1)
    files = files or ([literal(".")] if everywhere else [])
    effects.touch("read", *files)
    effects.touch("search", *([] if parsed.has(*_NAMES_ONLY) or parsed.has(*_NARROWED) else files))


SEARCHES: Mapping[str, Handler] = {
    **dict.fromkeys(["grep", "egrep", "fgrep", "zgrep", "ggrep", "rgrep"], grep),
    **dict.fromkeys(["ag", "ack"], ack),
    "rg": ripgrep,
}
