"""Programs that do one thing to each file they are given, with every option that is known to be harmless."""

from collections.abc import Mapping

from toolwright.shell.programs.arguments import names
from toolwright.shell.state.findings import Touch

QUIET = names(
    "echo printf true false : pwd exit return break continue basename dirname whoami uname id groups seq"
    " sleep expr yes tr arch nproc uptime tty logname factor numfmt cal kill killall jobs wait bg fg disown"
    " umask ulimit type which times dirs let shift getopts getconf locale history clear reset export declare"
    " typeset readonly local unset set shopt alias unalias trap eval read mapfile readarray cd pushd popd"
    " test [ command builtin exec printenv free help"
)
"""Programs that touch no file whatever they are told, or that are dealt with elsewhere."""

Plain = tuple[Touch | None, int, str]

_SUMS = (
    "-b -c -t -w -z -l: --binary --check --tag --text --zero --quiet --status --strict --warn --ignore-missing"
    " --length:"
)
_LS = (
    "-a -A -b -B -c -C -d -D -f -F -g -G -h -H -i -I: -k -l -L -m -n -N -o -p -q -Q -r -R -s -S -t -T: -u -U"
    " -v -w: -x -X -Z -1 -@ -O --all --almost-all --author --block-size: --classify? --color? --context"
    " --dereference --directory --dired --dereference-command-line --dereference-command-line-symlink-to-dir"
    " --escape --file-type --format: --full-time --group-directories-first --hide-control-chars --hide:"
    " --human-readable --hyperlink? --ignore-backups --ignore: --indicator-style: --inode --kibibytes"
    " --literal --no-group --numeric-uid-gid --quote-name --quoting-style: --recursive --reverse"
    " --show-control-chars --si --size --sort: --tabsize: --time: --time-style: --width: --zero"
)
_DIFF = (
    "-a -b -B -c -C: -d -D: -e -E -F: -i -I: -l -n -N -p -P -q -r -s -S: -t -T -u -U: -v -w -W: -x: -X< -y -Z -#"
    " --brief --color? --palette: --context? --ed --exclude: --exclude-from< --expand-tabs --from-file< --to-file<"
    " --horizon-lines: --ifdef: --ignore-all-space --ignore-blank-lines --ignore-case --ignore-file-name-case"
    " --ignore-matching-lines: --ignore-space-change --ignore-tab-expansion --ignore-trailing-space --initial-tab"
    " --label: --left-column --line-format: --minimal --new-file --no-dereference --normal --rcs --recursive"
    " --report-identical-files --show-c-function --show-function-line: --side-by-side --speed-large-files"
    " --starting-file: --strip-trailing-cr --suppress-blank-empty --suppress-common-lines --tabsize: --text"
    " --unchanged-line-format: --old-line-format: --new-line-format: --unidirectional-new-file --unified? --width:"
)

PLAIN: Mapping[str, Plain] = {
    "cat": (
        "read",
        0,
        (
            "-A -b -e -E -n -s -t -T -u -v -l --show-all --number --number-nonblank --show-ends --show-tabs"
            " --show-nonprinting --squeeze-blank"
        ),
    ),
    "tac": ("read", 0, "-b -r -s: --before --regex --separator:"),
    "rev": ("read", 0, "-V -h -0 --zero"),
    "nl": (
        "read",
        0,
        (
            "-b: -d: -f: -h: -i: -l: -n: -p -s: -v: -w: --body-numbering: --number-format: --number-width:"
            " --number-separator: --starting-line-number:"
        ),
    ),
    "less": (
        "read",
        0,
        (
            "-e -E -F -g -G -i -I -m -M -n -N -q -Q -r -R -s -S -X -# --RAW-CONTROL-CHARS --quit-if-one-screen"
            " --no-init --chop-long-lines --raw-control-chars --LINE-NUMBERS --ignore-case"
        ),
    ),
    "more": ("read", 0, "-c -d -e -f -l -p -s -u -n: -V -h -# --squeeze --lines: --no-pause"),
    **dict.fromkeys(
        ["bat", "batcat"],
        (
            "read",
            0,
            (
                "-n -p -P -A -f -u -l: -r: -H: -m: --plain --number --show-all --style: --color: --paging: --theme:"
                " --language: --line-range: --highlight-line: --decorations: --tabs: --wrap: --terminal-width:"
            ),
        ),
    ),
    "strings": ("read", 0, "-a -d -e: -f -h -n: -o -s: -t: -T: -U: -V -v -w -# --all --bytes: --radix: --encoding:"),
    "file": (
        "read",
        0,
        (
            "-0 -b -d -E -e: -F: -f< -h -i -I -k -l -L -m< -N -n -p -P: -r -s -v -z -Z --brief --mime --mime-type"
            " --mime-encoding --dereference --no-dereference --keep-going --raw --extension --uncompress"
            " --files-from< --magic-file< --exclude: --separator: --special-files --no-pad --print0"
        ),
    ),
    **dict.fromkeys(
        ["md5sum", "sha1sum", "sha224sum", "sha256sum", "sha384sum", "sha512sum", "b2sum"], ("read", 0, _SUMS)
    ),
    "md5": ("read", 0, "-q -r -n -s:"),
    "shasum": ("read", 0, _SUMS + " -a: --algorithm:"),
    "cksum": ("read", 0, _SUMS + " -a: -r -s --algorithm: --debug --untagged"),
    "sum": ("read", 0, "-r -s --sysv"),
    **dict.fromkeys(["diff", "colordiff"], ("read", 0, _DIFF)),
    "cmp": ("read", 0, "-b -i: -l -n: -s -v --bytes: --ignore-initial: --print-bytes --quiet --silent --verbose"),
    "comm": ("read", 0, "-1 -2 -3 -z --check-order --nocheck-order --output-delimiter: --total --zero-terminated"),
    "join": ("read", 0, "-1: -2: -a: -e: -i -j: -o: -t: -v: -z --check-order --header --ignore-case --nocheck-order"),
    "sdiff": (
        "read",
        0,
        (
            "-a -b -B -d -E -H -i -I: -l -o> -s -t -v -w: -W -Z --output> --width: --text --minimal --ignore-case"
            " --suppress-common-lines --left-column --expand-tabs --tabsize: --diff-program!"
        ),
    ),
    "diff3": ("read", 0, "-3 -a -A -e -E -i -L: -m -T -v -x -X --merge --text --label: --show-all --easy-only --ed"),
    **dict.fromkeys(["zcat", "bzcat", "xzcat", "zstdcat", "gzcat", "zless", "zmore"], ("read", 0, "-f -v -k -q")),
    "nm": (
        "read",
        0,
        (
            "-a -A -B -C -D -e -f: -g -h -j -l -n -o -p -P -r -s -S -t: -u -U -V -W --demangle? --dynamic"
            " --defined-only --undefined-only --extern-only --size-sort --print-size --numeric-sort"
        ),
    ),
    "readelf": (
        "read",
        0,
        (
            "-a -A -c -C -d -D -e -g -h -H -I -l -n -p: -r -R: -s -S -t -T -u -v -V -w -W -x: -z --all --headers"
            " --dynamic --symbols --syms --sections --segments --wide --notes --relocs --file-header"
        ),
    ),
    "objdump": (
        "read",
        0,
        (
            "-a -b: -C -d -D -e -f -F -g -G -h -H -i -j: -l -m: -M: -p -r -R -s -S -t -T -v -w -x -z --disassemble?"
            " --source --syms --headers --private-headers --demangle? --no-show-raw-insn"
        ),
    ),
    "realpath": (
        "look",
        0,
        (
            "-e -m -L -P -q -s -z --relative-to: --relative-base: --canonicalize-existing --canonicalize-missing"
            " --no-symlinks --strip --quiet --zero --logical --physical"
        ),
    ),
    "readlink": (
        "look",
        0,
        (
            "-e -f -m -n -q -s -v -z --canonicalize --canonicalize-existing --canonicalize-missing --no-newline"
            " --quiet --silent --verbose --zero"
        ),
    ),
    **dict.fromkeys(["ls", "dir", "vdir", "gls"], ("look", 0, _LS)),
    **dict.fromkeys(
        ["exa", "eza", "lsd"],
        (
            "look",
            0,
            (
                "-1 -a -A -B -b -d -D -F -g -G -h -H -i -I: -l -L: -m -n -r -R -s: -S -T -t: -u -U -x --all --tree"
                " --level: --long --git --icons? --color? --sort: --reverse --only-dirs --group-directories-first"
                " --no-user"
            ),
        ),
    ),
    "stat": (
        "look",
        0,
        "-c: -f: -F -l -L -n -q -r -s -t: -x -z --format: --printf: --dereference --terse --file-system",
    ),
    "lsattr": ("look", 0, "-a -d -l -p -R -v -V"),
    "getfacl": ("look", 0, "-a -c -d -e -E -L -n -p -P -R -s -t --omit-header --recursive --numeric"),
    "tsort": ("read", 0, ""),
    "hexdump": (
        "read",
        0,
        "-b -c -C -d -e: -f< -L -n: -o -s: -v -V -x -h --canonical --length: --skip: --no-squeezing",
    ),
    "hd": ("read", 0, "-n: -s: -v"),
    "hexyl": ("read", 0, "-n: -s: -v -b: --length: --skip: --plain --no-squeezing"),
    "head": ("read", 0, "-c: -n: -q -v -z -# --bytes: --lines: --quiet --silent --verbose --zero-terminated"),
    "tail": (
        "read",
        0,
        (
            "-b: -c: -f -F -n: -q -r -s: -v -z -# --bytes: --follow? --lines: --max-unchanged-stats: --pid: --quiet"
            " --silent --retry --sleep-interval: --verbose --zero-terminated"
        ),
    ),
    "wc": ("read", 0, "-c -l -L -m -w --bytes --chars --files0-from< --lines --max-line-length --words --total:"),
    "tree": (
        "look",
        0,
        (
            "-a -A -C -d -D -f -F -g -h -i -I: -J -l -L: -n -N -o> -p -P: -q -Q -r -R! -s -S -t -u -U -v -x -X"
            " --dirsfirst --du --filelimit: --charset: --gitignore --noreport --prune --si --sort: --matchdirs"
            " --ignore-case --inodes --device --fromfile --metafirst --timefmt: --info --hintro< --houtro<"
        ),
    ),
    "du": (
        "look",
        0,
        (
            "-0 -a -A -b -B: -c -d: -D -g -h -H -I: -k -l -L -m -n -P -s -S -t: -x -X< --all --apparent-size"
            " --block-size: --bytes --count-links --dereference --exclude: --exclude-from< --files0-from<"
            " --human-readable --inodes --max-depth: --null --one-file-system --separate-dirs --si --summarize"
            " --threshold: --time? --total"
        ),
    ),
    "df": (
        "look",
        0,
        (
            "-a -B: -b -g -h -H -i -I -k -l -m -n -P -t: -T: -x: -Y -v --all --block-size: --human-readable --inodes"
            " --local --no-sync --output? --portability --print-type --si --sync --total --type: --exclude-type:"
        ),
    ),
    "cut": (
        "read",
        0,
        (
            "-b: -c: -d: -f: -n -s -w -z --bytes: --characters: --complement --delimiter: --fields: --only-delimited"
            " --output-delimiter: --zero-terminated"
        ),
    ),
    "paste": ("read", 0, "-d: -s -z --delimiters: --serial --zero-terminated"),
    "fold": ("read", 0, "-b -s -w: -# --bytes --spaces --width:"),
    "fmt": ("read", 0, "-c -g: -p: -s -t -u -w: -# --width: --goal: --prefix: --split-only --uniform-spacing"),
    "pr": (
        "read",
        0,
        (
            "-a -c -d -D: -e? -f -F -h: -i? -J -l: -m -n? -N: -o: -r -s? -S? -t -T -v -w: -W: -# --columns: --header:"
            " --length: --merge --omit-header --width: --number-lines? --double-space"
        ),
    ),
    "expand": ("read", 0, "-i -t: -# --initial --tabs:"),
    "unexpand": ("read", 0, "-a -t: -# --all --first-only --tabs:"),
    "column": (
        "read",
        0,
        (
            "-c: -d -e -E: -H: -i: -J -l: -L -n: -N: -o: -O: -p: -r: -R: -s: -t -T: -V -W: -x -h --table --separator:"
            " --output-separator: --output-width: --table-columns: --table-right: --json --fillrows"
            " --table-noheadings --table-hide: --table-name: --table-truncate: --table-wrap: --table-order: --tree:"
        ),
    ),
    "od": (
        "read",
        0,
        (
            "-a -A: -b -c -d -f -i -j: -l -N: -o -s -S: -t: -v -w? -x --address-radix: --endian: --format:"
            " --output-duplicates --read-bytes: --skip-bytes: --strings? --width?"
        ),
    ),
    **dict.fromkeys(
        ["base64", "base32", "basenc"],
        (
            "read",
            0,
            ("-b: -d -D -i -w: --decode --ignore-garbage --wrap: --base64 --base64url --base32 --base16 --base2lsbf"),
        ),
    ),
    "shuf": ("read", 0, "-e -i: -n: -o> -r -z --echo --head-count: --input-range: --output> --random-source< --repeat"),
    "jq": (
        "read",
        1,
        (
            "-a -C -c -e -f< -h -j -L! -M -n -r -R -s -S -V --arg: --argjson: --args --jsonargs --slurpfile:"
            " --rawfile: --tab --indent: --raw-output --raw-output0 --raw-input --compact-output --null-input --slurp"
            " --sort-keys --exit-status --join-output --color-output --monochrome-output --ascii-output --from-file<"
            " --seq --stream --unbuffered"
        ),
    ),
    "yq": (
        "read",
        1,
        (
            "-c -C -e -h -I: -j -M -n -N -o: -p: -P -r -s! -y -Y -V --arg: --output-format: --input-format:"
            " --prettyPrint --raw-output --unwrapScalar? --no-doc --indent: --exit-status --colors --no-colors"
            " --null-input -i! --inplace!"
        ),
    ),
    "rm": (
        "delete",
        0,
        (
            "-d -f -i -I -P -r -R -v -W -x --dir --force --interactive? --no-preserve-root --one-file-system"
            " --preserve-root? --recursive --verbose"
        ),
    ),
    "rmdir": ("delete", 0, "-p -v --ignore-fail-on-non-empty --parents --verbose"),
    "unlink": ("delete", 0, ""),
    "shred": (
        "delete",
        0,
        "-f -n: -s: -u -v -x -z --exact --force --iterations: --random-source< --remove? --size: --verbose --zero",
    ),
    "srm": ("delete", 0, "-f -i -l -r -R -s -v -z"),
    **dict.fromkeys(["trash", "trash-put"], ("delete", 0, "-f -i -r -v -F")),
    "mkdir": ("write", 0, "-m: -p -v -Z --context? --mode: --parents --verbose"),
    "mkfifo": ("write", 0, "-m: -Z --context? --mode:"),
    "mknod": ("write", 0, "-m: -Z --context? --mode:"),
    "tee": ("write", 0, "-a -i -p --append --ignore-interrupts --output-error?"),
    "sponge": ("write", 0, "-a"),
    "truncate": ("write", 0, "-c -o -r< -s: --io-blocks --no-create --reference< --size:"),
    "chattr": ("write", 1, "-R -V -f -v:"),
    "fallocate": (
        "write",
        0,
        "-c -d -i -l: -n -o: -p -v -x -z --length: --offset: --keep-size --zero-range --dig-holes",
    ),
    "mktemp": (None, 0, "-d -p> -q -t -u --directory --dry-run --quiet --suffix: --tmpdir?"),
    "iconv": ("read", 0, "-c -f: -l -o> -s -t: --from-code: --to-code: --list --output> --silent --verbose"),
    "dos2unix": ("write", 0, "-k -q -n -o -c: -f -s -v"),
    "unix2dos": ("write", 0, "-k -q -n -o -c: -f -s -v"),
    "date": (
        None,
        0,
        (
            "-d: -f< -I? -j -n -r< -R -s! -u -v: --date: --debug --file< --iso-8601? --reference< --resolution"
            " --rfc-3339: --rfc-email --set! --universal --utc"
        ),
    ),
    "hostname": (None, 0, "-a -A -d -f -i -I -s -y --fqdn --short --ip-address --all-ip-addresses --domain"),
    "ps": (
        None,
        0,
        (
            "-a -A -c -C: -d -e -f -F -g: -G: -h -H -j -l -L -m -M -N -n -o: -O: -p: -q: -r -s: -S -t: -T -u: -U: -V"
            " -w -x -X -y -z -Z -# --no-headers --headers --sort: --forest --pid: --ppid: --user: --format: --cols:"
            " --width:"
        ),
    ),
    **dict.fromkeys(
        ["pgrep", "pkill"],
        (
            None,
            0,
            (
                "-a -A -c -d: -e -f -F< -g: -G: -h -H -i -l -L -n -o -O: -P: -q: -r: -s: -t: -u: -U: -v -V -w -x -0"
                " -1 -2 -3 -6 -9 -15 --count --delimiter: --exact --full --ignore-case --inverse --list-full"
                " --list-name --newest --oldest --parent: --pidfile< --signal: --uid: --euid: --terminal: -TERM -KILL"
                " -INT -HUP -QUIT -USR1 -USR2"
            ),
        ),
    ),
    "lsblk": (
        None,
        0,
        "-a -b -d -f -i -J -l -m -n -o: -O -p -r -S -t -T --all --json --output: --noheadings --fs --list",
    ),
    "lscpu": (None, 0, "-a -b -B -c -e? -J -p? -y --json --extended? --parse?"),
    "lsof": (None, 0, "-a -b -c: -d: -F? -g? -i? -l -n -N -o -O -p: -P -r? -R -s? -t -T? -u: -U -v -V -w -x?"),
    **dict.fromkeys(
        ["ss", "netstat"],
        (
            None,
            0,
            (
                "-a -A: -b -e -E -f: -h -H -i -K! -l -m -n -N: -o -O -p -r -s -S -t -T -u -U -v -V -w -x -Z -0 -4 -6"
                " --all --listening --numeric --processes --tcp --udp --unix --extended --summary"
            ),
        ),
    ),
    "tput": (None, 0, "-T: -V -x"),
    "whereis": (None, 0, "-b -g -l -m -s -u"),
    "man": (None, 0, "-a -f -k -w -# --where --whatis --apropos"),
    "bc": ("read", 0, "-h -i -l -q -s -v -w --mathlib --quiet --standard --warn"),
    "ifconfig": (None, 0, "-a -s -v"),
    "getent": (None, 0, "-s! --service!"),
    "cloc": (
        "look",
        0,
        "--json --csv --yaml --md --quiet --by-file --exclude-dir: --include-lang: --exclude-lang: --vcs: --git",
    ),
    "source": ("read", 0, ""),
    ".": ("read", 0, ""),
}
"""For each program what it does to its operands, how many of them are no files, and its options."""
