"""Runs the few tests that failed a second time, alone: what a busy machine broke passes then, what is broken fails.

python -m tests.again
"""

import json
import sys
from pathlib import Path

import pytest

MOST = 5
"""More failures than that have a cause that no second run takes away."""
FAILED = Path(__file__).parents[1] / ".pytest_cache/v/cache/lastfailed"


def main() -> int:
    failed = list(json.loads(FAILED.read_text("utf-8"))) if FAILED.exists() else []
    if not 1 <= len(failed) <= MOST:
        return 1
    sys.stdout.write("\n".join(["", "Failed, and run again alone:", *failed, ""]))
    sys.stdout.flush()
    return pytest.main(["-p", "no:cacheprovider", *failed])


if __name__ == "__main__":
    sys.exit(main())
