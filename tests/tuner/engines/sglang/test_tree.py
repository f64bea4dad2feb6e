from __future__ import annotations

from store.scenario import Speculation
from tests.tuner.scenarios import B200, DSV3, H100, LLAMA, scenario
from tuner.engines.sglang.resolution import answer_to
from tuner.engines.sglang.tree import plain_tree, tree_for


def walked(*arguments: object, **flags: object) -> list[tuple[str, bool | None]]:
    tree = tree_for(answer_to(scenario(*arguments, **flags), "0.5.22"))  # type: ignore[arg-type]
    return [(branch.rule, branch.taken) for branch in tree.branches if branch.taken is not None]


def test_branches_are_asked_in_order_until_one_holds() -> None:
    assert walked(H100) == [("default.whisper", False), ("default.mha.hopper", True)]
    rest = ("default.mha.hopper", "default.mha.sm100-widths", "default.mha.sm100", "default.mha.rocm", "default.mha.mps")
    missed = [("default.whisper", False), *((rule, False) for rule in rest)]
    assert walked(B200, LLAMA, speculation=Speculation("EAGLE")) == [*missed, ("default.mha.flashinfer", True)]


def test_what_came_before_the_tree_is_named_in_its_place() -> None:
    assert tree_for(answer_to(scenario(B200, DSV3), "0.5.22")).instead == "mla.trtllm, base trtllm_mla,"
    assert tree_for(answer_to(scenario(attention_backend="triton"), "0.5.22")).instead == "--attention-backend triton"
    assert walked(B200, DSV3) == []


def test_each_release_has_its_tree() -> None:
    old, new = (plain_tree(version).branches for version in ("0.5.16", "0.5.22"))
    assert "fa4" in {branch.backend for branch in new} and "fa4" not in {branch.backend for branch in old}
    assert all(branch.taken is None and branch.because for branch in new)
