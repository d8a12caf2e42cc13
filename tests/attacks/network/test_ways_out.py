"""No way out of a session's network: not a packet leaves it by anything but the door."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.network.ground import RUNGS

NEEDED = [Path("/usr/bin/unshare"), Path("/usr/sbin/ip"), Path("/usr/bin/python3")]


@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="to count packets takes a wire of our own")
@pytest.mark.skipif(not all(place.exists() for place in NEEDED), reason="the wire is made by ip and unshare")
@pytest.mark.parametrize("rung", RUNGS)
def test_no_packet_leaves_by_any_attempt(project: Path, rung: str) -> None:
    checkout = Path(__file__).parents[3]
    ran = subprocess.run(
        # With its own listing of devices, to count what they carry.
        [
            "/usr/bin/unshare",
            "--net",
            "--mount",
            "/bin/sh",
            "-c",
            'mount -t sysfs sysfs /sys && exec "$@"',
            "sh",
            *(sys.executable, "-m", "tests.attacks.network.counted", rung, str(project)),
        ],
        cwd=checkout,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    seen = json.loads(ran.stdout.splitlines()[-1])
    assert seen["control"] > 0, "the wire does not count"
    assert "REACHED" not in seen["said"], seen["said"]
    assert "no kind 1 by protocol 0" in seen["said"], seen["said"]
    assert "no the redirected port itself" in seen["said"], seen["said"]
    assert seen["more"] == 0, seen["said"]
