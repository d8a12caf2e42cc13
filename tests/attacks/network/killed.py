"""A toolwright with a job in its session's network, to be killed: `killed.py PROJECT` prints which network it is."""

import asyncio
import os
import sys
from pathlib import Path

from tests.network.ground import ASKS, open_network


async def main(project: Path) -> None:
    async with open_network(project, ASKS) as shell:
        await shell.bash("curl -s a.test & exec python3 -m http.server 8123", background=True)
        network = await shell.workspace.networks.of(shell.session.id, "namespace")
        assert network.space.descriptor is not None
        sys.stdout.write(f"{os.fstat(network.space.descriptor).st_ino}\n")
        sys.stdout.flush()
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
