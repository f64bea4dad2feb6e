"""A simulated GPU is measured by the code that measures a real one, without a library, and nothing is waited for."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

from backends.kv.rotation import MIN_SLOTS
from backends.outcome import Outcome
from backends.simulated.world import Noise
from backends.timing.roofline import MARGIN
from tests.backends.simulated.worlds import CALM, CELLS, DECODE, FA3, FLASHINFER, PREFILL, TIMING, arm, raced, tried

ROOT = Path(__file__).parents[3]
NOISY = replace(CALM, noise=Noise(common_pct=1.0, process_pct=0.3, visit_pct=0.2, sample_pct=0.3, transient_pct=1.0))


def test_a_round_holds_every_arms_visits_in_palindromes_and_its_own_seconds() -> None:
    began = time.monotonic()
    measured = raced(NOISY)
    assert {cell.cell for cell in measured.cells} == {cell.name for cell in CELLS}
    for cell in measured.cells:
        for block in range(TIMING.blocks):
            order = [visit.arm for visit in cell.visits if visit.block == block]
            assert order == order[::-1] and set(order) == {FA3.name, FLASHINFER.name}
    seconds = dict(measured.seconds)
    assert seconds["warmup"] >= len(CELLS) * TIMING.warmup_s and sum(seconds.values()) > 10 * (time.monotonic() - began)


def test_the_same_seed_measures_the_same_round_to_the_bit_and_another_another() -> None:
    assert raced(NOISY, seed=1) == raced(NOISY, seed=1)
    assert raced(NOISY, seed=1).cells != raced(NOISY, seed=2).cells


def test_decode_is_captured_inside_the_captured_batches_and_prefill_launched() -> None:
    large = replace(DECODE, name="large", padded_batch=512)
    modes = {trial.cell: trial.identity.mode for trial in tried(CALM, cells=(*CELLS, large)) if trial.identity}
    assert modes == {"decode": "graph", "prefill": "eager", "large": "eager"}
    (uncaptured,) = tried(replace(CALM, eager=("fa3",)), cells=[DECODE])
    assert uncaptured.identity is not None and uncaptured.identity.mode == "eager"


def test_a_probe_knows_time_cost_memory_and_errors_as_of_a_real_arm() -> None:
    on_decode, on_prefill = tried(CALM)
    assert on_decode.outcome is Outcome.MEASURED and on_decode.cost is not None and on_prefill.cost is not None
    assert on_decode.cost.served_us is None and on_prefill.cost.served_us is not None
    assert on_prefill.cost.served_us > on_prefill.cost.device_us
    assert 0 < on_decode.cost.metadata_host_us < on_decode.cost.metadata_idle_us
    assert on_decode.slots is not None and on_decode.slots >= MIN_SLOTS
    assert None not in (on_decode.workspace_bytes, on_decode.graph_bytes, on_decode.peak_memory_bytes, on_decode.relative_error)
    assert on_decode.bandwidth_bytes_per_s is not None and on_decode.bandwidth_bytes_per_s < MARGIN["cuda"] * 4.8e12


def test_a_board_with_too_little_memory_is_short_of_pools_and_says_so() -> None:
    small = replace(CALM, board=replace(CALM.board, memory_bytes=3 << 30))
    assert "warm-risk" in raced(small).labels
    tiny = replace(CALM, board=replace(CALM.board, memory_bytes=(1 << 30) + (1 << 20)))
    assert {trial.outcome for trial in tried(tiny)} == {Outcome.OUT_OF_MEMORY}


def test_any_backend_is_driven() -> None:
    assert {trial.outcome for trial in tried(CALM, arm("some_new_backend"))} == {Outcome.MEASURED}


def test_no_library_is_imported_on_the_way() -> None:
    code = (
        "import sys; sys.modules['torch'] = sys.modules['sglang'] = None\n"
        "from tests.backends.simulated.worlds import CALM, raced, tried\n"
        "assert len(raced(CALM).cells) == len(tried(CALM)) == 2"
    )
    done = subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_an_arm_that_is_left_out_of_a_cell_is_not_seated_there() -> None:
    measured = raced(CALM, [FA3], [PREFILL])
    assert [{visit.arm for visit in cell.visits} for cell in measured.cells] == [{FA3.name}]
