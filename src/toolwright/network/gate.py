"""The network of a session where there are no namespaces: a port of ours, for leaders or for programs themselves."""

import hmac
import ipaddress
import secrets
from collections.abc import Mapping, Sequence
from typing import Final, Literal

from toolwright.machine.own_ports import listen_for_leaders
from toolwright.process.keeper.gate import PREAMBLE
from toolwright.process.keeper.order import GateOrder
from toolwright.process.running.network_namespaces import Handed

NAMES_BY_CONNECTION: Final = {"RES_OPTIONS": "use-vc"}
"""Has programs ask for names by connections, which can be led here, and not by datagrams."""
_PROXIED: Final = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "GRPC_PROXY")
_DIRECT: Final = "localhost,127.0.0.1,::1"
"""Addresses that programs reach without the proxy. Private networks have no other way to them, and are not among it."""
_ANYWHERE: Final = ("0.0.0.0", "::")  # noqa: S104 - what programs connect to that mean this machine


class GatePlace:
    """Stands where a namespace would be: the socket that the door accepts on."""

    descriptor = None

    def __init__(self, by: Literal["gate", "proxy"]) -> None:
        """At a `gate` the leaders of commands connect, at a `proxy` programs that know of it."""
        listening = listen_for_leaders()
        port = int(listening.getsockname()[1])
        self.sockets: Sequence[Handed] = ((by, listening),)
        self.gate: GateOrder | None = None
        self.variables: Mapping[str, str] = proxied_by(port)
        self.door = port if by == "proxy" else 0
        if by == "gate":
            self.gate = {"port": port, "secret": secrets.token_hex(32)}
            self.variables = NAMES_BY_CONNECTION

    async def further(self, *, ports: Sequence[int] = (), plain: int = 0) -> list[Handed]:
        """Return nothing: services of this machine are reached as they are wanted."""
        del ports, plain
        return []

    def close(self) -> None:
        """Take no more."""
        for _, listener in self.sockets:
            listener.close()


def proxied_by(port: int) -> Mapping[str, str]:
    """Return the variables by which programs that know proxies give us the name of a host, and show refusals."""
    http = f"http://127.0.0.1:{port}"
    return {
        **{spelled: http for name in _PROXIED for spelled in (name, name.lower())},
        **dict.fromkeys(("FTP_PROXY", "ftp_proxy"), f"socks5h://127.0.0.1:{port}"),
        **dict.fromkeys(("NO_PROXY", "no_proxy"), _DIRECT),
        "RSYNC_PROXY": f"127.0.0.1:{port}",
        "NODE_USE_ENV_PROXY": "1",
    }


def read_preamble(data: bytes, gate: GateOrder) -> tuple[str, int] | None:
    """Return the address and port that a leader says a program wants; None if it is no leader that says so."""
    secret, host, port = PREAMBLE.unpack(data)
    if not hmac.compare_digest(secret, gate["secret"].encode()):
        return None
    address = ipaddress.ip_address(host.rstrip(b"\0").decode("ascii"))
    mapped = getattr(address, "ipv4_mapped", None)
    return str(mapped or address), port


def means_this_machine(host: str) -> bool:
    """Tell whether an address is that of the loopback, or of no machine, by which programs mean their own."""
    return host in _ANYWHERE or ipaddress.ip_address(host).is_loopback
