"""Runs attempts.py in a box, in a machine whose only way out is a wire that counts: `counted.py RUNG PROJECT`.

It is started in a network namespace of its own, where it makes the wire, and prints what the wire has carried before
and after, and what the attempts say.
"""

import asyncio
import json
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, cast

from tests.attacks.network import attempts
from tests.network.ground import ASKS, open_network
from toolwright.network.outward import Outward

OUTSIDE = "203.0.113.9"


def main(rung: str, project: str) -> None:
    for words in (
        "link set lo up",
        "link add wire type veth peer name far",
        "link set wire addrgenmode none",
        "link set far addrgenmode none",
        "address add 203.0.113.1/24 dev wire",
        "neighbour add 203.0.113.2 lladdr 02:00:00:00:00:01 dev wire",
        "link set wire up",
        "link set far up",
        "route add default via 203.0.113.2",
    ):
        subprocess.run(["/usr/sbin/ip", *words.split()], check=True)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        one.sendto(b"outside of every box", ("198.51.100.1", 4000))
    control = _carried()
    said = asyncio.run(_tried(rung, Path(project)))
    sys.stdout.write(json.dumps({"control": control, "said": said, "more": _carried() - control}) + "\n")


async def _tried(rung: str, project: Path) -> str:
    nameless = socket.socket(socket.AF_UNIX)
    nameless.bind(f"\0{attempts.SECRET}")
    nameless.listen()
    service = socket.create_server(("0.0.0.0", 0))
    threading.Thread(target=_serve, args=(service,), daemon=True).start()
    script = Path(attempts.__file__).read_text("utf-8")
    (project / "attempts.py").write_text(script)
    async with open_network(project, ASKS, rung=cast("Any", rung), world=Outward()) as shell:
        result = await shell.bash(f"/usr/bin/python3 attempts.py {OUTSIDE} {service.getsockname()[1]}")
    return result.output


def _serve(service: socket.socket) -> None:
    while True:
        one, _ = service.accept()
        with one:
            one.sendall(b"HTTP/1.0 200 OK\r\n\r\n")


def _carried() -> int:
    return int(Path("/sys/class/net/wire/statistics/tx_packets").read_text())


if __name__ == "__main__":
    main(*sys.argv[1:])
