"""What differs between two environments, and which arms that can touch."""

from __future__ import annotations

from dataclasses import replace

from backends.environment import Distribution
from backends.measured import Identity, KernelNode
from backends.outcome import Outcome
from store.verdicts.comparison import Label
from tests.store.building import a_run, a_trial, environment
from tests.tuner.comparing.made import compared
from tests.tuner.comparing.test_differences import GATE, RUN, times
from tuner.comparing.dispatch import beside, dispatches
from tuner.comparing.judge import judge
from tuner.comparing.sameness import controls, moved, other_board, untouched

FLASHINFER, FA3 = RUN.arms[1].name, RUN.arms[0].name


def upgraded(flashinfer: str = "0.7.1"):
    measured = compared(RUN, 6, times())
    return replace(measured, candidate=replace(measured.candidate, environment=environment(flashinfer)))


def test_an_upgrade_touches_the_arms_that_import_it_and_leaves_the_others_as_controls():
    (change,) = moved(RUN, upgraded().candidate)
    assert (change.what, change.before, change.after, change.touches) == ("flashinfer-python", "0.6.14", "0.7.1", (FLASHINFER,))
    assert controls(upgraded()) == {FA3}
    rows = judge(upgraded(), GATE).rows
    assert {row.arm for row in rows if row.control} == {FA3} and {row.arm for row in rows if not row.control} == {FLASHINFER}


def test_where_nothing_moved_every_arm_is_compared():
    same = compared(RUN, 2, times())
    assert moved(same.baseline, same.candidate) == () and untouched(same) and controls(same) == frozenset()


def test_where_nothing_moved_it_is_the_measuring_that_is_measured_unless_settings_differ():
    same = compared(RUN, 2, times())
    set_apart = replace(same, said=("present", "with:gpu.simulated.noise.visit_pct=1"))
    notes = [judge(measured, GATE).notes[-1] for measured in (same, replace(set_apart, said=set_apart.said[1:] * 2), set_apart)]
    assert ["measures the measuring" in note for note in notes] == [True, True, False] and "what with: sets" in notes[-1]


def test_one_version_with_other_contents_is_told_apart_by_its_hash():
    rebuilt = replace(
        environment(), distributions=(Distribution("flashinfer-python", "0.6.14", "sha256:other"), *environment().distributions[1:])
    )
    (change,) = moved(RUN, replace(RUN, environment=rebuilt))
    assert (change.before, change.after) == ("0.6.14 (sha256:0.6.1)", "0.6.14 (sha256:other)")


def test_two_versions_of_which_no_contents_are_known_are_two():
    """As of a wheel whose RECORD has no hashes: both digest to that of nothing."""
    old, new = (
        replace(RUN, environment=replace(environment(), distributions=(Distribution("flashinfer-python", version, "none"),)))
        for version in ("0.5.3", "0.6.4")
    )
    assert [(change.before, change.after) for change in moved(old, new)] == [("0.5.3", "0.6.4")]


def test_torch_and_variables_touch_every_arm():
    torch = replace(environment(), distributions=(environment().distributions[0], Distribution("torch", "2.12.0", "sha256:8")))
    where = replace(torch, imports=(*torch.imports, ("torch", "torch")), variables=(("TRITON_F32_DEFAULT", "ieee"),))
    base = replace(RUN, environment=replace(environment(), imports=(*environment().imports, ("torch", "torch"))))
    assert {change.what for change in moved(base, replace(RUN, environment=where)) if change.touches == ("every arm",)} >= {
        "torch",
        "TRITON_F32_DEFAULT",
    }


def test_a_control_that_moved_leaves_nothing_concluded():
    def shifted(side, arm, cell, block, place):
        return times(0.03)(side, arm, cell, block, place)

    measured = compared(RUN, 9, shifted)
    verdict = judge(replace(measured, candidate=replace(measured.candidate, environment=environment("0.7.1"))), GATE)
    assert verdict.shifted and verdict.label is Label.INCONCLUSIVE and verdict.exit_code == 3


def test_two_boards_are_no_comparison_of_versions():
    here = environment()
    there = replace(here, board=replace(here.board, uuid="GPU-beef"))
    assert other_board(here, here) is None
    assert "GPU-beef" in str(other_board(here, there))


def test_times_of_runs_alone_are_no_pair():
    assert judge(compared(a_run(), 2, times()), GATE).rounds == 2


def test_an_arm_that_runs_no_more_has_regressed_whatever_its_times_said():
    trial = a_trial(RUN, 0, 0)
    gone = replace(trial, outcome=Outcome.REFUSED, detail="no such kernel", cost=None, identity=None)
    wrong = replace(gone, outcome=Outcome.INCORRECT)
    measured = compared(RUN, 4, times())
    measured = replace(measured, baseline=replace(measured.baseline, trials=(trial,)))
    short = judge(replace(measured, candidate=replace(measured.candidate, trials=(replace(gone, outcome=Outcome.OUT_OF_MEMORY),))), GATE)
    assert (short.label, short.exit_code) == (Label.INCONCLUSIVE, 3)  # of memory a side has a third, a server all of it
    for failed, code in ((gone, 1), (wrong, 5)):
        verdict = judge(replace(measured, candidate=replace(measured.candidate, trials=(failed,))), GATE)
        assert (verdict.label, verdict.exit_code) == (Label.REGRESSED, code)
        assert [(each.arm, each.detail) for each in verdict.broken] == [(trial.arm, "no such kernel")]


def test_another_path_and_other_launches_are_told_apart_from_the_same_code():
    node = KernelNode("decode", (132, 1, 1), (128, 1, 1), 0, (1,))
    fa2, fa3 = Identity("fa2", "graph", ("a",), (node,)), Identity("fa3", "graph", ("b",), (replace(node, name="b"),))
    regrid = Identity("fa2", "graph", ("a",), (replace(node, grid=(66, 1, 1)),))

    def found(after):
        before = replace(RUN, trials=(replace(a_trial(RUN, 0, 0), identity=fa2),))
        now = replace(RUN, trials=(replace(a_trial(RUN, 0, 0), identity=after),))
        measured = compared(RUN, 1, times())
        (dispatch,) = dispatches(replace(measured, baseline=before, candidate=now))
        return dispatch

    assert (found(fa2).kernels, found(fa2).code) == (None, True)
    assert (found(fa3).before, found(fa3).after, found(fa3).kernels, found(fa3).code) == ("fa2", "fa3", "gone: a; new: b", False)
    assert found(regrid).kernels == "a: grid (132, 1, 1) to (66, 1, 1)"
    assert found(Identity("fa2", "graph", ("a",))).code is None


def test_a_path_that_a_library_chose_is_known_by_the_arm_that_asks_for_it_and_ran_the_same_kernels():
    node = KernelNode("k", (132, 1, 1), (128, 1, 1), 0, (1,))
    chosen, asked = Identity("auto", "graph", ("ns::k<1>",), (node,)), Identity("fa2", "graph", ("ns::k<1>",), (node,))
    moved = Identity("fa3", "graph", ("ns::k<2>", "ns::other<3>"), (replace(node, code=(2,)), replace(node, name="o")))
    first, second = (a_trial(RUN, arm, 0) for arm in (0, 1))
    before = replace(RUN, trials=(replace(first, identity=chosen), replace(second, identity=asked)))
    after = replace(RUN, trials=(replace(first, identity=moved), replace(second, identity=asked)))
    found = dispatches(replace(compared(RUN, 1, times()), baseline=before, candidate=after))
    assert [(each.before, each.after, each.twin) for each in found] == [("auto", "fa3", second.arm), ("fa2", "fa2", first.arm)]
    assert found[0].kernels == "new: ns::other; another variant of ns::k" and found[1].kernels is None
    other = replace(before, trials=(before.trials[0], replace(second, identity=replace(asked, nodes=(replace(node, code=(3,)),)))))
    assert dispatches(replace(compared(RUN, 1, times()), baseline=other, candidate=after))[0].twin is None


def test_a_first_call_that_found_another_arms_kernels_is_not_compared_with_one_that_built_them():
    found, built = ((("k", where),) for where in ("attnpin's cache", "built here"))
    trial = replace(a_trial(RUN, 0, 0), first_call_s=0.1, kernel_files=found)
    before, after = replace(RUN, trials=(trial,)), replace(RUN, trials=(replace(trial, first_call_s=20.0, kernel_files=built),))
    measured = replace(compared(RUN, 1, times()), baseline=before, candidate=after)
    assert [each.what for each in beside(measured)] == []
    alike = replace(RUN, trials=(replace(trial, first_call_s=20.0),))
    assert [each.what for each in beside(replace(measured, candidate=alike))] == ["first call"]
