"""Writes what SGLang 0.5.16's one-batch benchmark writes of each size; ``broken`` as a backend ends as a server without memory does."""

from __future__ import annotations

import argparse
import itertools
import json
import sys

STEP_MS = {"fa3": 5.0, "triton": 6.0}


def main() -> None:
    parser = argparse.ArgumentParser()
    for name in ("--run-name", "--result-filename", "--model-path", "--load-format", "--attention-backend", "--decode-attention-backend"):
        parser.add_argument(name)
    for name in ("--batch-size", "--input-len", "--output-len", "--cuda-graph-bs-decode"):
        parser.add_argument(name, type=int, nargs="+")
    asked, _ = parser.parse_known_args()
    backend = asked.attention_backend or asked.decode_attention_backend
    if backend == "broken":
        sys.exit("torch.OutOfMemoryError: CUDA out of memory.")
    with open(asked.result_filename, "a") as results:
        for batch, tokens, output in itertools.product(asked.batch_size, asked.input_len, asked.output_len):
            found = {"run_name": asked.run_name, "batch_size": batch, "input_len": tokens, "output_len": output, "prefill_latency": 0.25}
            if tokens != 4096:  # as where a batch does not fit
                found["median_decode_latency"] = STEP_MS[backend] / 1e3
            results.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
