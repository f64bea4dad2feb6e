"""Prints and writes what sglang.bench_one_batch of 0.5.16 does (recorded beside the tests)."""

from __future__ import annotations

import json
import sys
from itertools import takewhile
from pathlib import Path

from sglang.standing import TIMES_MS, backend, option

RECORDED = Path(__file__).parents[2] / "bench_one_batch-0.5.16.jsonl"


def main() -> None:
    print("max_total_num_tokens=812345")
    rest = sys.argv[sys.argv.index("--batch-size") + 1 :]
    first = json.loads(RECORDED.read_text().splitlines()[0])
    with open(option("result-filename", ""), "a") as file:
        for batch in map(int, takewhile(str.isdecimal, rest)):
            told = {"batch_size": batch, "output_len": int(option("output-len", "0")), "median_decode_latency": TIMES_MS[backend()] / 1000}
            file.write(json.dumps({**first, **told}) + "\n")


if __name__ == "__main__":
    main()
