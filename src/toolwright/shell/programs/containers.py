"""Calls of `docker` and `podman`: their subcommands and options known to be harmless; all else is doubted."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from toolwright.shell.programs.arguments import Effects, Handler, names, paths_in, tail
from toolwright.shell.programs.options import take_options
from toolwright.shell.state.findings import Contained
from toolwright.shell.state.state import Field

_LISTING = "-a --all -f: --filter: --format: -q --quiet --no-trunc -n: --last: -l --latest -s --size --digests --tree"
_FOLLOWING = "-f --follow -n: --tail: --since: --until: -t --timestamps --details"
_RUN = (
    "-d --detach -i --interactive -t --tty --rm -e: --env: --env-file< -p: --publish: -P --publish-all --name: -w:"
    " --workdir: -u: --user: -v: --volume: --mount: --network: --net: -h: --hostname: --entrypoint: -l: --label:"
    " --platform: --pull: -q --quiet -m: --memory: --cpus: --init --restart: --read-only --tmpfs: --shm-size: --expose:"
    " --add-host: --dns: --link: --stop-timeout: --stop-signal: --health-cmd: --health-interval: --no-healthcheck"
    " --cidfile> --log-driver: --sig-proxy: --pids-limit: --cap-drop: --volumes-from: --network-alias:"
)
_BUILD = (
    "-t: --tag: -f< --file< --build-arg: --target: --no-cache --pull -q --quiet --progress: --platform: --label:"
    " --cache-from: --network: --rm --force-rm --load --push --iidfile> --metadata-file> --no-cache-filter:"
    " --shm-size: --squash --check --call: --provenance: --sbom:"
)
_MANY = "-f: --filter: --format: -q --quiet -a --all --no-trunc"
_OF = {
    **dict.fromkeys(("ps", "container ls", "container ps", "container list"), _LISTING),
    **dict.fromkeys(("images", "image ls", "image list"), _LISTING),
    **dict.fromkeys(("logs", "container logs"), _FOLLOWING),
    **dict.fromkeys(("inspect", "container inspect", "image inspect"), "-f: --format: -s --size --type:"),
    **dict.fromkeys(("network inspect", "volume inspect"), "-f: --format: -v --verbose"),
    **dict.fromkeys(("network ls", "volume ls", "context ls", "plugin ls"), _MANY),
    **dict.fromkeys(("version", "info", "system info"), "-f: --format:"),
    **dict.fromkeys(("history", "image history"), "-H --human --format: -q --quiet --no-trunc"),
    **dict.fromkeys(("pull", "image pull"), "-a --all-tags --platform: -q --quiet --disable-content-trust"),
    **dict.fromkeys(("stats", "container stats"), "-a --all --format: --no-stream --no-trunc"),
    **dict.fromkeys(("top", "container top", "diff", "container diff", "port", "container port", "wait"), ""),
    **dict.fromkeys(("start", "container start"), "-a --attach -i --interactive"),
    **dict.fromkeys(("stop", "restart", "container stop", "container restart"), "-t: --time: --timeout: -s: --signal:"),
    **dict.fromkeys(("tag", "image tag", "rename", "pause", "unpause"), ""),
    **dict.fromkeys(
        ("network create", "volume create"), "-d: --driver: --label: --name: --subnet: --gateway: --internal"
    ),
    **dict.fromkeys(("build", "image build", "buildx build"), _BUILD),
    **dict.fromkeys(("run", "container run", "create", "container create"), _RUN),
    **dict.fromkeys(
        ("exec", "container exec"),
        "-d --detach -i --interactive -t --tty -e: --env: --env-file< -u: --user: -w: --workdir:",
    ),
    **dict.fromkeys(("events", "system events"), "-f: --filter: --format: --since: --until:"),
    **dict.fromkeys(("system df", "builder du", "buildx du"), "-v --verbose --format: --filter:"),
    "search": "-f: --filter: --format: --limit: --no-trunc",
    "buildx ls": "--format: --no-trunc",
}
_COMPOSE = {
    "ps": f"{_LISTING} --services --status: --orphans",
    "ls": _MANY,
    "logs": f"{_FOLLOWING} --no-color --no-log-prefix --index:",
    "config": "-q --quiet --services --volumes --images --profiles --format: --no-interpolate --hash: --environment",
    "images": "-q --quiet --format:",
    "top": "",
    "port": "--index: --protocol:",
    "version": "-f: --format: --short",
    "build": "--build-arg: --no-cache --pull --push -q --quiet --progress: --with-dependencies -m: --memory: --check",
    "pull": "-q --quiet --ignore-pull-failures --include-deps --policy: --ignore-buildable",
    "up": "-d --detach --build --no-build --pull: --force-recreate --no-recreate --no-deps --remove-orphans --wait"
    " --wait-timeout: -t: --timeout: --scale: --abort-on-container-exit --exit-code-from: --attach: --no-attach:"
    " --no-log-prefix --no-color --quiet-pull -V --renew-anon-volumes --always-recreate-deps --no-start --timestamps",
    "down": "--remove-orphans -t: --timeout:",
    "start": "--wait",
    "stop": "-t: --timeout:",
    "restart": "-t: --timeout: --no-deps",
    "exec": "-d --detach -T --no-TTY -e: --env: -u: --user: -w: --workdir: --index: -i --interactive -t --tty",
    "run": "-d --detach --rm -T --no-TTY -e: --env: -u: --user: -w: --workdir: --name: --no-deps --build -i"
    " --interactive --entrypoint: -l: --label: -p: --publish: -P --service-ports --use-aliases --quiet-pull"
    " --remove-orphans -v: --volume:",
    "watch": "--no-up --quiet --prune",
    "events": "--json --since: --until:",
}
_GLOBAL = "--project-name: -p: -f< --file< --profile: --env-file< --ansi: --progress: --parallel: --compatibility"
_GROUPS = names("container image network volume system builder buildx context plugin")
_INSIDE = ("run", "exec", "create", "container run", "container exec", "container create")
"""Subcommands with a command of their own after the first operand, for a machine that is not this one."""
_REACHING = ("host", "container:")
"""Networks and the like that are not the container's own."""


def container(effects: Effects, arguments: Sequence[Field]) -> None:
    """Of `-v here:there` the first is a path of this machine, of which the container can do with all what it likes."""
    effects.unlisted = True
    arguments = [_without_equals(one) for one in arguments]
    if not arguments or not all(one.exact for one in arguments[:1]):
        effects.doubts.append(Contained("This call of `docker` is not among what is known to be harmless."))
        return
    if arguments[0].text == "compose":
        _compose(effects, arguments[1:])
        return
    if arguments[0].text in ("--version", "-v", "--help", "help"):
        return
    grouped = arguments[0].text in _GROUPS and len(arguments) > 1
    name = " ".join(one.text for one in arguments[: 2 if grouped else 1])
    if name not in _OF:
        _doubt(effects, f"docker {name}")
        _read_words(effects, arguments)
        return
    _take(effects, name, arguments[2 if grouped else 1 :], f"docker {name}", _OF[name])


def _without_equals(argument: Field) -> Field:
    """Write `-v=value` as `-vvalue`, which means the same to these programs."""
    texts = tuple(_EQUALS.sub(r"\1", text) for text in argument.texts)
    return replace(argument, spelled=_EQUALS.sub(r"\1", argument.spelled), texts=texts)


_EQUALS = re.compile(r"^(-[a-zA-Z]+)=")


def _compose(effects: Effects, arguments: Sequence[Field]) -> None:
    """Its own options come before the subcommand."""
    position = _first_operand(arguments, _GLOBAL)
    take_options(effects, "docker compose", arguments[:position], _GLOBAL, in_full=True)
    name = arguments[position].text if position < len(arguments) else ""
    if name not in _COMPOSE:
        _doubt(effects, f"docker compose {name}".strip())
        _read_words(effects, arguments)
        return
    _take(effects, name, arguments[position + 1 :], f"docker compose {name}", _COMPOSE[name])


def _take(effects: Effects, name: str, arguments: Sequence[Field], command: str, known: str) -> None:
    inside = name in _INSIDE
    # What comes after the image is for the container.
    own = arguments[: _first_operand(arguments, known) + 1] if inside else arguments
    parsed = take_options(effects, command, own, known, in_full=True)
    for operand in () if inside else parsed.operands:
        effects.touch("read", *paths_in(operand))
        effects.touch("mention", *([operand] if operand.known and "build" in name else []))
    for value in parsed.values("-v", "--volume", "--mount"):
        effects.touch("read", *_mounted(value))
        effects.touch("within", *(() if _is_read_only(value) else _mounted(value)))
    for value in parsed.values("--network", "--net", "--volumes-from"):
        if not value.exact or value.text.startswith(_REACHING):
            _doubt(effects, f"{command} with {value.spelled}")


def _first_operand(arguments: Sequence[Field], known: str) -> int:
    """Return the place of the first word that is neither an option nor the value of one."""
    takes_value = {word[:-1] for word in known.split() if word[-1] in ":<>"}
    waiting = False
    for position, argument in enumerate(arguments):
        text = argument.spelled
        if waiting:
            waiting = False
        elif text.startswith("-") and text != "-":
            waiting = text in takes_value or (text[:2] != "--" and f"-{text[-1]}" in takes_value and len(text) > 2)
        else:
            return position
    return len(arguments)


def _mounted(value: Field) -> list[Field]:
    """The folder that is mounted; a bare name is a volume."""
    if not value.exact:
        return [] if value.known else [value]
    source = next((one.partition("=")[2] for one in value.text.split(",") if one.startswith(("source=", "src="))), "")
    path = source or value.text.partition(":")[0]
    return [Field(path, (path,))] if path.startswith(("/", ".", "~")) else []


def _is_read_only(value: Field) -> bool:
    return value.exact and (value.text.endswith(":ro") or bool({"ro", "readonly"} & set(value.text.split(","))))


def _read_words(effects: Effects, arguments: Sequence[Field]) -> None:
    for argument in arguments:
        option, equals, _ = argument.spelled.partition("=")
        effects.touch("read", *paths_in(tail(argument, len(option) + 1) if equals else argument))


def _doubt(effects: Effects, what: str) -> None:
    effects.doubts.append(Contained(f"`{what}` is not among what is known to be harmless."))


CONTAINERS: Mapping[str, Handler] = dict.fromkeys(["docker", "podman"], container)
