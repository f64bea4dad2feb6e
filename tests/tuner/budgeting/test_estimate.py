from __future__ import annotations

from dataclasses import replace

import pytest

from store.plan import Estimate
from store.scenario import Scenario
from tests.asking import entries, gpu
from tests.tuner.scenarios import CPU, H100, LLAMA, TIMING, scenario
from tuner.budgeting.estimate import ASSUMED_BANDWIDTH, call_s, memory_bytes, visit_s
from tuner.plan import plan_of

ALL = tuple(entries().values())


def cost(case: Scenario) -> Estimate:
    return plan_of(case, ALL).estimate


def seconds(case: Scenario) -> float:
    found = cost(case).seconds
    assert found is not None
    return found


def test_a_run_with_more_processes_or_arms_takes_longer() -> None:
    case = scenario()
    longer = replace(case, measure=replace(case.measure, processes=9))
    fewer = replace(case, measure=replace(case.measure, backends=("fa3",)))
    assert seconds(fewer) < seconds(case) < seconds(longer)


def test_a_slower_gpu_takes_longer_once_calls_outlast_a_replay() -> None:
    slow = gpu(90, bandwidth_bytes_per_s=1e9, peak_flops=1e12)
    assert seconds(scenario(slow)) > seconds(scenario(H100))


def test_a_visit_lasts_its_replays_or_one_long_call() -> None:
    assert visit_s(TIMING, 1e-5) == pytest.approx(0.005 + 8 * 0.004)
    assert visit_s(TIMING, 0.1) == 0.5
    assert visit_s(TIMING, 2.0) == 2.0


def test_a_decode_call_takes_its_keys_at_full_bandwidth() -> None:
    decode = plan_of(scenario(), ALL).cells[2].cell
    assert call_s(decode, H100, "bfloat16") == pytest.approx(sum(decode.context_lens) * 8 * 256 * 2 / 4.8e12)


def test_unknown_rates_are_assumed_and_said() -> None:
    found = cost(scenario(replace(CPU, bandwidth_bytes_per_s=None, peak_flops=None), replace(LLAMA, dtype="float32")))
    assert found.seconds is not None
    assert f"assumed rates ({ASSUMED_BANDWIDTH / 1e9:.0f} GB/s" in found.basis
    assert "datasheet" in cost(scenario()).basis


def test_nothing_to_measure_takes_no_seconds_that_could_be_said() -> None:
    assert cost(scenario(gpu(130))).seconds is None


def test_memory_stays_within_the_share_a_run_may_use() -> None:
    plan = plan_of(scenario(), ALL)
    cells = [weighted.cell for weighted in plan.cells]
    roomy = memory_bytes(plan.scenario, plan.server, cells)
    tight = replace(plan.scenario, measure=replace(plan.scenario.measure, memory_fraction=0.01))
    assert roomy is not None and roomy <= 0.6 * 150e9
    assert memory_bytes(tight, plan.server, cells) == int(0.01 * 150e9)
    unknown = replace(plan.scenario, gpu=gpu(90, memory_bytes=None))
    assert memory_bytes(unknown, plan.server, cells) is None
