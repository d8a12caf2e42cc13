"""Destinations that the user's own clients are set up to reach: package managers, git, the system's sources.

No host name of a registry is written here: each client, or its own file, says which it uses. A file that commands may
write says nothing: with it they would open ways out for those that come after them.
"""

import asyncio
import re
import tomllib
import zipfile
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from toolwright.machine.plain_files import read_start
from toolwright.network.destination import Destination
from toolwright.network.known import KnownDestination, Level
from toolwright.process.programs.lookup import Lookup
from toolwright.process.running.child import run_child
from toolwright.protocols.json_text import read_json
from toolwright.record import record

PATIENCE = 20.0
"""Seconds that a client may take to say what it is set up with."""
LARGEST = 1_000_000
"""Bytes of a file of settings that are read."""


@record(frozen=True, slots=True, kw_only=True)
class ClientSurroundings:
    """Surroundings of the clients that are asked."""

    root: Path
    """The project."""
    home: Path
    environment: Mapping[str, str]
    lookup: Lookup
    system: Path = Path("/etc")


class KnownDestinations:
    """Destinations that the clients name, asked once and when first wanted; one for each workspace."""

    def __init__(self, around: ClientSurroundings) -> None:
        self._around = around
        self._asked: asyncio.Task[list[KnownDestination]] | None = None

    async def all(self) -> list[KnownDestination]:
        """Return all there are."""
        if self._asked is None:
            self._asked = asyncio.ensure_future(ask_clients(self._around))
        return await asyncio.shield(self._asked)

    async def close(self) -> None:
        """End the clients that are still asked."""
        if self._asked is not None:
            self._asked.cancel()
            await asyncio.wait([self._asked])


async def ask_clients(around: ClientSurroundings) -> list[KnownDestination]:
    """Ask all clients that are installed, side by side. One that fails or takes too long has nothing to say."""
    asked: list[Callable[[ClientSurroundings], Awaitable[list[KnownDestination]]]] = [
        _pip,
        _npm,
        _go,
        _gem,
        _maven,
        _git,
    ]
    answers = await asyncio.gather(*(ask(around) for ask in asked))
    destinations = [one for answer in answers for one in answer]
    destinations += await asyncio.to_thread(lambda: [*_uv(around), *_cargo(around), *_yarn(around), *_apt(around)])
    return list({(one.destination, one.client, one.setting): one for one in destinations}.values())


async def _output_of(around: ClientSurroundings, name: str, *arguments: str, cwd: Path | None = None) -> str:
    """Return what a client prints. It runs at home, where the project's own settings are not in effect; where commands
    write in the home folder too, it is not asked."""
    program = around.lookup.find(name)
    if program is None or around.lookup.fault(str(around.home)):
        return ""
    env = around.lookup.around(around.environment)
    try:
        ran = await run_child([program, *arguments], seconds=PATIENCE, cwd=cwd or around.home, env=env)
    except (OSError, TimeoutError):
        return ""
    return ran.out.decode("utf-8", "replace") if ran.code == 0 else ""


def _all(client: str, settings: Iterable[tuple[str, str]], level: Level = "user") -> list[KnownDestination]:
    """Return the destinations of settings, of which each is a name and a URL; what leads nowhere is left out."""
    pairs = ((setting, Destination.of_url(url)) for setting, url in settings)
    return [
        KnownDestination(destination=place, client=client, setting=setting, level=level)
        for setting, place in pairs
        if place is not None
    ]


_URL = re.compile(r"\b[a-z][a-z0-9+.-]*://[^\s'\"<>)]+", re.IGNORECASE)
_PIP_INDEX = re.compile(r"--index-url <url>.*?\(default\s+(\S+?)\)", re.DOTALL)
_PIP_SETTING = re.compile(r"^[\w:.-]*?\.(?P<name>index-url|extra-index-url|find-links)='(?P<value>.*)'$", re.MULTILINE)
_PIP_FILES = re.compile(r"PackageIndex\(\s*\"(?P<url>[^\"]+)\",\s*file_storage_domain=\"(?P<files>[^\"]+)\"")


async def _pip(around: ClientSurroundings) -> list[KnownDestination]:
    """Its help tells the index in use, its settings the further ones, its own code where that index keeps its files."""
    helped, listed, version = await asyncio.gather(
        _output_of(around, "pip", "install", "--help"),
        _output_of(around, "pip", "config", "list"),
        _output_of(around, "pip", "--version"),
    )
    settings = [("index-url", match[1]) for match in _PIP_INDEX.finditer(helped)]
    for match in _PIP_SETTING.finditer(listed):
        settings += ((match["name"], url) for url in match["value"].split())
    known = _all("pip", settings)
    code = version.partition(" from ")[2].rpartition(" (")[0]
    index = {one.destination.host for one in known}
    for match in _PIP_FILES.finditer(_file_text(around, Path(code, "_internal/models/index.py")) if code else ""):
        if (place := Destination.of_url(match["url"])) and place.host in index:
            known += _all("pip", [("where the index keeps its files", f"https://{match['files']}/")])
    return known


async def _npm(around: ClientSurroundings) -> list[KnownDestination]:
    settings = _json(await _output_of(around, "npm", "config", "list", "--json"))
    named = ((name, str(value)) for name, value in settings.items() if name.split(":")[-1] == "registry")
    return _all("npm", named)


async def _go(around: ClientSurroundings) -> list[KnownDestination]:
    settings = _json(await _output_of(around, "go", "env", "-json", "GOPROXY", "GOSUMDB"))
    proxies = [url for url in re.split(r"[,|]", str(settings.get("GOPROXY", ""))) if "://" in url]
    checks = [name for name in str(settings.get("GOSUMDB", "")).split()[:1] if "." in name]
    sums = [name.partition("+")[0] for name in checks]
    return _all("go", [*(("GOPROXY", url) for url in proxies), *(("GOSUMDB", f"https://{name}/") for name in sums)])


async def _gem(around: ClientSurroundings) -> list[KnownDestination]:
    return _all("gem", (("sources", url) for url in _URL.findall(await _output_of(around, "gem", "sources", "--list"))))


async def _maven(around: ClientSurroundings) -> list[KnownDestination]:
    """The repository that every project has comes with Maven's own library; mirrors are in the user's settings."""
    settings = [("settings.xml", url) for url in _tagged(_file_text(around, around.home / ".m2/settings.xml"))]
    home = re.search(r"^Maven home: (.+)$", await _output_of(around, "mvn", "--version"), re.MULTILINE)
    for library in sorted(Path(home[1], "lib").glob("maven-model-builder-*.jar"))[:1] if home else ():
        try:
            with zipfile.ZipFile(library) as jar:
                text = jar.read("org/apache/maven/model/pom-4.0.0.xml").decode("utf-8", "replace")
        except (OSError, KeyError, zipfile.BadZipFile):
            continue
        settings += (("the repository of every project", url) for url in _tagged(text))
    return _all("maven", settings)


def _tagged(text: str) -> list[str]:
    return re.findall(r"<url>\s*([^<\s]+)\s*</url>", text)


async def _git(around: ClientSurroundings) -> list[KnownDestination]:
    """The project's remotes, with what git makes of them; of ssh's short names, ssh says what they stand for."""
    listed = await _output_of(around, "git", "-C", str(around.root), "remote", "-v")
    remotes = dict.fromkeys(tuple(line.split()[:2]) for line in listed.splitlines() if len(line.split()) >= 2)
    destinations = _all("git", ((f"remote {name}", url) for name, url in remotes), "project")
    return [await _as_ssh_says(around, one) if one.destination.port == _SSH else one for one in destinations]


_SSH = 22


async def _as_ssh_says(around: ClientSurroundings, remote: KnownDestination) -> KnownDestination:
    settings_of_host = await _output_of(around, "ssh", "-G", "--", remote.destination.host)
    named = dict(line.split(" ", 1) for line in settings_of_host.splitlines() if " " in line)
    if not named.get("hostname") or not named.get("port", "").isdecimal():
        return remote
    place = Destination.of(named["hostname"], int(named["port"]))
    return KnownDestination(destination=place, client=remote.client, setting=remote.setting, level=remote.level)


def _uv(around: ClientSurroundings) -> list[KnownDestination]:
    names = ("UV_DEFAULT_INDEX", "UV_INDEX_URL", "UV_INDEX", "UV_EXTRA_INDEX_URL", "UV_FIND_LINKS")
    settings = [(name, url.rpartition("=")[2]) for name in names for url in around.environment.get(name, "").split()]
    config = _toml(around, _config_home(around) / "uv/uv.toml")
    settings += (("uv.toml", str(config[key])) for key in ("index-url", "default-index") if key in config)
    settings += (("uv.toml", str(one.get("url", ""))) for one in _records(config.get("index")))
    return _all("uv", settings)


def _cargo(around: ClientSurroundings) -> list[KnownDestination]:
    """Return the indexes in its file. Those that it has used stand among what commands fetch, and prove nothing."""
    home = Path(around.environment.get("CARGO_HOME") or around.home / ".cargo")
    config = _toml(around, home / "config.toml") or _toml(around, home / "config")
    settings = list[tuple[str, str]]()
    for table, key in (("registries", "index"), ("source", "registry")):
        named = config.get(table)
        for name, index in named.items() if isinstance(named, dict) else ():
            if isinstance(index, dict) and isinstance(index.get(key), str):
                settings.append((f"{table}.{name}", index[key].removeprefix("sparse+")))
    return _all("cargo", settings)


def _yarn(around: ClientSurroundings) -> list[KnownDestination]:
    urls = re.findall(
        r"^\s*npmRegistryServer:\s*[\"']?([^\"'\s]+)", _file_text(around, around.home / ".yarnrc.yml"), re.MULTILINE
    )
    return _all("yarn", (("npmRegistryServer", url) for url in urls))


def _apt(around: ClientSurroundings) -> list[KnownDestination]:
    folder = around.system / "apt"
    lists = [folder / "sources.list", *_entries(folder / "sources.list.d")]
    settings = list[tuple[str, str]]()
    for file in lists:
        lines = _file_text(around, file).splitlines() if file.suffix in (".list", ".sources") else ()
        entries = (line for line in lines if line.startswith(("deb ", "deb-src ", "URIs:")))
        settings += ((file.name, url) for line in entries for url in _URL.findall(line))
    return _all("apt", settings)


def _config_home(around: ClientSurroundings) -> Path:
    folder = around.environment.get("XDG_CONFIG_HOME")
    return Path(folder) if folder else around.home / ".config"


def _entries(folder: Path) -> Iterator[Path]:
    try:
        yield from sorted(folder.iterdir())
    except OSError:
        return


def _file_text(around: ClientSurroundings, file: Path) -> str:
    """Return what a file holds; nothing of one that commands may write."""
    return "" if around.lookup.fault(str(file)) else read_start(file, LARGEST).decode("utf-8", "replace")


def _json(text: str) -> Mapping[str, Any]:
    try:
        value = read_json(text or "{}")
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _toml(around: ClientSurroundings, file: Path) -> Mapping[str, Any]:
    try:
        return tomllib.loads(_file_text(around, file))
    except (tomllib.TOMLDecodeError, RecursionError):
        return {}


def _records(value: object) -> Iterator[Mapping[str, Any]]:
    yield from (one for one in value if isinstance(one, dict)) if isinstance(value, list) else ()
