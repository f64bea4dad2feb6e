"""What this bench uses of SGLang 0.5.16's one-batch benchmark: what it writes of each size, and the parts that take steps.

As a backend, ``broken`` ends as a server without memory does; ``unbuildable`` does not open beside another, ``stumbling`` opens and takes
no step. The clock moves only by what steps take.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
import time
from types import SimpleNamespace
from typing import Any

STEP_MS = {"fa3": 5.0, "triton": 6.0}
TOO_LARGE = (64, 2048)
Phase = SimpleNamespace(DECODE="decode")
clock = SimpleNamespace(now_s=0.0)
time.perf_counter = lambda: clock.now_s


class ServerArgs(SimpleNamespace):
    @staticmethod
    def add_cli_args(parser: argparse.ArgumentParser) -> None:
        for name in ("--model-path", "--load-format", "--attention-backend", "--prefill-attention-backend", "--decode-attention-backend"):
            parser.add_argument(name)
        for name in ("--cuda-graph-backend-prefill", "--mem-fraction-static"):
            parser.add_argument(name)
        parser.add_argument("--cuda-graph-bs-decode", type=int, nargs="+")
        parser.add_argument("--max-total-tokens", type=int)

    @classmethod
    def from_cli_args(cls, words: argparse.Namespace) -> ServerArgs:
        return cls(cuda_graph_config={Phase.DECODE: SimpleNamespace()}, **vars(words))

    def override(self, source: str, **fields: str) -> None:
        vars(self).update(fields)


class BenchArgs(SimpleNamespace):
    @staticmethod
    def add_cli_args(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--run-name", default="default")
        parser.add_argument("--result-filename")
        for name in ("--batch-size", "--input-len", "--output-len"):
            parser.add_argument(name, type=int, nargs="+")

    @classmethod
    def from_cli_args(cls, words: argparse.Namespace) -> BenchArgs:
        return cls(**vars(words))


class PortArgs:
    @staticmethod
    def init_new(server: ServerArgs) -> None:
        """No port is asked for."""


class Runner:
    """Of a model: a decode step takes as long as the graphs in place say, a prefill 1 ms a prompt."""

    def __init__(self, server_args: ServerArgs) -> None:
        self.server_args = server_args
        self.init_attention_backends()
        self.init_decode_cuda_graph()

    def init_attention_backends(self) -> None:
        backend = self.server_args.decode_attention_backend or self.server_args.attention_backend
        if backend == "unbuildable":
            raise ImportError("No module named 'flash_attn'")
        self.attn_backend = backend
        self.prefill_attention_backend_str = self.server_args.prefill_attention_backend or backend
        self.decode_attention_backend_str = backend

    def init_decode_cuda_graph(self) -> None:
        self.decode_cuda_graph_runner = self.attn_backend


class Bench:
    def __init__(self, runner: Runner, tokens: int) -> None:
        self.torch_runner, self._tokens = runner, tokens

    def max_batch_size(self, input_len: int, output_len: int) -> int:
        return self._tokens // (input_len + output_len)

    def clear(self) -> None:
        """There is no pool."""

    def synchronize(self) -> None:
        """There is no device."""

    def extend(self, requests: Any) -> tuple[int, None, Any]:
        if (len(requests), requests[0]) == TOO_LARGE:
            raise MemoryError("CUDA out of memory")
        clock.now_s += len(requests) / 1e3
        return 0, None, requests

    def decode(self, ids: int, requests: Any) -> tuple[int, None]:
        clock.now_s += STEP_MS[self.torch_runner.decode_cuda_graph_runner] / 1e3
        return ids + 1, None


def load_model(server: ServerArgs, ports: None, gpu: int, rank: int) -> tuple[Bench, None]:
    return Bench(Runner(server), server.max_total_tokens), None


def prepare_synthetic_inputs_for_latency_test(batch: int, tokens: int) -> list[int]:
    return [tokens] * batch


def _nothing(server: ServerArgs) -> None:
    """The engine sets itself up."""


_set_envs_and_config = initialize_moe_config = initialize_fp8_gemm_config = initialize_fp4_gemm_config = _nothing


def main() -> None:
    parser = argparse.ArgumentParser()
    ServerArgs.add_cli_args(parser)
    BenchArgs.add_cli_args(parser)
    asked = parser.parse_args()
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
