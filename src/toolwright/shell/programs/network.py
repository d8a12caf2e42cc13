"""Programs that fetch, send, or hand commands to somewhere else."""

import re
from collections.abc import Mapping, Sequence

from toolwright.shell.programs.arguments import Effects, Handler, at_end, before_end, paths_in
from toolwright.shell.programs.downloads import DOWNLOADS
from toolwright.shell.programs.options import take_options
from toolwright.shell.state.state import Field, literal

_SCP = "-1 -2 -3 -4 -6 -A -B -c: -C -D! -F! -i< -J! -l: -o! -O -p -P: -q -r -R -s -S! -T -v -X:"
_SFTP = "-4 -6 -a -A -B: -b! -c: -C -D! -f -F! -i< -J! -l: -N -o! -p -P: -q -r -R: -s! -S! -v -X:"
_SSH = (
    "-1 -2 -4 -6 -a -A -b: -B: -c: -C -D: -e: -E> -f -F! -g -G -i< -I! -J: -k -K -l: -L: -m: -M -n -N -O: -o!"
    " -p: -P: -q -Q: -R: -s -S: -t -T -v -V -w: -W: -x -X -y -Y"
)
_VALUED = re.compile(r"-[a-zA-Z]*[bBcDeEFiIJlLmOopPQRSwW]")
_SAFE_SETTING = re.compile(
    r"-o(?:BatchMode|ConnectTimeout|StrictHostKeyChecking|ServerAliveInterval|ServerAliveCountMax|LogLevel"
    r"|Compression|Port|User|PasswordAuthentication|IdentitiesOnly|NumberOfPasswordPrompts)=[\w-]+"
)


def file_shell(effects: Effects, arguments: Sequence[Field]) -> None:
    take_options(effects, "sftp", arguments, _SFTP)
    effects.doubts.append("What `sftp` is told to do is not examined.")


def remote_copy(effects: Effects, arguments: Sequence[Field]) -> None:
    parsed = take_options(effects, "scp", arguments, _SCP)
    local = [one for one in parsed.operands if ":" not in one.spelled.partition("/")[0]]
    effects.touch("take", *(one for one in before_end(parsed.operands) if one in local))
    effects.touch("write", *(one for one in at_end(parsed.operands) if one in local))


def secure_shell(effects: Effects, arguments: Sequence[Field]) -> None:
    """Judge what ssh runs here; what runs on the other machine is that machine's business, unless a rule names it."""
    own: list[Field] = []
    for argument in arguments:
        own.append(argument)
        if not argument.spelled.startswith("-") and (len(own) == 1 or not _VALUED.fullmatch(own[-2].spelled)):
            break
    take_options(effects, "ssh", [one for one in own if not _SAFE_SETTING.fullmatch(one.spelled)], _SSH)
    effects.suspected.append(literal(" ".join(one.spelled for one in arguments[len(own) :])))


_LISTING = ("-l", "-V", "--version", "--help")
"""Options of `crontab`, `at` and their like with which nothing is handed over."""


def runs_later(effects: Effects, arguments: Sequence[Field]) -> None:
    if arguments and all(argument.text in _LISTING for argument in arguments):
        return
    effects.doubts.append("It hands over commands to be run later or elsewhere, which cannot be seen.")
    for argument in arguments:
        effects.touch("read", *paths_in(argument))


def tmux(effects: Effects, arguments: Sequence[Field]) -> None:
    """Starting, listing and closing sessions is plain; typing into one, or starting one with a command, is not."""
    name = arguments[0].text if arguments else ""
    if name in (
        "ls",
        "list-sessions",
        "list-windows",
        "list-panes",
        "kill-session",
        "capture-pane",
        "has-session",
        "-V",
    ):
        return
    if name in ("new", "new-session"):
        parsed = take_options(effects, "tmux", arguments[1:], "-A -d -D -E -P -X -c: -n: -s: -t: -x: -y:")
        effects.scripts += parsed.operands if len(parsed.operands) == 1 else ()
        if len(parsed.operands) > 1:
            effects.inner.append(parsed.operands)
        return
    runs_later(effects, arguments)


NETWORK: Mapping[str, Handler] = {
    **DOWNLOADS,
    "scp": remote_copy,
    "sftp": file_shell,
    "ssh": secure_shell,
    **dict.fromkeys(
        ["at", "batch", "crontab", "screen", "bwrap", "firejail", "systemd-run", "nix-shell", "launchctl"], runs_later
    ),
    "tmux": tmux,
}
