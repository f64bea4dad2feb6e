"""The other ways of timing, on a GPU; what they mean is in test_ways."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from backends import trial
from backends.outcome import Outcome
from backends.timing.capture import ReplayedCall
from backends.timing.cuda_events import back_to_back_us
from backends.timing.instruments import Instruments
from backends.timing.sampled import PLAIN, Manner
from backends.timing.soundness import soundness
from backends.timing.timed import make_timed
from backends.timing.ways import WARM, agree, penalised
from tests.backends.small import LAYER, arm, decode, laid_out, silent, stage
from tests.backends.timing.test_cuda import TIMING, Recordable

pytestmark = pytest.mark.gpu

CONTEXTS = (8192,) * 8
SLOTS, POOLS = 8, 16  # 33 MB of KV each: cold after two of them on 60 MB of L2


def timed(manner: Manner = PLAIN) -> tuple[Recordable, ReplayedCall, Instruments]:
    data = laid_out(decode(*CONTEXTS, dtype="bfloat16"), device=torch.device("cuda"), slots=POOLS)
    call, instruments = Recordable(data), Instruments(torch.device("cuda"))
    made = make_timed(call, data, SLOTS, TIMING, manner, instruments)
    assert isinstance(made, ReplayedCall) and LAYER.kv_heads == 2
    return call, made, instruments


def test_a_cold_call_takes_the_same_over_twice_as_many_pools_and_in_a_graph_of_twice_the_launches() -> None:
    call, made, instruments = timed()
    made.visit()
    found = soundness(call, made, POOLS, TIMING, instruments)
    assert found.rotation is not None and agree(found.rotation)
    assert found.slope is not None and agree(found.slope)
    assert found.spaced == pytest.approx(1.0, abs=0.03)
    made.close()


def test_where_memory_holds_no_more_pools_half_of_them_tell() -> None:
    call, made, instruments = timed()
    made.visit()
    found = soundness(call, made, SLOTS, TIMING, instruments)
    assert found.rotation is None or agree(found.rotation)
    made.close()


def test_a_spacer_takes_a_microsecond_or_two_and_is_taken_off() -> None:
    _, plain, instruments = timed()
    _, spaced, _ = timed(Manner(spaced=True))
    assert 0.5 < instruments.spacer.us < 5.0 and spaced.spacer_us == pytest.approx(instruments.spacer.us, rel=0.1)
    assert min(spaced.visit().us) == pytest.approx(min(plain.visit().us), rel=0.05)
    for each in (plain, spaced):
        each.close()


def test_a_slowed_arm_is_slower_by_the_launches_that_were_added() -> None:
    _, plain, _ = timed()
    _, slowed, _ = timed(Manner(slowed=0.1))
    plain.visit(), slowed.visit()
    added = Manner(slowed=0.1).extra(slowed.pace.launches) / slowed.pace.launches
    ratios = sorted(min(slowed.visit().us) / min(plain.visit().us) for _ in range(5))
    assert added > 0.05 and ratios[2] == pytest.approx(1 + added, abs=0.007)
    for each in (plain, slowed):
        each.close()


def test_the_sm_clock_of_a_visit_is_a_gpus() -> None:
    _, made, _ = timed()
    mhz = made.visit().sm_clock_mhz
    assert mhz is not None and 500 < mhz < 3500
    assert back_to_back_us(made._recording.replay, 1, 2)[0] > 0
    made.close()


@pytest.mark.timeout(600)  # FlashInfer may compile its kernels first
def test_a_real_arm_is_timed_soundly_and_its_kernels_are_known() -> None:
    pytest.importorskip("flashinfer")
    paged = arm("backends.flashinfer_paged:FlashInferPaged", page_size=16, kv_dtype="bfloat16", backend="flashinfer")
    cell = decode(*(4096,) * 16, generated=64, dtype="bfloat16")
    small = decode(4096, generated=64, dtype="bfloat16")  # asks for so many pools that there are twice as many as the large one needs
    asked = replace(stage(device="cuda", dtype="bfloat16"), pool_tokens=200_000)
    result, _ = trial.run(paged, [cell, small], asked, TIMING, silent)
    assert result.outcome is Outcome.MEASURED, result.detail
    assert result.identity is not None and result.identity.nodes and result.soundness is not None
    rotation, slope = result.soundness.rotation, result.soundness.slope
    assert rotation is not None and agree(rotation) and slope is not None and agree(slope), result.soundness
    assert result.soundness.eager is not None and not penalised(result.soundness), result.soundness
    assert not any(label.startswith(WARM) for label in result.labels)
