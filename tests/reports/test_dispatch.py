from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from reports.dispatch import MORE, grouped, sentences
from store.verdicts.version_verdict import Dispatch

AUTO, FA2 = "flashinfer/p1,decode_backend=auto", "flashinfer/p1"
CELLS = ("decode-16", "decode-64")
MOVED = tuple(Dispatch(AUTO, cell, "auto", "fa3", "gone: ns::a; new: ns::b", False, FA2) for cell in CELLS)
STAYED = tuple(Dispatch(FA2, cell, "fa2", "fa2", None, True) for cell in CELLS)


def test_cells_with_the_same_change_are_one_sentence_that_says_what_auto_was() -> None:
    moved, same = sentences((*MOVED, *STAYED))
    assert moved == (
        f"{AUTO} on decode-16, decode-64 now means fa3, and was auto, which then ran the kernels of fa2; {FA2} still runs the same machine "
        "code: the dispatch changed, not a kernel (gone: ns::a; new: ns::b)"
    )
    assert same == f"the same machine code on every cell not named above: {FA2}"


def test_where_the_arm_that_asks_for_it_changed_too_no_kernel_is_acquitted() -> None:
    (moved, _, _) = sentences((*MOVED, replace(STAYED[0], code=False), STAYED[1]))
    assert moved.endswith("which then ran the kernels of fa2: the dispatch changed (gone: ns::a; new: ns::b)")


def test_other_code_on_the_same_path_and_an_unknown_dispatch_are_told_apart() -> None:
    told = list(sentences((Dispatch("fa3/p1", "decode-16", "fa3", "fa3", "ns::a: grid (1, 1, 1) to (2, 1, 1)", True), MOVED[0])))
    assert told == [
        "fa3/p1 on decode-16 runs other code on the same path (fa3) (ns::a: grid (1, 1, 1) to (2, 1, 1))",
        f"{AUTO} on decode-16 now means fa3, and was auto: the dispatch changed (gone: ns::a; new: ns::b)",
    ]
    (silent,) = sentences((replace(STAYED[0], code=None),))
    assert silent == f"kernels of the same names, whose machine code the driver does not tell: {FA2}"


@given(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from(["x", "y", "z"]), st.sampled_from(["1", "2"])), unique=True))
def test_every_change_is_in_one_group_and_groups_keep_their_order(changes: list[tuple[str, str, str]]) -> None:
    found = [Dispatch(arm, cell, "old", path, None, False) for arm, cell, path in changes]
    groups = grouped(found)
    assert sorted(map(repr, sum(groups, []))) == sorted(map(repr, found))
    assert all(len({(each.arm, each.after) for each in group}) == 1 for group in groups)
    assert [found.index(group[0]) for group in groups] == sorted(found.index(group[0]) for group in groups)


def test_more_than_fit_are_counted() -> None:
    many = [replace(MOVED[0], arm=f"arm-{number}", twin=None) for number in range(MORE + 2)]
    assert list(sentences(many))[-1] == "and 2 more; --json has all"
