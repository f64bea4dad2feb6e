"""Every misfortune of a simulated GPU is found by what is there to find it on a real one, and said in its words."""

from __future__ import annotations

from dataclasses import replace
from statistics import median

import pytest

from backends import anchors
from backends.anchored import KNOWN_WITHIN
from backends.blame import ArmFailed
from backends.cell import PageLayout
from backends.deviation import SHOWED, Deviation, Step
from backends.measured import Round
from backends.outcome import Outcome
from backends.simulated.world import Misfortune, Noise
from backends.timing.disturbance import Disturbed
from backends.without_graph import WRONG
from tests.backends.simulated.worlds import CALM, DECODE, FA3, FLASHINFER, PREFILL, TIMING, fault, raced, stage, struck, tried
from tests.backends.small import silent

SHORT = replace(FA3, deviations=(Deviation("sees one key fewer", ("window",), (Step.DECODE,), -1, "made up"),))
WINDOWED = replace(DECODE, layer=replace(DECODE.layer, name="window", sliding_window=64))
WRONG_OR_DEAD = {
    "out_of_memory": (Outcome.OUT_OF_MEMORY, "CUDA out of memory"),
    "no_compiler": (Outcome.BUILD_FAILED, "Could not find nvcc"),
    "build_fails": (Outcome.BUILD_FAILED, "Ninja build failed"),
    "no_code": (Outcome.REFUSED, "no kernel image is available"),
    "refused": (Outcome.REFUSED, "does not take this decode"),
    "falls_back": (Outcome.FELL_BACK, "falls back to another kernel"),
    "nans": (Outcome.INCORRECT, "65536 of 65536 output elements are NaN or infinite: wrong, or never written"),
    "lost_key": (Outcome.INCORRECT, "a query aimed at one key (newest) errs by 1.00e+00"),
    "unwritten": (Outcome.INCORRECT, "16 of 16 new keys were not written to pool slot"),
    "warm_cache": (Outcome.IMPLAUSIBLE, "9600 GB/s of unique KV, this memory gives 4800 GB/s"),
}
LATER = 12.0  # seconds into a process, when all stands and the first cell is warmed up
PROBING = 10.6  # when an arm alone has opened
OF_THE_DEVICE = {
    "foreign_process": "somebody else started to use the GPU, 1024 MiB more are taken than this process reserved",
    "power_limit": "the power limit was changed from 700 W to 630 W",
    "ecc": "uncorrected memory errors (ECC): 1",
    "xid": "the driver reported Xid 31",
}
FOR_A_WHILE = {
    "thermal": "thermal slowdown by the hardware (91 C, 700 W, 1980 MHz SM clock)",
    "power_brake": "power brake (61 C, 700 W, 1980 MHz SM clock)",
}
DOUBTS = {
    "partly_warm": "warm-risk: over twice as many pools a call takes 1.050 of the time",
    "uneven": "graph overhead: a launch more takes 0.950 of the mean one",
    "overlaps": "overlap-sensitive: with another kernel between, a call takes 1.100 of the time",
}


@pytest.mark.parametrize("kind", WRONG_OR_DEAD)
def test_an_arm_that_is_wrong_too_fast_or_does_not_run_has_its_outcome_and_the_other_none(kind: str) -> None:
    world = struck(fault(kind, backend="fa3"))
    outcome, sentence = WRONG_OR_DEAD[kind]
    on_decode, on_prefill = tried(world)
    assert on_decode.outcome is on_prefill.outcome is outcome and sentence in (on_decode.detail or "")
    assert {trial.outcome for trial in tried(world, FLASHINFER)} == {Outcome.MEASURED}


def test_a_library_built_for_another_torch_is_a_missing_package_and_costs_its_arm_alone() -> None:
    world = struck(fault("wrong_abi", backend="fa3"))
    for trial in tried(world):
        assert trial.outcome is Outcome.MISSING_PACKAGE and "fa3_ops.abi3.so: undefined symbol" in (trial.detail or "")
    assert {trial.outcome for trial in tried(world, FLASHINFER)} == {Outcome.MEASURED}
    with pytest.raises(ArmFailed) as failed:
        raced(world)
    assert (failed.value.arm, failed.value.outcome) == (FA3.name, Outcome.MISSING_PACKAGE)


@pytest.mark.parametrize("kind", [kind for kind in WRONG_OR_DEAD if kind != "lost_key"])
def test_an_arm_that_fails_in_a_round_is_blamed_for_it(kind: str) -> None:
    with pytest.raises(ArmFailed) as failed:
        raced(struck(fault(kind, backend="flashinfer", cell="decode")))
    assert (failed.value.arm, failed.value.cell, failed.value.outcome) == ("flashinfer/p1", "decode", WRONG_OR_DEAD[kind][0])


def test_a_fault_of_one_phase_leaves_the_other_be() -> None:
    on_decode, on_prefill = tried(struck(fault("nans", backend="fa3", phase=PREFILL.phase)))
    assert (on_decode.outcome, on_prefill.outcome) == (Outcome.MEASURED, Outcome.INCORRECT)


def test_an_answer_that_turns_wrong_while_it_is_timed_is_caught_after_the_last_sample() -> None:
    last = dict(raced(CALM, [FA3], [DECODE]).seconds)
    until_timed = sum(last[phase] for phase in ("import", "build", "capture", "warmup")) + last["check"] / 2 + last["timing"] / 2
    with pytest.raises(ArmFailed, match="NaN or infinite"):
        raced(struck(fault("nans", backend="fa3", after_s=until_timed)), [FA3], [DECODE])


@pytest.mark.parametrize("kind", OF_THE_DEVICE)
def test_what_no_repeat_mends_breaks_the_process_off_and_blames_no_arm(kind: str) -> None:
    with pytest.raises(Disturbed) as disturbed:
        raced(struck(fault(kind, after_s=LATER)))
    assert str(disturbed.value) == f"measurement invalid: {OF_THE_DEVICE[kind]}"


@pytest.mark.parametrize("kind", FOR_A_WHILE)
def test_heat_that_passes_voids_a_block_which_is_timed_again(kind: str) -> None:
    struck_once = raced(struck(fault(kind, after_s=LATER + 2, for_s=1.0)))
    voided = [sentence for cell in struck_once.cells for sentence in cell.voided]
    assert voided == [FOR_A_WHILE[kind]]
    calm = raced(CALM)
    assert [len(cell.visits) for cell in struck_once.cells] == [len(cell.visits) for cell in calm.cells]


@pytest.mark.parametrize("kind", FOR_A_WHILE)
def test_heat_that_stays_breaks_the_process_off(kind: str) -> None:
    with pytest.raises(Disturbed) as disturbed:
        raced(struck(fault(kind)))
    assert str(disturbed.value) == f"measurement invalid: {FOR_A_WHILE[kind]}, again after 3 rests of 10 s"


@pytest.mark.parametrize("kind", OF_THE_DEVICE)
def test_what_no_repeat_mends_breaks_a_probe_off_in_the_same_words(kind: str) -> None:
    with pytest.raises(Disturbed) as disturbed:
        tried(struck(fault(kind, after_s=PROBING)))
    assert str(disturbed.value) == f"measurement invalid: {OF_THE_DEVICE[kind]}"


@pytest.mark.parametrize("kind", FOR_A_WHILE)
def test_a_probe_that_heat_slowed_is_timed_again_and_says_so(kind: str) -> None:
    on_decode, on_prefill = tried(struck(fault(kind, after_s=PROBING, for_s=1.0)))
    assert (on_decode.labels, on_prefill.labels) == ((f"timed again: {FOR_A_WHILE[kind]}",), ())
    assert on_decode.outcome is Outcome.MEASURED


@pytest.mark.parametrize("kind", FOR_A_WHILE)
def test_heat_that_stays_breaks_a_probe_off(kind: str) -> None:
    with pytest.raises(Disturbed) as disturbed:
        tried(struck(fault(kind)))
    assert str(disturbed.value) == f"measurement invalid: {FOR_A_WHILE[kind]}, again after 3 rests of 10 s"


def test_an_arm_without_memory_is_not_blamed_where_a_stranger_took_it() -> None:
    world = struck(fault("out_of_memory", backend="fa3"), fault("foreign_process", after_s=PROBING - 0.2))
    for measured in (tried, raced):
        with pytest.raises(Disturbed, match="somebody else started to use the GPU"):
            measured(world)  # type: ignore[operator]


def test_a_power_cap_is_no_fault_and_is_said() -> None:
    measured = raced(struck(fault("power_cap")))
    assert measured.labels == ("power capped",) and not any(cell.voided for cell in measured.cells)


def test_what_the_management_library_refuses_is_not_verifiable() -> None:
    measured = raced(replace(CALM, telling=False))
    assert measured.labels == ("guard not verifiable", "not verifiable: processes, Xids, ECC, power limit")


def test_clocks_that_never_settle_are_said_with_the_cells_they_did_not_settle_on() -> None:
    measured = raced(replace(CALM, noise=Noise(drift_pct_per_minute=100.0)))
    assert measured.labels == ("unsettled",) and not any(cell.settled for cell in measured.cells)


def test_an_xid_of_the_arms_own_takes_the_context_with_it() -> None:
    world = struck(fault("xid", backend="fa3", phase=DECODE.phase))
    with pytest.raises(RuntimeError, match="illegal memory access"):  # the process cannot go on
        tried(world)
    with pytest.raises(ArmFailed) as failed:
        raced(world)
    assert (failed.value.arm, failed.value.cell, failed.value.outcome) == ("fa3/p1", "decode", Outcome.CRASHED)


def test_a_kernel_that_changed_under_its_name_has_another_code_and_the_same_name() -> None:
    def known(*faults: str) -> tuple[tuple[str, ...], str]:
        world = struck(*(fault(kind, backend="fa3") for kind in faults))
        identity = tried(world, cells=[DECODE])[0].identity
        assert identity is not None
        return identity.kernels, dict(raced(world, [FA3], [DECODE]).cells[0].code_ids)["fa3/p1"]

    (names, code), (same_names, other_code) = known(), known("other_kernel")
    assert names == same_names and code != other_code


def test_a_kernel_of_an_eager_call_that_changed_under_its_name_has_another_code_too() -> None:
    known, changed = (dict(raced(world, [FA3], [PREFILL]).cells[0].code_ids) for world in (CALM, struck(fault("other_kernel"))))
    assert known["fa3/p1"] != changed["fa3/p1"]


def test_of_an_eager_call_that_cannot_be_recorded_no_code_is_known_and_that_is_said() -> None:
    measured = raced(struck(fault("waits", backend="fa3")))
    codes = {cell.cell: {name for name, _ in cell.code_ids} for cell in measured.cells}
    assert codes == {"decode": {"fa3/p1", "flashinfer/p1"}, "prefill": {"flashinfer/p1"}}
    assert measured.labels == ("kernels not verifiable: fa3/p1 on prefill",)


@pytest.mark.parametrize("kind", DOUBTS)
def test_a_time_that_hangs_on_how_it_is_taken_is_said(kind: str) -> None:
    (on_decode,) = tried(struck(fault(kind, backend="fa3")), cells=[DECODE])
    assert on_decode.labels == (DOUBTS[kind],)


def test_a_graph_that_costs_more_than_it_saves_is_said_with_both_grids() -> None:
    (on_decode,) = tried(struck(fault("graph_penalty", backend="fa3")), cells=[DECODE])
    assert on_decode.labels == (
        "graph penalty: in a graph a call takes 1.200 of the time of one launched eagerly",
        "graph penalty: grids 528x1x1 in the graph, 132x1x1 launched eagerly",
    )
    assert on_decode.soundness is not None and on_decode.soundness.eager == pytest.approx(1 / 1.2)


def test_a_graph_that_replays_what_it_was_recorded_on_is_wrong_where_it_is_captured_alone() -> None:
    on_decode, on_prefill = tried(struck(fault("stale_graph", backend="fa3")))
    assert (on_decode.outcome, on_prefill.outcome) == (Outcome.INCORRECT, Outcome.MEASURED)
    assert (on_decode.detail or "").startswith(f"{WRONG}: relative error 1.00e+00 against the reference")


def test_a_slow_build_is_booked_as_building_and_moves_no_time() -> None:
    slow, calm = (tried(world, cells=[DECODE])[0] for world in (struck(fault("slow_build", backend="fa3", seconds=95.0)), CALM))
    assert slow.first_call_s is not None and calm.first_call_s is not None
    assert slow.cost is not None and calm.cost is not None
    assert slow.first_call_s > 95 > calm.first_call_s and slow.cost.device_us == calm.cost.device_us


def test_weights_that_stream_between_two_calls_show_who_is_slower_beside_them() -> None:
    world, streamed = struck(fault("crowded", backend="fa3")), replace(DECODE, name="streamed")
    measured = raced(world, cells=[DECODE, streamed], spaced=["streamed"], streamed=(("streamed", 1 << 28),))
    usual, between = (levels(measured, cell) for cell in ("decode", "streamed"))
    assert between["fa3/p1"] / usual["fa3/p1"] > 1.2 and between["flashinfer/p1"] == pytest.approx(usual["flashinfer/p1"], rel=0.01)
    spacers = {cell.cell: cell.spacer_us for cell in measured.cells}
    assert spacers["decode"] is None and spacers["streamed"] == pytest.approx((1 << 28) / 4.8e12 * 1e6)


def test_pages_that_lie_at_random_show_who_is_slower_on_them() -> None:
    world, random = struck(fault("scattered", backend="fa3")), replace(DECODE, name="random", page_layout=PageLayout.RANDOM)
    measured = raced(world, cells=[DECODE, random])
    usual, scattered = (levels(measured, cell) for cell in ("decode", "random"))
    assert scattered["fa3/p1"] / usual["fa3/p1"] > 1.2 and scattered["flashinfer/p1"] == pytest.approx(usual["flashinfer/p1"], rel=0.01)


def levels(measured: Round, cell: str) -> dict[str, float]:
    """The median of each arm's samples, in us."""
    (found,) = (each for each in measured.cells if each.cell == cell)
    return {name: median(us for visit in found.visits if visit.arm == name for us in visit.sample_us) for name, _ in found.launches}


def test_what_is_declared_of_a_backend_is_what_it_answers_until_it_is_mended() -> None:
    said = f"{SHOWED}: 63 keys where the window has 64"
    for faults, labels in (((), (said,)), ((fault("mended", backend="fa3"),), ())):
        (trial,) = tried(struck(*faults), SHORT, [WINDOWED])
        assert (trial.outcome, trial.labels) == (Outcome.MEASURED, labels)
    assert tried(CALM, FA3, [WINDOWED])[0].labels == ()


@pytest.mark.parametrize("arm", ["declared", "undeclared"])
def test_a_key_that_a_window_lacks_beyond_what_is_declared_is_incorrect(arm: str) -> None:
    world, struck_arm = struck(fault("short_window", backend="fa3")), SHORT if arm == "declared" else FA3
    (trial,) = tried(world, struck_arm, [WINDOWED])
    assert trial.outcome is Outcome.INCORRECT and "relative error 1.00e+00" in (trial.detail or "")
    with pytest.raises(ArmFailed, match="relative error"):
        raced(world, [struck_arm, FLASHINFER], [WINDOWED])
    assert {each.outcome for each in tried(world, struck_arm)} == {Outcome.MEASURED}, "where there is no window"


def test_a_clock_that_sees_less_time_than_passes_is_found_by_a_known_one() -> None:
    calm, slow = (anchors.measure(stage(world), TIMING, None, silent)[0].measured_of_known for world in (CALM, struck(fault("slow_clock"))))
    assert calm == 1.0 and slow is not None and 1 - slow > KNOWN_WITHIN


def test_a_fault_of_one_process_is_told_to_that_one_alone() -> None:
    world = struck(fault("thermal", process=3), fault("nans", backend="fa3"))
    assert [len(world.of_process(number).faults) for number in (2, 3, 4)] == [1, 2, 1]


def test_every_misfortune_is_tried_here_or_beside_a_real_worker() -> None:
    beside_a_worker = {"crash", "hang", "killed", "exclusive"}
    here = {
        *WRONG_OR_DEAD,
        *OF_THE_DEVICE,
        *FOR_A_WHILE,
        *DOUBTS,
        "power_cap",
        "other_kernel",
        "waits",
        "slow_build",
        "starved",
        "slow_clock",
        "wrong_abi",
    }
    here |= {"graph_penalty", "stale_graph", "crowded", "scattered", "short_window", "mended"}
    assert here | beside_a_worker == {kind.value for kind in Misfortune}


@pytest.mark.parametrize("replays", [TIMING.replays, 40])
def test_a_starved_queue_voids_a_block_whether_it_lasts_one_reading_or_several(replays: int) -> None:
    starved = struck(fault("starved", after_s=LATER + 0.5, for_s=2.0))
    measured = raced(starved, [FA3, FLASHINFER], [DECODE], timing=replace(TIMING, replays=replays))
    assert [sentence for cell in measured.cells for sentence in cell.voided] == ["the GPU idled during a visit, its queue ran empty"]
