"""A small run and its pin for the reports' tests: two graph arms, an eager one, a failure, two exclusions. Numbers are made up."""

from __future__ import annotations

from dataclasses import replace

from backends.arm import Arm, Provider
from backends.cell import Cell, Phase
from backends.environment import Board, Distribution, Environment
from backends.gpu import Gpu
from backends.measured import CellRound, Cost, Identity, Round, Trial, Visit
from backends.model import Attention, LayerKind, Model
from backends.outcome import Outcome
from backends.reason import Reason
from backends.serving_jit import Builds, ServingJit
from backends.spec import TimingSpec
from store.decision import CellResult, Decision, Interval, Pair, PairScore, Ruling
from store.engines.serving_terms import ServingTerms
from store.pins.pin import PIN_SCHEMA, Pin, Requests, ValidFor
from store.runs.run import PROTOCOL_VERSION, DefaultPick, Run
from store.scenario import Decide, Engine, Exclusion, Measure, Objective, Scenario, Speculation, WeightedCell
from store.step_model import StepModel
from store.traffic import Lengths, Traffic

LAYER = LayerKind("full", 36, 32, 8, 128, 128)
DECODE, PREFILL = "decode_b64_c2048", "prefill_b1_c4096"
FA3, FLASHINFER, NATIVE = "fa3/p1", "flashinfer/p1", "torch_native/p1"
HOME = "/home/alice/serving/lib"
BECAUSE = "decode attention 0.912 of fa3 (0.905 to 0.919, 4 processes); a step 1.6 % to 3.1 % faster, predicted"
FIRST_CALLS_S = (0.33, 0.31, 0.35, 0.32)  # FlashInfer's in the processes of the race
HASH = "sha256:0a1b2c3d4e5f60718293a4b5c6d7e8f9"


def weighted(name: str, phase: Phase, batch: int, context: int, calls: float) -> WeightedCell:
    new = 1 if phase is Phase.DECODE else context
    cell = Cell(name, phase, LAYER, (context,) * batch, (new,) * batch, (context,) * batch, batch, "bfloat16", 7)
    return WeightedCell(cell, 36, calls, 1.0)


def trial(arm: str, cell: str, us: float, mode: str = "graph", **extra: float) -> Trial:
    kernels = ("void flash::decode<__nv_bfloat16, 128>(Params*)",)
    cost = Cost(us, None if mode == "graph" else us * 1.5, 31.5, 44.25)
    checked = {"relative_error": 0.0031, "needle_error": 0.0007, "capture_s": 1.25, "peak_memory_bytes": 3 * 2**30, "pool_tokens": 524288}
    checked |= {"rms_error": 0.0012, "open_s": 0.75}
    return Trial(arm, cell, Outcome.MEASURED, None, Identity("fa2", mode, kernels), cost, **{**checked, **extra})  # type: ignore[arg-type]


def trials() -> tuple[Trial, ...]:
    measured = [
        trial(FA3, DECODE, 131.21, build_s=2.5, first_call_s=0.25, workspace_bytes=17 << 20, graph_bytes=20 << 20),
        trial(FA3, PREFILL, 256.4, mode="eager", build_s=2.5, first_call_s=0.5, workspace_bytes=16 << 20),
        trial(FLASHINFER, DECODE, 119.66, build_s=93.4, first_call_s=16.2, workspace_bytes=392 << 20, graph_bytes=20 << 20),
        trial(FLASHINFER, PREFILL, 297.3, mode="eager", build_s=93.4, first_call_s=93.4, workspace_bytes=384 << 20),
        trial(NATIVE, DECODE, 5123.7, mode="eager"),
    ]
    crash = Trial(NATIVE, PREFILL, Outcome.CRASHED, f"signal 11 in {HOME}/torch/nn.py\nlast phase: warmup")
    return (*measured, crash)


def exclusions() -> tuple[Exclusion, ...]:
    sm = Reason("sm", "sm 90", "sm 100 or 103", "take a B200", "sglang/srt/layers/attention/trtllm_mha_backend.py, 0.5.16")
    page = Reason("page_size", "page size 1", "64", "set engine.page_size=64", "sglang/srt/server_args.py, 0.5.16")
    return Exclusion("trtllm_mha", None, (sm, page)), Exclusion("flashmla", "prefill", (page,))


def scenario() -> Scenario:
    model = Model("qwen3_8b", "Qwen3ForCausalLM", Attention.MHA, (LAYER,), 4096, 151936, 8.2e9, 8.2e9, "bfloat16", 40960, "config.json")
    gpu = Gpu("NVIDIA H200", "cuda", 90, 132, 150754820096, 52428800, 4.8e12, 9.89e14, 233472, "13.0", "datasheet")
    traffic = Traffic("chat", Lengths(1000, 6000), Lengths(250, 800), 64, 0.3, "round figures, nobody's traffic")
    command, path = ("ssh", "gpu07.example.net", "python3"), (HOME,)
    engine = Engine("sglang", "0.5.16", 1, command, path, Speculation(), "auto", None, None, (), None, None, None, None)
    timing = TimingSpec(4, 8, 4.0, 5.0, 1.0, 10.0)
    measure = Measure("quick", 4, timing, 0.5, (), 17)
    return Scenario(model, gpu, traffic, engine, measure, Decide(Objective.THROUGHPUT, 0.01, 0.05, 0.01, 0.95, 0.006))


def environment() -> Environment:
    board = Board("cuda", "NVIDIA H200", 90, "GPU-5f0c", 150754820096, 700.0, None, "580.95.05", 132)
    distributions = (Distribution("flashinfer-python", "0.6.14", HASH), Distribution("torch", "2.11.0+cu130", HASH))
    variables = (("FLASHINFER_WORKSPACE_BASE", f"{HOME}/cache"),)
    imports = (("flashinfer", "flashinfer-python"), ("torch", "torch"))
    return Environment(board, "3.12.3", "2.11.0+cu130", "13.0", "3.6.0", distributions, variables, None, imports)


def cells() -> tuple[WeightedCell, ...]:
    return weighted(DECODE, Phase.DECODE, 64, 2048, 15.625), weighted(PREFILL, Phase.PREFILL, 1, 4096, 0.7)


def ratio(estimate: float, half: float = 0.007) -> Interval:
    return Interval(estimate, estimate - half, estimate + half, 0.95, 4)


def decision() -> Decision:
    default, pick = Pair(FA3, FA3), Pair(FA3, FLASHINFER)
    worst = Pair(FLASHINFER, FLASHINFER)
    return Decision(
        ruling=Ruling.SWITCH,
        default=default,
        default_because="Hopper with CUDA 12.3 or later takes fa3",
        pick=pick,
        tie_set=(pick,),
        flags=(("decode-attention-backend", "flashinfer"), ("prefill-attention-backend", "fa3")),
        because=(("decode-attention-backend", BECAUSE),),
        unset_because=None,
        scores=(
            PairScore(default, 80.262, None, 0.0, 0.0, None, None, None),
            PairScore(pick, 73.765, ratio(0.919), 0.016, 0.031, DECODE, ratio(0.912), None),
            PairScore(worst, 74.8, ratio(0.932), 0.011, 0.024, PREFILL, ratio(1.159), f"{PREFILL} is 15.9 % slower than the default"),
        ),
        cells=(
            CellResult(FA3, DECODE, "graph", 131.21, None),
            CellResult(FLASHINFER, DECODE, "graph", 119.66, ratio(0.912)),
            CellResult(NATIVE, DECODE, "eager", 5123.7, None),
            CellResult(FA3, PREFILL, "eager", 256.4, None),
            CellResult(FLASHINFER, PREFILL, "eager", 297.3, ratio(1.159)),
        ),
        steps=(StepModel("decode", DECODE, 4.7236, 4.1, 7.25, 0.394, 0.535), StepModel("prefill", PREFILL, 9.2304, 80.5, None, 0.0, 0.103)),
        minimum_detectable_effect=0.0084,
        cautions=("exclusivity not verifiable",),
    )


def kept() -> Decision:
    unset = "unset, because with the best arm a step is at most 0.42 % faster"
    pair = Pair(FA3, FA3)
    return replace(decision(), ruling=Ruling.KEEP, pick=pair, tie_set=(pair,), flags=(), because=(), unset_because=unset)


def incomplete() -> Decision:
    why = "incomplete: the default (fa3) was not measured: fa3/p1 on decode_b64_c2048: crashed: signal 11"
    scores = (PairScore(Pair(FLASHINFER, FLASHINFER), 74.8, None, 0.0, 0.0, None, None, None),)
    cells = tuple(replace(result, ratio=None) for result in decision().cells if result.arm != FA3)
    nothing = replace(decision(), default=None, pick=None, tie_set=(), flags=(), because=(), unset_because=why, scores=scores, cells=cells)
    return replace(nothing, ruling=Ruling.INCOMPLETE, steps=(), minimum_detectable_effect=None)


def rounds() -> tuple[Round, ...]:
    visits = (Visit(0, 0, FA3, (131.2, 131.3)), Visit(0, 1, FLASHINFER, (119.6, 119.7)))
    metadata = ((FA3, 31.5, 44.25), (FLASHINFER, 40.5, 60.0))
    cells = [CellRound(DECODE, ((FA3, 36), (FLASHINFER, 36)), visits, metadata, True, ((FA3, 0.1), (FLASHINFER, s))) for s in FIRST_CALLS_S]
    return tuple(
        Round(index, 100 + index, (cell,), (("timing", 6.5),), ("exclusivity not verifiable",)) for index, cell in enumerate(cells)
    )


def terms() -> tuple[ServingTerms, ...]:
    built = ServingJit(Builds.NEVER, "its kernels come built", "sgl_kernel")
    once = ServingJit(Builds.FIRST_USE, "one module a head dim", "flashinfer/jit")
    serving = (FA3, 524290, ("multi_item_scoring",), built), (FLASHINFER, 524290, (), once), (NATIVE, 524290, ("deterministic",), None)
    return tuple(ServingTerms(arm, tokens, 0.0, lacks, jit) for arm, tokens, lacks, jit in serving)


def run(made: Decision | None = None, status: str = "finished") -> Run:
    """A finished run with a switch, unless told otherwise."""
    return Run(
        id="7f3a9c",
        digest=HASH,
        protocol=PROTOCOL_VERSION,
        status=status,
        created="2026-11-30T02:08:00Z",
        tool_version="0.1.0",
        command=f"attnpin tune model=qwen3_8b traffic=chat engine.path=[{HOME}] 'engine.command=[ssh,gpu07.example.net,python3]' store.url=postgresql://bob:pw@db.example.net/a",
        scenario=scenario(),
        environment=environment(),
        engine_version="0.5.16",
        default=DefaultPick("fa3", "fa3", 1, "bfloat16", "Hopper with CUDA 12.3 or later takes fa3", "0.5.22"),
        arms=tuple(Arm(name.split("/")[0], Provider.ENGINE, "backends.sglang:Driver", 1, "bfloat16") for name in (FA3, FLASHINFER, NATIVE)),
        cells=cells(),
        exclusions=exclusions(),
        trials=trials(),
        rounds=rounds(),
        decision=made,
        wall_seconds=(("imports", 20.4), ("build", 98.7), ("timing", 61.3), ("waiting", 0.0)),
        terms=terms(),
    )


def pin(made: Decision | None = None) -> Pin:
    made = made or decision()
    holds = ValidFor(
        gpu="NVIDIA H200",
        sm=90,
        memory_bytes=150754820096,
        power_limit_w=700.0,
        mig=None,
        driver="580.95.05",
        engine="sglang",
        engine_version="0.5.16",
        rules_version="0.5.22",
        python="3.12.3",
        torch="2.11.0+cu130",
        cuda="13.0",
        distributions=(("flashinfer-python", "0.6.14", HASH), ("torch", "2.11.0+cu130", HASH)),
        variables=(),
        model="qwen3_8b",
        tensor_parallel=1,
        kv_cache_dtype="bfloat16",
        page_size=1,
        traffic="chat",
        requests=Requests(64, Lengths(1000, 6000), Lengths(250, 800), 0.3),
        settings=(("decide.objective", "throughput"), ("engine.context_length", "32768")),
    )
    evidence = ("pin.evidence.jsonl.zst", "ab12")
    created = "2026-11-30T02:08:00Z"
    return Pin(PIN_SCHEMA, "sglang", made.flags, made.unset_because, made.because, holds, evidence, "7f3a9c", created, "0.1.0")
