"""Every public report in tests/cases/measuring.yaml that a process of its own has an answer to, on simulated GPUs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from statistics import fmean, median
from typing import Any

import pytest

from backends.blame import ArmFailed
from backends.cell import Cell, Phase, kv_bytes
from backends.kv.rotation import NotEnoughMemory, PoolDemand, plan_pools, slots_wanted
from backends.measured import Round, Trial
from backends.outcome import Outcome
from backends.simulated.modelled import LAUNCH_US, Modelled
from backends.simulated.world import Noise, Pace, World
from backends.timing.pace import graph_pace, rotation
from backends.timing.sampled import Sampled
from backends.timing.timed import make_timed
from backends.timing.warmup import warm_up
from tests.backends.faulty import PlainCall
from tests.backends.simulated.worlds import BOARD, CALM, CELLS, DECODE, FA3, FLASHINFER, LAYER, PREFILL, TIMING, fault, raced, struck, tried
from tests.backends.small import decode, laid_out, prefill
from tests.cases.reading import read_cases

CASES = read_cases("measuring")
MB = 10**6
TOKEN_BYTES = LAYER.kv_heads * (LAYER.head_dim + LAYER.value_head_dim) * 2
REQUESTS = 5


def of_size(size_bytes: float) -> Cell:
    """A decode that reads at least so many bytes."""
    return decode(*[-(-int(size_bytes) // (REQUESTS * TOKEN_BYTES))] * REQUESTS, layer=LAYER, dtype="bfloat16")


def samples(measured: Round, arm: str = FA3.name) -> list[float]:
    return [us for cell in measured.cells for visit in cell.visits if visit.arm == arm for us in visit.sample_us]


def timed(trial: Trial) -> tuple[float, float | None]:
    assert trial.cost is not None
    return trial.cost.device_us, trial.cost.served_us


@pytest.mark.parametrize("case", ["e01-1", "e10"])
@pytest.mark.parametrize("phase", Phase)
def test_building_a_kernel_moves_no_sample_of_it(case: str, phase: Phase) -> None:
    """In a probe, and in a round: what was built once may have to be built again."""
    given = CASES[case]["given"]
    seconds = given.get("first_call_s") or given["compiles_s"]
    slow, cells = struck(fault("slow_build", backend="fa3", phase=phase, seconds=seconds)), [c for c in CELLS if c.phase is phase]
    (first,), (calm,) = tried(slow, cells=cells), tried(CALM, cells=cells)
    assert timed(first) == timed(calm) and (first.first_call_s or 0) > seconds > (calm.first_call_s or 0)
    measured = raced(slow, cells=cells)
    assert samples(measured) == samples(raced(CALM, cells=cells)) and dict(measured.cells[0].first_call_s)[FA3.name] > seconds


def test_what_the_host_takes_to_launch_stands_beside_the_time_of_the_kernel() -> None:
    (eager,) = tried(CALM, cells=[PREFILL])
    assert CASES["e01-1"]["expect"]["verdict"] == "none" and eager.cost is not None
    assert eager.cost.served_us == pytest.approx(eager.cost.device_us + LAUNCH_US)


class ColdAtFirst:
    """Visits of an arm that takes longer in its process's first seconds, on a clock that only they move."""

    def __init__(self, slower: float, dies_away_in_s: float) -> None:
        self.now_s, self._slower, self._dies_away_in_s = 0.0, slower, dies_away_in_s

    def visit(self) -> Sampled:
        us = 1 + self._slower * math.exp(-self.now_s / self._dies_away_in_s)
        self.now_s += 0.05
        return Sampled((us,) * 8)


@pytest.mark.parametrize("times", [0.1, 0.5, 1])
def test_the_first_run_of_a_fresh_process_is_warm_up(times: float) -> None:
    given, most = CASES["e02"]["given"], 1 + CASES["e02"]["expect"]["slower_at_most_pct"] / 100
    cold = ColdAtFirst(given["slower_pct"] / 100, times * given["dies_away_in_s"])
    assert max(cold.visit().us) > most
    assert warm_up({"arm": cold.visit}, TIMING, "cuda", lambda: cold.now_s)
    assert max(cold.visit().us) < most


def test_every_visit_throws_its_first_samples_away() -> None:
    assert CASES["e02"]["kind"] == "a cold run is averaged in, or left out without a rule"
    assert all(graph_pace(us, 4, replace(TIMING, discard_ms=0.0)).discards >= 1 for us in (5.0, 500.0, 50_000.0))


@pytest.mark.parametrize("row", CASES["e03-1"]["given"]["rows"], ids=str)
@pytest.mark.parametrize("larger", [1.0, 2.7], ids=["its card", "a faster card"])
def test_more_than_the_memory_gives_is_not_believed(row: Mapping[str, Any], larger: float) -> None:
    case = CASES["e03-1"]
    cell, gbs = of_size(row["mb"] * MB), larger * row["gbs"]
    world = replace(CALM, board=replace(CALM.board, bandwidth_bytes_per_s=larger * case["given"]["bandwidth_gbs"] * 1e9))
    world = at_pace(world, cell, kv_bytes(cell, 2) / gbs * 1e-3)
    if row["believed"]:
        assert raced(world, [FA3], [cell]).cells
        return
    with pytest.raises(ArmFailed, match=case["expect"]["says"]) as failed:
        raced(world, [FA3], [cell])
    assert failed.value.outcome is Outcome.IMPLAUSIBLE


def at_pace(world: World, cell: Cell, call_us: float) -> World:
    """Where a call of fa3 on ``cell`` takes ``call_us``."""
    return replace(world, paces=(Pace("fa3", call_us / Modelled(world, 0).call_us(FA3, cell)),))


def test_a_small_cell_is_never_timed_over_one_pool() -> None:
    given = CASES["e03-2"]["given"]
    layer = replace(LAYER, query_heads=given["query_heads"], kv_heads=given["kv_heads"])
    cell = decode(given["context"], layer=layer, dtype="bfloat16")
    wanted = slots_wanted(cell, BOARD.l2_bytes or 0, 2, "cuda")
    demand = PoolDemand(1, "bfloat16", kv_bytes(cell, 2) // given["context"], given["context"], wanted)
    with pytest.raises(NotEnoughMemory):
        plan_pools([demand], None, (given["pools"] + 1) * kv_bytes(cell, 2))
    data = laid_out(cell, slots=2)
    data.pool.k[1] = data.pool.k[0]
    with pytest.raises(ValueError, match=CASES["e03-2"]["expect"]["says"]):
        make_timed(PlainCall(data), data, 2, TIMING)
    (trial,) = tried(struck(fault("partly_warm", backend="fa3")), cells=[cell])
    assert any(label.startswith("warm-risk") for label in trial.labels)


@pytest.mark.parametrize("name", ["e04-1", "e04-2", "e04-3"])
def test_a_graph_rotates_over_as_many_pools_as_the_cache_of_its_device_asks_for(name: str) -> None:
    given, least = CASES[name]["given"], CASES[name]["expect"]["least_pools"]
    cell = of_size(given["working_set_mb"] * MB)
    seen = {}
    for caches in (1, 3):
        world = replace(CALM, board=replace(CALM.board, l2_bytes=caches * given["l2_mb"] * MB))
        (trial,) = tried(world, cells=[cell])
        assert trial.slots is not None and trial.slots >= caches * (least - 1) + 1
        seen[caches] = trial.slots
        launches = graph_pace(trial.cost.device_us if trial.cost else 1.0, trial.slots, TIMING).launches
        assert launches % trial.slots == 0 and set(rotation(launches, trial.slots)) == set(range(trial.slots))
    assert seen[1] < seen[3]


def test_a_drift_of_the_clock_is_charged_to_no_arm_and_every_visit_says_its_clock() -> None:
    assert CASES["e05-1"]["expect"]["verdict"] == "equivalent"
    drift = replace(CALM, noise=Noise(drift_pct_per_minute=100.0))
    visits = [visit for cell in raced(drift, [FA3, FLASHINFER], [DECODE]).cells for visit in cell.visits]
    means = [fmean(median(visit.sample_us) for visit in visits if visit.arm == arm.name) for arm in (FA3, FLASHINFER)]
    assert means[0] == pytest.approx(means[1], rel=1e-4) and max(visits[-1].sample_us) > 1.005 * max(visits[0].sample_us)
    assert all(visit.sm_clock_mhz for visit in visits)


def test_clocks_that_still_fall_are_unsettled() -> None:
    given = CASES["e05-2"]["given"]
    high, low = given["sm_clock_mhz"]
    falling = Noise(drift_pct_per_minute=100.0 * (high / low - 1) * 60 / given["within_s"])
    world = replace(CALM, noise=falling, board=replace(CALM.board, max_sm_clock_mhz=high))
    measured = raced(world)
    assert CASES["e05-2"]["expect"]["label"] in measured.labels
    clocks = [visit.sm_clock_mhz for cell in measured.cells for visit in cell.visits if visit.sm_clock_mhz]
    assert max(clocks) < high and max(clocks) > 1.01 * min(clocks)


@pytest.mark.parametrize("role", CASES["e08-2"]["expect"]["warmed"])
def test_whatever_is_timed_was_warmed_up_itself_with_all_arms(role: str) -> None:
    largest = 256  # of the stage's captured batches
    cells = {
        "prefix-cache-hit": prefill((3000, 1000), layer=LAYER, dtype="bfloat16", name="hit"),
        "chunked-prefill": prefill((8192, 4096), layer=LAYER, dtype="bfloat16", name="second-chunk"),
        "above-largest-graph-batch": replace(DECODE, name="large", padded_batch=2 * largest),
    }
    heard: list[tuple[str, str | None, str | None]] = []
    raced(CALM, cells=[cells[role], *CELLS], say=lambda phase, arm=None, cell=None, detail=None: heard.append((phase, arm, cell)))
    for arm in (FA3, FLASHINFER):
        order = [phase for phase, name, cell in heard if (name, cell) == (arm.name, cells[role].name) and phase in ("warmup", "timing")]
        assert order[0] == "warmup" and "timing" in order and "warmup" not in order[order.index("timing") :]


def test_a_slow_first_start_costs_no_arm_its_place() -> None:
    case = CASES["e09"]
    trials = [tried(struck(fault("slow_build", backend="flashinfer", seconds=seconds)), FLASHINFER) for seconds in case["given"]["start_s"]]
    for seconds, found in zip(case["given"]["start_s"], trials):
        assert {trial.outcome.value for trial in found} == {case["expect"]["outcome"]}
        assert all((trial.first_call_s or 0) > seconds for trial in found)
    assert [timed(trial) for trial in trials[0]] == [timed(trial) for trial in trials[1]]


def test_compiling_beside_the_timing_slows_no_sample() -> None:
    case = CASES["e10"]
    calm, slow = (samples(raced(world)) for world in (CALM, struck(fault("slow_build", backend="flashinfer", seconds=60.0))))
    assert sum(a > b for a, b in zip(slow, calm, strict=True)) == case["expect"]["slow_samples"]


@pytest.mark.parametrize("requests", [((0, 4096),), ((0, 1024),) * 4, ((4096, 2048),)], ids=str)
def test_work_that_was_not_done_is_faster_than_arithmetic(requests: tuple[tuple[int, int], ...]) -> None:
    case = CASES["e11"]
    cell = prefill(*requests, layer=LAYER, dtype="bfloat16")
    cached = replace(CALM, paces=(Pace("fa3", case["given"]["computed_share"]),))
    (trial,) = tried(cached, cells=[cell])
    assert trial.outcome.value == case["expect"]["outcome"] and case["expect"]["says"] in (trial.detail or "")


def test_keys_that_a_cached_prompt_never_writes_are_missed() -> None:
    assert CASES["e11"]["kind"] == "cached work is timed as if it had been done"
    (trial,) = tried(struck(fault("unwritten", backend="fa3")), cells=[PREFILL])
    assert trial.outcome is Outcome.INCORRECT and "new keys were not written" in (trial.detail or "")
