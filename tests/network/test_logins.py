"""What commands log in by: the ssh agent and git's logins, for hosts that they have reached, and never the keys."""

import base64
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import CGIHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from tests.network.ground import ASKS, RUNGS, Elsewhere, Rung, echo, open_network, serving
from toolwright.network.credentials import credentials
from toolwright.permission.rules import Rule

LOGIN = "ada:s3cret"
SHOP = Rule("network", "git.test", "allow")
pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


@contextmanager
def _repository(folder: Path) -> Iterator[int]:
    """A repository that asks for a login, by git's own server; yields its port."""
    bare = folder / "x.git"
    subprocess.run(["git", "init", "-q", "--bare", str(bare)], check=True)
    subprocess.run(["git", "-C", str(bare), "config", "http.receivepack", "true"], check=True)
    backend = Path(subprocess.check_output(["git", "--exec-path"], text=True).strip()) / "git-http-backend"

    class Handler(CGIHTTPRequestHandler):
        have_fork = True

        def is_cgi(self) -> bool:
            wanted = base64.b64encode(LOGIN.encode()).decode()
            self.is_known = self.headers.get("Authorization") == f"Basic {wanted}"
            return True

        def run_cgi(self) -> None:
            if not self.is_known:
                self.send_response(401)
                self.send_header("WWW-Authenticate", "Basic realm=here")
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            path, _, query = self.path.partition("?")
            env = {
                "GIT_PROJECT_ROOT": str(folder),
                "GIT_HTTP_EXPORT_ALL": "1",
                "PATH_INFO": path,
                "QUERY_STRING": query,
                "REQUEST_METHOD": self.command,
                "CONTENT_TYPE": self.headers.get("Content-Type", ""),
                "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
                "REMOTE_USER": "ada",
            }
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            out = subprocess.run([str(backend)], env=env, input=body, stdout=subprocess.PIPE, check=True).stdout
            head, _, content = out.partition(b"\r\n\r\n")
            self.send_response(200)
            for line in head.decode().splitlines():
                name, _, value = line.partition(": ")
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()


def _keep_login(home: Path) -> None:
    home.mkdir(parents=True, exist_ok=True)
    (home / ".git-credentials").write_text(f"http://{LOGIN}@git.test\n")
    (home / ".gitconfig").write_text("[credential]\n\thelper = store\n")


@pytest.mark.parametrize("rung", RUNGS)
async def test_git_logs_in_by_the_users_own_helper_for_a_host_that_it_has_reached(
    project: Path, tmp_path: Path, rung: Rung
) -> None:
    world = Elsewhere()
    with _repository(tmp_path) as port:
        async with open_network(project, ASKS, SHOP, rung=rung, world=world) as shell:
            world.ports["git.test:80"] = port
            _keep_login(shell.workspace.folders.home)
            result = await shell.bash(
                "git clone -q http://git.test/x.git copy && cd copy && git -c user.name=a -c user.email=b commit -q"
                " --allow-empty -m one && git push -q origin HEAD:main && git fetch && git log --format=%s origin/main"
            )
            assert result.output.endswith("one\n"), result.output
            (project / "ask").write_text('printf "protocol=http\\nhost=$1\\n\\n" | git credential fill\n')
            asked = await shell.bash("sh ask git.test")
            assert "s3cret" in asked.output
            other = await shell.bash("sh ask other.test")
            assert "git was given no login for http://other.test/: this session has not reached it" in other.output


SIGN = """
import os, socket, struct, sys
def text(*parts): return b"".join(struct.pack(">I", len(one)) + one for one in parts)
def say(agent, body):
    agent.sendall(text(body))
    size = struct.unpack(">I", agent.recv(4))[0]
    answer = b""
    while len(answer) < size:
        answer += agent.recv(size - len(answer))
    return answer
agent = socket.socket(socket.AF_UNIX)
agent.connect(os.environ["SSH_AUTH_SOCK"])
listed = say(agent, b"\\x0b")
size = struct.unpack(">I", listed[5:9])[0]
key, host, session = listed[9:9 + size], bytes.fromhex(sys.argv[1]), b"s" * 32
if host:
    say(agent, b"\\x1b" + text(b"session-bind@openssh.com", host, session, b"") + b"\\0")
data = text(session) + b"\\x32" + text(b"ada", b"ssh-connection", b"publickey") + b"\\1" + text(b"ssh-ed25519", key)
print("signed" if say(agent, b"\\x0d" + text(key, data) + bytes(4))[0] == 14 else "not signed")
"""


async def test_the_ssh_agent_signs_for_hosts_that_are_known_and_reached_and_for_no_other(project: Path) -> None:
    world = Elsewhere()
    async with (
        serving(echo) as port,
        open_network(project, ASKS, Rule("network", "git.test:22", "allow"), world=world) as shell,
    ):
        world.ports["git.test:22"] = port
        keys = shell.workspace.folders.home / ".ssh"
        keys.mkdir(parents=True)
        for name in ("id_ed25519", "host"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(keys / name)], check=True)
        kind, blob, *_ = (keys / "host.pub").read_text().split()
        (keys / "known_hosts").write_text(f"git.test {kind} {blob}\nother.test {kind} {_other(blob)}\n")
        (project / "sign.py").write_text(SIGN)
        known, other = (base64.b64decode(one).hex() for one in (blob, _other(blob)))
        assert "not signed" in (await shell.bash(f"python3 sign.py {known}")).output
        reach = "python3 -c 'import socket; socket.create_connection((\"git.test\", 22)).close()'"
        await shell.bash(reach)
        assert (await shell.bash(f"python3 sign.py {known}")).output == "signed\n"
        assert "not signed" in (await shell.bash(f"python3 sign.py {other}")).output
        unbound = await shell.bash("python3 sign.py ''")
        assert "the client has not bound the session to a host" in unbound.output
        assert keys / "id_ed25519" in credentials(shell.workspace.folders.home)
        assert keys / "id_ed25519.pub" not in credentials(shell.workspace.folders.home)


def _other(blob: str) -> str:
    data = base64.b64decode(blob)
    return base64.b64encode(data[:-1] + bytes([data[-1] ^ 1])).decode()
