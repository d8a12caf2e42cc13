"""Public addresses of the internet, told from this machine's, its network's and unused ones."""

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

Address = IPv4Address | IPv6Address

_NOT_PUBLIC = tuple(
    IPv4Network(block)
    for block in (
        "0.0.0.0/8",  # this machine
        "10.0.0.0/8",
        "100.64.0.0/10",  # shared by a provider's customers; metadata of some clouds
        "127.0.0.0/8",
        "168.63.129.16/32",  # metadata of a cloud, though in a public block
        "169.254.0.0/16",  # link-local; metadata of most clouds
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",
        "192.88.99.0/24",
        "192.168.0.0/16",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/3",  # multicast and reserved
    )
)
_PUBLIC = IPv6Network("2000::/3")
_SPECIAL = tuple(
    IPv6Network(block)
    for block in (
        "2001::/23",  # tunnels and tests
        "2001:db8::/32",
        "2002::/16",  # IPv4 inside, by way of relays
        "3fff::/20",
    )
)
# Addresses that stand for an IPv4 address, which is in their last four bytes.
_MAPPED = tuple(IPv6Network(block) for block in ("::ffff:0:0/96", "64:ff9b::/96"))


def is_public(address: Address) -> bool:
    """Tell whether the address is one that anybody on the internet may have."""
    if isinstance(address, IPv6Address):
        if any(address in block for block in _MAPPED):
            return is_public(inner(address))
        return address in _PUBLIC and not any(address in block for block in _SPECIAL)
    return not any(address in block for block in _NOT_PUBLIC)


def inner(address: Address) -> Address:
    """The IPv4 address that an IPv6 address stands for, or the address itself."""
    if isinstance(address, IPv6Address) and any(address in block for block in _MAPPED):
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address
