"""The user's own clients say what they are set up with; no registry is known by name."""

import asyncio
import json
import zipfile
from pathlib import Path

import pytest

from toolwright.network import clients
from toolwright.network.clients import ClientSurroundings, ask_clients
from toolwright.network.destination import Destination
from toolwright.network.known import KnownDestination
from toolwright.process.programs.lookup import Lookup
from toolwright.process.running.child import run_child_sync


class Machine:
    """A home folder and a PATH with clients that print what they are told to."""

    def __init__(self, tmp_path: Path) -> None:
        self.bin, self.home, self.system, self.root = (tmp_path / name for name in ("bin", "home", "etc", "project"))
        for folder in (self.bin, self.home, self.system, self.root):
            folder.mkdir()

    def client(self, name: str, **printed: str) -> None:
        cases = "".join(
            f"*'{words.replace('_', ' ')}'*) cat <<'END'\n{text}\nEND\n;;\n" for words, text in printed.items()
        )
        script = self.bin / name
        script.write_text(f'#!/bin/sh\ncase " $* " in\n{cases}*) exit 1;;\nesac\n')
        script.chmod(0o755)

    def file(self, name: str, text: str) -> None:
        place = self.home / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)

    def asked(self, *writable: Path, **variables: str) -> list[KnownDestination]:
        """Ask all of them, with places where commands write."""
        around = ClientSurroundings(
            root=self.root,
            home=self.home,
            environment={"PATH": f"{self.bin}:/usr/bin:/bin", "HOME": str(self.home), **variables},
            lookup=Lookup(f"{self.bin}:/usr/bin:/bin", writable=writable),
            system=self.system,
        )
        return asyncio.run(ask_clients(around))

    def reached(self, client: str, *writable: Path, **variables: str) -> set[str]:
        return {str(one.destination) for one in self.asked(*writable, **variables) if one.client == client}


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_pip_says_its_index_further_ones_and_where_the_index_keeps_its_files(machine: Machine, tmp_path: Path) -> None:
    code = tmp_path / "site" / "pip"
    (code / "_internal" / "models").mkdir(parents=True)
    (code / "_internal" / "models" / "index.py").write_text(
        'PyPI = PackageIndex("https://index.test/", file_storage_domain="files.test")\n'
        'TestPyPI = PackageIndex(\n    "https://other.test/", file_storage_domain="other-files.test"\n)\n'
    )
    machine.client(
        "pip",
        install="  -i, --index-url <url>  Base URL of the index (default\n     https://index.test/simple). This",
        config="global.extra-index-url='https://user:key@wheels.test:8443/simple file:///opt/x'\n:env:.timeout='3'",
        version=f"pip 23.2.1 from {code} (python 3.11)",
    )
    assert machine.reached("pip") == {"index.test:443", "wheels.test:8443", "files.test:443"}


def test_an_index_of_the_users_own_takes_the_place_of_the_one_that_pip_comes_with(machine: Machine) -> None:
    machine.client("pip", install="  -i, --index-url <url>  (default http://10.0.0.3:8080/simple).")
    assert machine.reached("pip") == {"10.0.0.3:8080"}


def test_npm_says_its_registry_and_those_of_scopes(machine: Machine) -> None:
    settings = {"registry": "https://npm.test/", "@shop:registry": "http://localhost:4873", "proxy": None}
    machine.client("npm", config_list=json.dumps(settings))
    assert machine.reached("npm") == {"npm.test:443", "localhost:4873"}


def test_go_says_its_proxies_and_its_database_of_sums(machine: Machine) -> None:
    machine.client("go", env=json.dumps({"GOPROXY": "https://a.test,direct|https://b.test:81", "GOSUMDB": "sum.test"}))
    assert machine.reached("go") == {"a.test:443", "b.test:81", "sum.test:443"}
    machine.client("go", env=json.dumps({"GOPROXY": "off", "GOSUMDB": "off"}))
    assert machine.reached("go") == set()


def test_cargo_says_its_registries(machine: Machine) -> None:
    machine.file(".cargo/config.toml", '[registries.shop]\nindex = "sparse+https://crates.shop.test/index/"\n')
    assert machine.reached("cargo") == {"crates.shop.test:443"}


def test_what_commands_put_into_the_store_of_packages_opens_no_way_out(machine: Machine) -> None:
    machine.file(".cargo/registry/index/evil.test-6f17d22bba15001f/config.json", '{"dl": "https://more-evil.test/x"}')
    assert machine.reached("cargo") == set()


def test_a_file_that_commands_may_write_says_nothing(machine: Machine) -> None:
    """Such as one of which a variable says that it lies in the project."""
    machine.file("shared/config.toml", '[registries.shop]\nindex = "sparse+https://crates.shop.test/index/"\n')
    shared = machine.home / "shared"
    assert machine.reached("cargo", CARGO_HOME=str(shared)) == {"crates.shop.test:443"}
    assert machine.reached("cargo", shared, CARGO_HOME=str(shared)) == set()


def test_with_the_home_folder_as_project_no_client_is_asked(machine: Machine) -> None:
    machine.client("npm", config='{"registry": "https://npm.test/"}')
    assert machine.reached("npm") == {"npm.test:443"}
    assert machine.reached("npm", machine.home) == set()


def test_uv_yarn_gem_and_apt_say_theirs(machine: Machine) -> None:
    machine.file(".config/uv/uv.toml", '[[index]]\nurl = "https://uv.test/simple"\n')
    machine.file(".yarnrc.yml", 'npmRegistryServer: "https://yarn.test"\n')
    machine.client("gem", sources="*** CURRENT SOURCES ***\n\nhttps://gems.test/")
    (machine.system / "apt" / "sources.list.d").mkdir(parents=True)
    (machine.system / "apt" / "sources.list").write_text(
        "# deb http://no.test x\ndeb [arch=x] http://deb.test/d x main\n"
    )
    (machine.system / "apt" / "sources.list.d" / "x.sources").write_text("Types: deb\nURIs: https://more.test/d\n")
    assert machine.reached("uv", UV_INDEX="shop=https://shop.test/simple") == {"uv.test:443", "shop.test:443"}
    assert machine.reached("yarn") == {"yarn.test:443"}
    assert machine.reached("gem") == {"gems.test:443"}
    assert machine.reached("apt") == {"deb.test:80", "more.test:443"}


def test_maven_says_its_mirrors_and_the_repository_in_its_library(machine: Machine, tmp_path: Path) -> None:
    machine.file(".m2/settings.xml", "<mirror><url>https://mirror.test/m2</url></mirror>")
    (tmp_path / "maven" / "lib").mkdir(parents=True)
    with zipfile.ZipFile(tmp_path / "maven" / "lib" / "maven-model-builder-3.jar", "w") as jar:
        jar.writestr(
            "org/apache/maven/model/pom-4.0.0.xml", "<repository><url>https://central.test/m</url></repository>"
        )
    machine.client("mvn", version=f"Apache Maven 3\nMaven home: {tmp_path / 'maven'}")
    assert machine.reached("maven") == {"mirror.test:443", "central.test:443"}


def test_remotes_of_the_project_are_known_by_what_git_makes_of_them(machine: Machine) -> None:
    def git(*words: str) -> None:
        done = run_child_sync(["git", "-C", str(machine.root), *words], seconds=20)
        assert done.code == 0, done.err

    git("init", "-q")
    git("config", "url.https://forge.test/.insteadOf", "forge:")
    git("remote", "add", "origin", "forge:me/shop.git")
    git("remote", "add", "backup", "git@backup.test:me/shop.git")
    git("remote", "add", "here", "/srv/shop.git")
    found = [one for one in machine.asked() if one.client == "git"]
    assert {(str(one.destination), one.level) for one in found} == {
        ("forge.test:443", "project"),
        ("backup.test:22", "project"),
    }


def test_of_a_short_name_of_ssh_ssh_says_the_host_and_the_port(machine: Machine) -> None:
    remotes = "origin\twork:me/shop.git (fetch)\nother\tssh://git@odd.test:2222/x (fetch)\nlast\tlone:x.git (fetch)"
    machine.client("git", remote=remotes)
    machine.client(
        "ssh", work="host work\nhostname forge.test\nport 2022", odd="hostname no.test\nport 1", lone="port 22"
    )
    assert machine.reached("git") == {"forge.test:2022", "odd.test:2222", "lone:22"}


def test_a_client_that_hangs_breaks_or_prints_nonsense_has_nothing_to_say(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clients, "PATIENCE", 0.5)
    (machine.bin / "npm").write_text("#!/bin/sh\nsleep 60\n")
    (machine.bin / "npm").chmod(0o755)
    machine.client("pip", install="(default http://[broken/simple)", config="x", version="pip")
    machine.client("go", env="[" * 100_000)
    machine.client("mvn", version="Maven home: /nowhere")
    machine.file(".cargo/config.toml", "= [[[")
    machine.file(".config/uv/uv.toml", "index = 3\n")
    assert machine.asked() == []


@pytest.mark.parametrize(
    ("url", "destination"),
    [
        ("https://User:key@Shop.Test./x", "shop.test:443"),
        ("ssh://git@shop.test:2222/x", "shop.test:2222"),
        ("git+ssh://git@shop.test/x", "shop.test:22"),
        ("git@shop.test:me/x.git", "shop.test:22"),
        ("http://[::1]:8080/x", "[::1]:8080"),
        ("/srv/x:y", None),
        ("./x", None),
        ("file:///srv/x", None),
        ("https://shop.test:99999/", None),
    ],
)
def test_a_url_leads_to_a_host_and_a_port(url: str, destination: str | None) -> None:
    found = Destination.of_url(url)
    assert (None if found is None else str(found)) == destination
