"""Files of the machine that every program reads and that hold no secret: reading them needs nobody's leave."""

import errno
import os
import posixpath
import re

_OPEN = re.compile(
    r"/etc/(?:[\w-]*release|issue|debian_version|hostname|hosts|timezone|localtime|shells|resolv\.conf"
    r"|nsswitch\.conf|protocols|services|mime\.types|ssl/certs(?:/.*)?|ca-certificates(?:/.*)?|locale\.\w+"
    r"|fstab|passwd|group|alternatives(?:/.*)?)|/proc/(?:cpuinfo|meminfo|version|loadavg|uptime|stat"
    r"|filesystems|mounts|swaps|partitions|diskstats|devices|"
    r"(?:self|\d+)/(?:status|limits|cgroup|mounts|mountinfo|stat|statm|comm|cmdline)|sys/(?:kernel|vm|fs|net)/[\w/.-]+)"
    r"|/sys/(?:class|devices|fs/cgroup|block|kernel)(?:/.*)?"
    r"|/usr/(?:bin|sbin|lib|lib64|include|share|libexec|local)(?:/.*)?|/(?:bin|sbin|lib|lib64)(?:/.*)?|/opt"
)
"""Files of the machine that every program reads and that hold no secret."""
_FOR_EVERYBODY = ("/etc", "/var/log")
"""Folders of the machine's settings and reports: its own permissions say what is not for everybody."""
_LITERAL = re.compile(r"[\w./@+:=,%-]+")


def is_open_to_all(path: str, canonical: str) -> bool:
    """Tell whether everybody may read it, by the name it was given and by the one it has."""
    if ".." in path:
        return False
    if _OPEN.fullmatch(path) and path.startswith(("/proc/", "/sys/")):
        return True
    known = _OPEN.fullmatch(canonical) is not None
    if _OPEN.fullmatch(path):
        return known
    if not _LITERAL.fullmatch(path):
        return False
    return _leads_nowhere(path) or (_is_public(path) and (known or _is_public(canonical)))


def _is_public(path: str) -> bool:
    """Tell whether every user of the machine may read a file of the machine's, which is no folder."""
    if not path.startswith(tuple(f"{folder}/" for folder in _FOR_EVERYBODY)):
        return False
    above = path
    try:
        if not os.stat(path).st_mode & 0o004 or os.path.isdir(path):  # noqa: PTH112, PTH116 - text
            return False
        while (above := posixpath.dirname(above)) != "/":
            if not os.stat(above).st_mode & 0o001:  # noqa: PTH116 - text
                return False
    except OSError as problem:
        return problem.errno == errno.ENOENT
    return True


def _leads_nowhere(path: str) -> bool:
    """Tell whether not even the first folder is there, as of a path in a container or of a route of a server."""
    first = "/".join(path.split("/", 2)[:2])
    return len(path) > len(first) > 1 and not os.path.lexists(first)
