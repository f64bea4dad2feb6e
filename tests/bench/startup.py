"""Start-up times of the command line against a bare interpreter: `make bench`.

Ratios travel between machines, seconds do not; the budgets are 0.6 s for --help and 1.5 s for plan.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
REPEATS = 7
CASES = {
    "bare interpreter": ["-c", "pass"],
    "attnpin --help": ["-m", "tuner", "--help"],
    "attnpin plan gpu=h200": ["-m", "tuner", "plan", "model=qwen3_8b", "gpu=h200"],
    "attnpin plan gpu=auto": ["-m", "tuner", "plan"],
}


def seconds(arguments: list[str]) -> float:
    """Median wall time; the first start, which may compile bytecode, is left out."""
    samples = [_once(arguments) for _ in range(REPEATS + 1)][1:]
    return statistics.median(samples)


def _once(arguments: list[str]) -> float:
    begun = time.perf_counter()
    subprocess.run([sys.executable, *arguments], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begun


def main() -> None:
    bare = seconds(CASES["bare interpreter"])
    for name, arguments in CASES.items():
        took = bare if arguments == CASES["bare interpreter"] else seconds(arguments)
        print(f"{name:<24}{took:8.3f} s{took / bare:8.1f} x")


if __name__ == "__main__":
    main()
