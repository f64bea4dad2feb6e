"""Writes what sglang.bench_serving of 0.5.16 writes (recorded beside the tests), with times of the backend that serves."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from urllib.request import Request, urlopen

from sglang.benchmark.datasets import DATASET_MAPPING
from sglang.standing import TIMES_MS, option

RECORDED = Path(__file__).parents[2] / "bench_serving-0.5.16.jsonl"


if os.environ.get("STANDIN_LACKS"):
    raise ImportError(f"No module named {os.environ['STANDIN_LACKS']!r}")


def main() -> None:
    if os.environ.get("STANDIN_ENDS"):
        os.kill(int(Path(os.environ["STANDIN_ENDS"]).read_text()), 9)
        time.sleep(600)
    if os.environ.get("STANDIN_HANGS"):
        Path(os.environ["STANDIN_HANGS"]).write_text("here")
        time.sleep(600)
    asked = Request(f"{option('base-url', '')}/server_info", headers={"Authorization": f"Bearer {os.environ.get('OPENAI_API_KEY')}"})
    with urlopen(asked) as answer:
        served = json.load(answer)
    times = json.loads(os.environ.get("STANDIN_TIMES", "{}")) or TIMES_MS
    step = times[served["attention_backend"]] * served["wobble"]
    rows = DATASET_MAPPING[option("dataset-name", "")].from_args(None).load(None)
    requests = len(rows) - (3 if os.environ.get("STANDIN_FAILS") else 0)
    told = {"median_itl_ms": step, "p99_itl_ms": 2 * step, "median_ttft_ms": 9 * step, "p99_ttft_ms": 20 * step, "completed": requests}
    told["output_throughput"] = 1000 * int(option("max-concurrency", "1")) / step
    sent = [[row.prompt[:1], row.prompt_len, row.output_len] for row in rows]
    result = {**json.loads(RECORDED.read_text()), **told, "max_concurrency": int(option("max-concurrency", "1")), "sent": sent}
    with open(option("output-file", ""), "a") as file:
        file.write(json.dumps(result) + "\n")


if __name__ == "__main__":
    main()
