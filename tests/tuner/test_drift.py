from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from backends.limits import Limit
from store.engines.drift import Drift
from tests.asking import entries
from tests.tuner.scenarios import B200, H100, MIMO, scenario
from tuner.drift import drift_of
from tuner.drifting.compare import differences
from tuner.drifting.matrix import DocsRow
from tuner.engines.sglang.pick import default_pick
from tuner.errors import UsageError

ALL = entries()


def found(rules: str = "0.5.22", config_dir: str | None = None) -> dict[str, Drift]:
    return {one.name: one for one in (drift_of(ALL.values(), rules, config_dir) if config_dir else shipped(rules))}


@cache
def shipped(rules: str) -> tuple[Drift, ...]:
    """Of a release, without a folder of one's own."""
    return tuple(drift_of(ALL.values(), rules))


def compared(row: DocsRow, rules: str = "0.5.22") -> dict[str, Drift]:
    return {one.name.rpartition("-")[2]: one for one in differences([row], ALL, rules)}


def test_every_cell_says_what_two_sources_say_and_where() -> None:
    for rules in ("0.5.16", "0.5.22", "0.5.23"):
        cells = shipped(rules)
        assert len({one.name for one in cells}) == len(cells)
        for one in cells:
            said = [each for each in (one.docs, one.docstring, one.code) if each is not None]
            assert len(said) > 1 and all(each.says and len(each.where) > 8 for each in said), one.name
            assert any(each.says != one.code.says for each in said), one.name


@pytest.mark.parametrize(
    ("name", "rules"),
    [
        ("removed-cutlass_mla", "0.5.22"),
        ("removed-dual_chunk_flash_attn", "0.5.23"),
        ("docs-mha-blackwell", "0.5.22"),
        ("docstring-page-size", "0.5.16"),
        ("docstring-trtllm-sm120", "0.5.22"),
        ("docstring-page-256", "0.5.16"),
        ("message-mla-pages", "0.5.22"),
        ("help-split-tile", "0.5.22"),
        ("help-kv-splits", "0.5.22"),
        ("docstring-draft-extend", "0.5.22"),
        ("message-cross-attention", "0.5.22"),
        ("name-nsa", "0.5.22"),
        ("matrix-trtllm_mha-mha-topk_many", "0.5.23"),
        ("matrix-trtllm_mha-mha-pages", "0.5.22"),
        ("matrix-flashinfer-mla-fp8_kv", "0.5.22"),
        ("unlisted-hpc_ops", "0.5.22"),
    ],
)
def test_a_known_difference_is_listed(name: str, rules: str) -> None:
    assert name in found(rules)


def test_a_release_lists_its_own_differences_only() -> None:
    assert "removed-cutlass_mla" not in found("0.5.16") and "docs-mha-blackwell" not in found("0.5.16")
    assert "docs-gated-delta-sm120" in found("0.5.16") and "docs-gated-delta-sm120" not in found("0.5.22")


def test_what_the_code_is_said_to_do_is_what_the_rules_do() -> None:
    """Handbook: fa4 for unequal widths on Blackwell (h03), fa3 whatever the page size (h04), names rejected (h02)."""
    picks = {
        "docs-mha-blackwell": default_pick(scenario(B200, MIMO), ALL.values(), "0.5.22").decode,
        "docstring-page-size": default_pick(scenario(H100, page_size=64), ALL.values(), "0.5.22").decode,
    }
    listed = found()
    assert {name: listed[name].code.says.partition(":")[0] for name in picks} == picks == {
        "docs-mha-blackwell": "fa4", "docstring-page-size": "fa3",
    }  # fmt: skip
    assert "32114" in listed["removed-cutlass_mla"].code.where


def test_a_yes_of_the_matrix_that_a_limit_refuses_is_a_difference() -> None:
    row = DocsRow("trtllm_mha", "mha", fp8_kv=True, topk_1=True, topk_many=True, window=True, pages=(16, 32, 64))
    cells = compared(row)
    assert set(cells) == {"pages", "fp8_kv", "topk_many"}
    assert cells["topk_many"].code.says == "no: draft topk 0, 1"
    assert cells["fp8_kv"].code.says.startswith("not on sm 120 in prefill, sm 121 in prefill: bfloat16, float16, nvfp4")
    assert (cells["pages"].docs, cells["pages"].code.says) == (cells["pages"].docs, "16, 32, 64, 128")
    earlier = compared(row, "0.5.16")
    assert set(earlier) == {"topk_1", "topk_many"}
    assert earlier["topk_1"].code.says.startswith("not on sm 90 in decode")


def test_a_no_of_the_matrix_is_a_difference_where_a_limit_names_what_it_takes() -> None:
    cells = compared(DocsRow("fa3", "mla", fp8_kv=False, topk_1=False, topk_many=False))
    assert set(cells) == {"fp8_kv"} and cells["fp8_kv"].code.says == "yes: bfloat16, float16, float8_e4m3fn KV cache"


def test_a_matrix_that_agrees_differs_nowhere() -> None:
    assert not compared(DocsRow("wave", "mha", fp8_kv=False, topk_1=False, topk_many=False, window=False))


def test_a_limit_that_is_new_shows_in_the_comparison() -> None:
    triton = ALL["triton"]
    limited = replace(triton.capability, limits=(*triton.capability.limits, Limit("sliding_window", (), "my notes")))
    row = DocsRow("triton", "mha", fp8_kv=False, topk_1=True, topk_many=True, window=True)
    [cell] = [one for one in differences([row], {"triton": replace(triton, capability=limited)}, "0.5.22") if one.name.endswith("window")]
    assert (cell.docs and cell.docs.says, cell.code.says, cell.code.where) == ("yes", "no: none", "my notes")


def test_a_folder_of_ones_own_adds_cells(tmp_path: Path) -> None:
    (tmp_path / "known").mkdir()
    text = "mine: {cell: a flag, docs: {says: a, where: my wiki}, code: {says: b, where: my branch}}\n"
    (tmp_path / "known" / "drift.yaml").write_text(text)
    assert found(config_dir=str(tmp_path))["mine"].code.says == "b"


def test_a_cell_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "known").mkdir()
    (tmp_path / "known" / "drift.yaml").write_text("mine: {cell: a flag}\n")
    with pytest.raises(UsageError, match="known/drift.yaml cannot be used: .*code.*; correct that entry"):
        found(config_dir=str(tmp_path))
