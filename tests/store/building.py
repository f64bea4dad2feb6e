"""A small run for the store's tests. Its numbers are made up."""

from __future__ import annotations

import random

from backends.arm import Arm, Provider
from backends.cell import Cell, Phase
from backends.environment import Board, Distribution, Environment
from backends.gpu import Gpu
from backends.measured import CellRound, Cost, Identity, Round, Trial, Visit
from backends.model import Attention, LayerKind, Model
from backends.outcome import Outcome
from backends.reason import Reason
from backends.spec import TimingSpec
from store.decision import CellResult, Decision, Interval, Pair, PairScore, Ruling
from store.digest import run_digest
from store.pins.pin import PIN_SCHEMA, Pin, Requests, ValidFor
from store.runs.run import PROTOCOL_VERSION, DefaultPick, Run
from store.scenario import Decide, Engine, Exclusion, Measure, Objective, Scenario, Speculation, WeightedCell
from store.step_model import StepModel
from store.traffic import Lengths, Traffic

LAYER = LayerKind("full", 36, 32, 8, 128, 128)
BACKENDS = ("fa3", "flashinfer", "triton", "torch_native", "flex_attention")


def arm(backend: str) -> Arm:
    return Arm(backend, Provider.ENGINE, "backends.sglang.driver:Driver", 1, "bfloat16", (backend,))


def weighted(i: int, batch: int = 64) -> WeightedCell:
    contexts = tuple(1024 + 17 * i + n for n in range(batch))
    cell = Cell(f"decode_{i}", Phase.DECODE, LAYER, contexts, (1,) * batch, contexts, batch, "bfloat16", 7)
    return WeightedCell(cell, 36, 15.625, 0.2)


def scenario() -> Scenario:
    model = Model("qwen3_8b", "Qwen3ForCausalLM", Attention.MHA, (LAYER,), 4096, 151936, 8.2e9, 8.2e9, "bfloat16", 40960, "config.json")
    gpu = Gpu("NVIDIA H200", "cuda", 90, 132, 150754820096, 52428800, 4.8e12, 9.89e14, 233472, "13.0", "datasheet")
    traffic = Traffic("chat", Lengths(1000, 6000), Lengths(250, 800), 64, 0.3, "round figures")
    command, path = ("ssh", "anna@gpu07.example.net", "/opt/venv/bin/python3"), ("/home/anna/sglang-0.5.16",)
    engine = Engine("sglang", "0.5.16", 1, command, path, Speculation(), "auto", None, None, (), None, None, None, None)
    timing = TimingSpec(4, 8, 4.0, 5.0, 1.0, 10.0)
    decide = Decide(Objective.THROUGHPUT, 0.01, 0.05, 0.01, 0.95, 0.006)
    return Scenario(model, gpu, traffic, engine, Measure("quick", 4, timing, 0.5, (), 17), decide)


def environment(flashinfer: str = "0.6.14") -> Environment:
    board = Board("cuda", "NVIDIA H200", 90, "GPU-5f0c", 150754820096, 700.0, None, "580.95.05", 132)
    found = (Distribution("flashinfer-python", flashinfer, f"sha256:{flashinfer}"), Distribution("torch", "2.11.0", "sha256:7"))
    variables = (("FLASHINFER_WORKSPACE_BASE", "/home/anna/cache"),)
    return Environment(board, "3.12.3", "2.11.0", "13.0", "3.6.0", found, variables, None, (("flashinfer", "flashinfer-python"),))


def a_run(run_id: str = "r1", arms: int = 2, cells: int = 2, flashinfer: str = "0.6.14") -> Run:
    """Begun, nothing measured yet."""
    asked, where = scenario(), environment(flashinfer)
    reason = Reason("sm", "sm 90", "sm 100", "take a B200", "sglang/srt/layers/attention/trtllm_mha_backend.py")
    command = "attnpin tune 'engine.command=[ssh,anna@gpu07.example.net,/opt/venv/bin/python3]' pin.path=/home/anna/pins/pin.yaml"
    return Run(
        id=run_id,
        digest=run_digest(asked, where, PROTOCOL_VERSION),
        protocol=PROTOCOL_VERSION,
        status="running",
        created="2026-01-02T03:04:05Z",
        tool_version="0.1.0",
        command=command,
        scenario=asked,
        environment=where,
        engine_version="0.5.16",
        default=DefaultPick("fa3", "fa3", 1, "auto", "Hopper takes fa3", "0.5.16"),
        arms=tuple(map(arm, BACKENDS[:arms])),
        cells=tuple(map(weighted, range(cells))),
        exclusions=(Exclusion("trtllm_mha", None, (reason,)), Exclusion("flashmla", "prefill", (reason, reason))),
        trials=(),
        rounds=(),
        decision=None,
        wall_seconds=(),
        notes=("decode-128 was dropped: the pool is too small",),
    )


def a_trial(run: Run, arm_index: int, cell_index: int) -> Trial:
    identity, cost = Identity("fa2", "graph", ("void decode<128>",)), Cost(119.66, None, 31.5, 44.25)
    return Trial(
        run.arms[arm_index].name, run.cells[cell_index].cell.name, Outcome.MEASURED, None, identity, cost, 0.003, pool_tokens=2**40
    )


def all_trials(run: Run) -> tuple[Trial, ...]:
    return tuple(a_trial(run, i, j) for i in range(len(run.arms)) for j in range(len(run.cells)))


def a_round(run: Run, index: int, visits: int = 2, samples: int = 8) -> Round:
    """The same for the same run and index."""
    rng = random.Random(f"{run.id}/{index}")
    names = [arm.name for arm in run.arms]
    cells = tuple(a_cell_round(cell.cell.name, names, visits, samples, rng) for cell in run.cells)
    return Round(index, rng.getrandbits(40), cells, (("imports", 8.5), ("timing", rng.uniform(30, 40))), ("exclusivity not verifiable",))


def a_cell_round(cell: str, arms: list[str], visits: int, samples: int, rng: random.Random) -> CellRound:
    def visit(block: int, position: int) -> Visit:
        return Visit(block, position, arms[position], tuple(rng.lognormvariate(4.7, 0.01) for _ in range(samples)))

    visited = tuple(visit(block, position) for block in range(visits) for position in range(len(arms)))
    return CellRound(cell, tuple((name, 36) for name in arms), visited, tuple((name, 31.5, 44.25) for name in arms), True)


def a_decision(run: Run) -> Decision:
    default, pick = Pair("fa3/p1", "fa3/p1"), Pair("fa3/p1", "flashinfer/p1")
    ratio = Interval(0.912, 0.905, 0.919, 0.95, 4)
    score = PairScore(pick, 73.765, ratio, 0.016, 0.031, "decode_0", ratio, None)
    cell = CellResult("fa3/p1", "decode_0", "graph", 131.21, None)
    step = StepModel("decode", "decode_0", 4.7, 4.1, 7.25, 0.394, 0.535)
    flags, because = (("decode-attention-backend", "flashinfer"),), (("decode-attention-backend", "0.912 of fa3"),)
    parts = (default, "Hopper takes fa3", pick, (pick,), flags, because, None, (score,), (cell,), (step,), 0.008, ())
    return Decision(Ruling.SWITCH, *parts)


def a_pin(run: Run) -> Pin:
    board = run.environment.board
    valid_for = ValidFor(
        *(board.name, board.sm, board.memory_bytes, board.power_limit_w, board.mig, board.driver),
        *("sglang", "0.5.16", "0.5.16", "3.12.3", "2.11.0", "13.0"),
        distributions=tuple((found.name, found.version, found.digest) for found in run.environment.distributions),
        variables=run.environment.variables,
        **{"model": "qwen3_8b", "tensor_parallel": 1, "kv_cache_dtype": "auto", "page_size": 1, "traffic": "chat"},
        requests=Requests(64, Lengths(1000, 6000), Lengths(250, 800), 0.3),
        settings=(("engine.context_length", "32768"),),
    )
    because = "decode attention 0.912 of fa3 (0.905 to 0.919, 4 processes): a step 1.6 % to 3.1 % faster, and nothing else changes"
    flags = ("decode-attention-backend", "flashinfer"), ("page-size", "64")
    reasons = tuple((flag, because) for flag, _ in flags)
    return Pin(PIN_SCHEMA, "sglang", flags, None, reasons, valid_for, ("", ""), run.id, run.created, run.tool_version)
