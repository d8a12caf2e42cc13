"""Programs that fetch, send, or hand commands to somewhere else."""

from collections.abc import Mapping, Sequence

from toolwright.shell.arguments import Effects, Handler, paths_in, sort_arguments
from toolwright.shell.state import Field

_CURL_WRITES = ("-o", "--output", "-c", "--cookie-jar", "-D", "--dump-header", "--output-dir", "--trace", "--stderr")
_CURL_SENDS = ("-d", "--data", "--data-binary", "--data-urlencode", "-F", "--form", "--json", "-b", "--cookie", "-H")
_WGET_WRITES = ("-O", "--output-document", "-o", "--output-file", "-a", "--append-output", "-P", "--directory-prefix")


def curl(found: Effects, arguments: Sequence[Field]) -> None:
    given = sort_arguments(
        arguments,
        "-o --output -d --data --data-binary --data-raw --data-urlencode -F --form -H --header -X --request -u --user"
        " -A --user-agent -e --referer -b --cookie -c --cookie-jar -T --upload-file -K --config -x --proxy -m"
        " --max-time -w --write-out -D --dump-header --cacert --cert --key -C --connect-timeout --retry --resolve -E"
        " --output-dir --trace --trace-ascii --stderr --url --json -r --range --limit-rate",
    )
    if given.has("-K", "--config"):
        found.doubts.append("`curl -K` reads further options from a file.")
    found.touch("write", *(one for one in given.values(*_CURL_WRITES) if one.text != "-"))
    if given.has("-O", "--remote-name", "-J", "--remote-header-name", "--remote-name-all"):
        found.touch("write", *map(_last_part, given.operands))
    found.touch("read", *given.values("-T", "--upload-file", "--cacert", "--cert", "--key", "-E"))
    for one in given.values(*_CURL_SENDS):
        _, at, _ = one.spelled.partition("@")
        if at:
            start = one.spelled.index("@") + 1
            found.touch("read", Field(one.spelled[start:], tuple(text[start:] for text in one.texts), one.known))
    found.touch("read", *(_file_address(one) for one in given.operands if one.spelled.lower().startswith("file:")))


def _last_part(address: Field) -> Field:
    """The name under which a download is stored when none is given."""
    name = address.spelled.partition("?")[0].rstrip("/").rpartition("/")[2]
    return Field(name, (name or "index.html",), address.known)


def _file_address(argument: Field) -> Field:
    path = argument.spelled[5:].removeprefix("//localhost").removeprefix("//")
    return Field(path, (path,), argument.known)


def wget(found: Effects, arguments: Sequence[Field]) -> None:
    given = sort_arguments(
        arguments,
        "-O --output-document -o --output-file -a --append-output -P --directory-prefix -i --input-file -e --execute"
        " --use-askpass --header --user-agent -U -t --tries -T --timeout -A -R --post-data --post-file --body-file",
    )
    if given.has("-e", "--execute", "--use-askpass"):
        found.doubts.append("`wget` is told to change its settings or to run a program.")
    found.touch("write", *(one for one in given.values(*_WGET_WRITES) if one.text != "-"))
    if not given.values("-O", "--output-document", "-P", "--directory-prefix"):
        found.touch("write", *map(_last_part, given.operands))
    found.touch("read", *given.values("-i", "--input-file", "--post-file", "--body-file"))


def remote_copy(found: Effects, arguments: Sequence[Field]) -> None:
    given = sort_arguments(arguments, "-P -i -F -o -S -c -J -l -D")
    if given.has("-S", "-o", "-J", "-F"):
        found.doubts.append("`scp` is told to run or configure another program.")
    local = [one for one in given.operands if ":" not in one.spelled.partition("/")[0]]
    last = given.operands[-1:]
    found.touch("read", *given.values("-i"), *(one for one in local if one not in last))
    found.touch("write", *(one for one in last if one in local))


def secure_shell(found: Effects, arguments: Sequence[Field]) -> None:
    """What runs on the other machine is that machine's business; what ssh runs here is ours."""
    given = sort_arguments(arguments, "-B -b -c -D -E -e -F -I -i -J -L -l -m -O -o -p -Q -R -S -W -w")
    if given.has("-o", "-F"):
        found.doubts.append("`ssh` is told to run or configure another program.")
    found.touch("read", *given.values("-i"))
    found.touch("write", *given.values("-E"))


def runs_later(found: Effects, arguments: Sequence[Field]) -> None:
    found.doubts.append("It hands over commands to be run later or elsewhere, which cannot be seen.")
    for argument in arguments:
        found.touch("read", *paths_in(argument))


def tmux(found: Effects, arguments: Sequence[Field]) -> None:
    """Starting, listing and closing sessions is plain; typing into one is not."""
    words = [one.text for one in arguments if not one.text.startswith("-")]
    plain = {"ls", "list-sessions", "list-windows", "list-panes", "kill-session", "capture-pane", "has-session"}
    fresh = words[:1] in (["new"], ["new-session"]) and len(words) <= 2
    if words and words[0] not in plain and not fresh:
        runs_later(found, arguments)


NETWORK: Mapping[str, Handler] = {
    "curl": curl,
    "wget": wget,
    "scp": remote_copy,
    "ssh": secure_shell,
    **dict.fromkeys(
        ["at", "batch", "crontab", "screen", "bwrap", "firejail", "systemd-run", "nix-shell", "launchctl"], runs_later
    ),
    "tmux": tmux,
}
