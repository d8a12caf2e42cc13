"""How long the shell analyser takes, for the command lines of the recorded rows and for long ones.

Run: python bench/shell_analysis.py
"""

import json
import statistics
import time
from pathlib import Path

from toolwright.shell import analyse

ROWS = Path(__file__).parents[1] / "tests" / "vectors" / "bash_permissions.jsonl"
ROUNDS = 15


def main() -> None:
    commands = [json.loads(line)["command"] for line in ROWS.read_text("utf-8").splitlines()]
    analyse("ls", cwd="/project", home="/home")
    times = sorted(best_of(command) for command in commands)
    print(f"{len(times)} recorded command lines, best of {ROUNDS} each, microseconds")
    print(f"  median {statistics.median(times):.0f}   mean {statistics.mean(times):.0f}")
    print(f"  90 % below {times[len(times) * 9 // 10]:.0f}   slowest {times[-1]:.0f}")
    for name, command in LONG.items():
        print(f"{name}: {len(command):,} characters in {best_of(command, 3) / 1000:.0f} ms")


LONG = {
    "1,000 statements": "git status && ls -la src; echo done\n" * 1000,
    "a here-document of 2,000 lines": "cat > f <<'EOF'\n" + "some text on a line\n" * 2000 + "EOF\n",
    "200 nested quotes": "echo " + "\"$(echo '" * 30 + "x" + "')\"" * 30,
    "braces": "touch " + "{a,b}" * 20,
    "open brackets": "(" * 5000,
    "open braces": "echo " + "{" * 5000,
}


def best_of(command: str, rounds: int = ROUNDS) -> float:
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        analyse(command, cwd="/project", home="/home")
        times.append(time.perf_counter() - start)
    return min(times) * 1e6


if __name__ == "__main__":
    main()
