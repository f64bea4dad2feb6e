from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from backends.arm import Arm
from backends.cell import Phase
from backends.measured import Cost, Identity, Trial
from backends.outcome import Outcome
from tests.tuner.building import arm, decode, prefill
from tuner.racing.sieve import HOPELESS, entrants, left_out, measured_trials

CELLS = (decode("d1"), decode("d64"), prefill("p"))
DECODES, ALL = frozenset({"d1", "d64"}), frozenset({"d1", "d64", "p"})
FA3, TRITON, FLEX = arm("fa3"), arm("triton"), arm("flex_attention")
DEFAULT = {Phase.PREFILL: FA3.name, Phase.DECODE: FA3.name}


def trial(of: Arm, cell: str, us: float = 100.0, mode: str = "graph", kernels: tuple[str, ...] | None = None) -> Trial:
    identity = Identity(of.backend, mode, (f"{of.backend}_kernel",) if kernels is None else kernels)
    return Trial(of.name, cell, Outcome.MEASURED, identity=identity, cost=Cost(us, None, 1.0, 1.0))


def everywhere(*arms: Arm, **changes: object) -> list[Trial]:
    return [trial(of, cell, **changes) for of in arms for cell in sorted(ALL)]  # type: ignore[arg-type]


def field(trials: list[Trial], *arms: Arm, default: dict[Phase, str] = DEFAULT) -> dict[str, frozenset[str]]:
    return {entrant.arm.name: entrant.cells for entrant in entrants(arms, CELLS, trials, default)}


def failed(of: Arm, cell: str) -> Trial:
    return Trial(of.name, cell, Outcome.CRASHED, "SIGSEGV")


def test_arms_measured_everywhere_race_everywhere_and_the_default_stands_first() -> None:
    assert list(field(everywhere(FA3, TRITON), TRITON, FA3).items()) == [(FA3.name, ALL), (TRITON.name, ALL)]


def test_an_arm_that_failed_on_one_cell_races_on_the_other_phase_only() -> None:
    trials = [*everywhere(FA3), trial(TRITON, "d1"), failed(TRITON, "d64"), trial(TRITON, "p")]
    assert field(trials, FA3, TRITON)[TRITON.name] == frozenset("p")


def test_the_default_races_wherever_it_was_measured() -> None:
    trials = [trial(FA3, "d1"), failed(FA3, "d64"), *everywhere(TRITON)]
    assert field(trials, FA3, TRITON) == {FA3.name: frozenset({"d1"}), TRITON.name: ALL}


def test_a_copy_races_on_the_cells_it_was_entered_on_and_nowhere_without_its_original() -> None:
    slower = replace(TRITON, slowed=0.05)
    trials = [*everywhere(FA3, TRITON), trial(slower, "d64")]
    assert field(trials, FA3, TRITON, slower)[slower.name] == frozenset({"d64"})
    assert slower.name not in field([*trials, failed(TRITON, "d1")], FA3, TRITON, slower)


def test_an_arm_served_eagerly_never_races_against_a_graph() -> None:
    trials = [*everywhere(FA3), *everywhere(FLEX, mode="eager")]
    assert field(trials, FA3, FLEX) == {FA3.name: ALL}
    prefill_eager = [replace(t, identity=replace(t.identity, mode="eager")) if t.cell == "p" and t.identity else t for t in trials]
    assert field(prefill_eager, FA3, FLEX) == {FA3.name: ALL, FLEX.name: frozenset("p")}


def test_an_arm_that_is_hopeless_on_every_cell_of_a_phase_does_not_race_there() -> None:
    slow = 100.0 * HOPELESS * 1.01
    trials = [*everywhere(FA3), trial(TRITON, "d1", slow), trial(TRITON, "d64", slow), trial(TRITON, "p")]
    assert field(trials, FA3, TRITON)[TRITON.name] == frozenset("p")
    trials[-2] = trial(TRITON, "d64", slow / 1.02)
    assert field(trials, FA3, TRITON)[TRITON.name] == ALL


def test_a_slow_default_races_all_the_same() -> None:
    assert field([*everywhere(FA3, us=1e6), *everywhere(TRITON)], FA3, TRITON) == {FA3.name: ALL, TRITON.name: ALL}


def test_two_names_for_the_same_kernels_are_one_arm() -> None:
    again = replace(TRITON, backend="triton_again")
    trials = [*everywhere(FA3, TRITON), *(replace(t, arm=again.name) for t in everywhere(TRITON))]
    assert set(field(trials, FA3, TRITON, again)) == {FA3.name, TRITON.name}
    assert set(field(trials, FA3, again, TRITON)) == {FA3.name, again.name}


def test_arms_whose_kernels_cannot_be_read_are_never_taken_for_one() -> None:
    again = replace(TRITON, backend="triton_again")
    trials = [*everywhere(FA3), *everywhere(TRITON, kernels=())]
    trials += [replace(t, arm=again.name) for t in everywhere(TRITON, kernels=())]
    assert set(field(trials, FA3, TRITON, again)) == {FA3.name, TRITON.name, again.name}


def test_the_same_kernels_at_another_page_size_or_from_another_library_are_another_arm() -> None:
    paged, elsewhere = replace(TRITON, page_size=64), replace(TRITON, backend="triton_fork", packages=("triton_fork",))
    trials = [*everywhere(FA3, TRITON), *(replace(t, arm=of.name) for of in (paged, elsewhere) for t in everywhere(TRITON))]
    assert set(field(trials, FA3, TRITON, paged, elsewhere)) == {FA3.name, TRITON.name, paged.name, elsewhere.name}


def test_an_arm_of_the_default_races_also_where_it_runs_the_kernels_of_another() -> None:
    twin = replace(FA3, backend="fa3_twin")
    trials = [*everywhere(FA3), *(replace(t, arm=twin.name) for t in everywhere(FA3))]
    split = {Phase.PREFILL: FA3.name, Phase.DECODE: twin.name}
    assert field(trials, FA3, twin, default=split) == {FA3.name: ALL, twin.name: ALL}


def test_without_a_default_everything_that_was_measured_races() -> None:
    trials = [*everywhere(TRITON), *everywhere(FLEX, mode="eager", us=1e6)]
    assert field(trials, FA3, TRITON, FLEX, default={}) == {TRITON.name: ALL, FLEX.name: ALL}


def test_a_failure_after_a_success_withdraws_the_arm() -> None:
    trials = [*everywhere(FA3, TRITON), failed(TRITON, "d1")]
    assert (TRITON.name, "d1") not in measured_trials(trials)
    assert field(trials, FA3, TRITON)[TRITON.name] == frozenset("p")
    assert (TRITON.name, "d1") in measured_trials([*trials, trial(TRITON, "d1")])


def test_nothing_measured_nothing_races() -> None:
    assert field([], FA3, TRITON) == {}


US = st.floats(1.0, 1e5)


@given(st.lists(st.tuples(st.sampled_from([FA3, TRITON, FLEX]), st.sampled_from(sorted(ALL)), US, st.sampled_from(["graph", "eager"]))))
def test_what_races_was_measured_there_in_the_mode_of_the_default_and_no_default_is_left_out(
    found: list[tuple[Arm, str, float, str]],
) -> None:
    trials = [trial(of, cell, us, mode) for of, cell, us, mode in found]
    measured = measured_trials(trials)
    racing = field(trials, FA3, TRITON, FLEX)
    assert racing.get(FA3.name, frozenset()) == {cell for of, cell in measured if of == FA3.name}
    for name, cells in racing.items():
        for cell in cells:
            identity, default = measured[name, cell].identity, measured.get((FA3.name, cell))
            assert identity and (default is None or (default.identity and identity.mode == default.identity.mode))


def reasons(trials: list[Trial], *arms: Arm) -> dict[tuple[str, Phase], str]:
    return {(each.arm, each.phase): each.because for each in left_out(arms, CELLS, trials, DEFAULT)}


def test_an_arm_that_was_measured_and_does_not_race_has_its_reason_in_numbers() -> None:
    again = replace(TRITON, backend="triton_again")
    trials = [*everywhere(FA3, TRITON), *(replace(t, arm=again.name) for t in everywhere(TRITON))]
    trials += [trial(FLEX, "d1", 5000.0, "eager"), trial(FLEX, "d64", 5000.0, "eager"), trial(FLEX, "p", 450.0)]
    found = reasons(trials, FA3, TRITON, FLEX, again)
    assert found[FLEX.name, Phase.DECODE] == (
        "it is served in eager mode, fa3/p1 in graph mode (alone on d1: 5000 us against 100.0 us), "
        "and the two are not ranked against each other"
    )
    assert found[FLEX.name, Phase.PREFILL] == "alone it took over 4 times the time of fa3/p1 on every cell (p: 450.0 us against 100.0 us)"
    assert "the very kernels of another arm" in found[again.name, Phase.DECODE]
    assert {name for name, _ in found} == {FLEX.name, again.name}


def test_an_arm_that_failed_or_was_not_tried_is_not_said_to_be_left_out() -> None:
    trials = [*everywhere(FA3), trial(TRITON, "d1", 1e6), failed(TRITON, "d64")]
    assert reasons(trials, FA3, TRITON, FLEX) == {}
