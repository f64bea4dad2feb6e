from __future__ import annotations

from pathlib import Path

import pytest

from reports import numbers, run_report
from reports.side_by_side import render_text
from store.evidence.run_evidence import read_evidence
from tests.examples import EXAMPLES, folders
from tests.pages.sources import value
from tuner.comparing.recorded import judged, recorded


@pytest.mark.parametrize("folder", folders(), ids=lambda folder: folder.name)
def test_a_time_is_the_one_in_the_report_of_its_run(folder: Path) -> None:
    run = read_evidence(folder / "pin.evidence.jsonl.zst")
    cell = next(each.cell.name for each in run.cells if each.cell.name.startswith("decode"))  # of several layer kinds: the first's
    shown = f" {numbers.microseconds(value(f'{folder.name}/{cell}/fa3'))} "
    rows = [line for line in run_report.render_markdown(run).splitlines() if line.startswith(f"| {cell} |")]
    assert any(shown in row for row in rows if " fa3" in row)


def test_a_citation_may_be_worked_out_from_several() -> None:
    fa3, triton = value("qwen3_8b-h200/decode-64/fa3"), value("qwen3_8b-h200/decode-64/triton")
    worked = value("(qwen3_8b-h200/decode-64/triton - qwen3_8b-h200/decode-64/fa3) * qwen3_8b-h200/decode-64/layers / 1000")
    assert worked == pytest.approx((triton - fa3) * 36 / 1000)


def test_data_and_settings_are_cited_by_their_keys() -> None:
    steps = [value(f"engine-benchmark/decode_step_ms/fa3/{index}") for index in range(4)]
    assert value("engine-benchmark/decode_step_ms/fa3/mean") == pytest.approx(sum(steps) / 4)
    assert value("engine-benchmark/decode_step_ms/fa3/max") == max(steps)
    assert value("conf/decide/default/min_gain") == 0.01


def test_a_comparison_is_cited_by_cell_and_path_as_its_text_has_it() -> None:
    where = "upgrade/flashinfer-0.5.3-to-0.6.1-h200/decode-64"
    measured = recorded(EXAMPLES / where.rpartition("/")[0])
    lines = render_text(measured, judged(measured)).splitlines()
    (row,) = (line for line in lines if line.startswith("  flashinfer/p1,decode_backend=auto@kernel  decode-64 ") and "regressed" in line)
    assert f"{value(f'{where}/auto/baseline'):.4g} us" in row and f"{value(f'{where}/auto/candidate'):.1f} us" in row
    assert value(f"{where}/auto/low") < value(f"{where}/auto/ratio") < value(f"{where}/auto/high")
    assert value(f"{where}/requests") == 64 and value(f"{where}/fa2/pairs") <= 9


def test_a_serving_run_is_cited_by_its_rival_and_concurrency_as_the_justification_has_it() -> None:
    where, page = "qwen3_8b-h200/served/triton/64", (EXAMPLES / "qwen3_8b-h200" / "pin.md").read_text()
    both = [value(f"{where}/change/{which}") for which in ("measured", "predicted")]
    ratio = [value(f"{where}/itl_ms/{which}") for which in ("ratio", "low", "high")]
    said = "{:.3f} ({:.3f} to {:.3f}) at concurrency 64 ({:.2f} ms faster, predicted {:.2f} ms faster)".format(*ratio, *both)
    assert said in page and f"| 64 | {value(f'{where}/itl_ms/pin'):.3f} ms | {value(f'{where}/itl_ms/against'):.2f} ms |" in page


@pytest.mark.parametrize(
    "citation",
    [
        "qwen3_8b-h200/served/fa4/64/itl_ms/pin",
        "qwen3_8b-h200/served/triton/1/change/predicted",
        "upgrade/flashinfer-0.5.3-to-0.6.1-h200/decode-64/fa4/ratio",
        "qwen3_8b-h200/decode-64/fa5",
        "qwen3_8b-h200/decode-65/fa3",
        "engine-benchmark/nothing",
        "engine-benchmark/decode_step_ms/fa3/9",
    ],
)
def test_what_is_not_there_is_no_zero(citation: str) -> None:
    with pytest.raises(LookupError):
        value(citation)


def test_a_mapping_is_no_number() -> None:
    with pytest.raises(LookupError, match="engine-benchmark/pools is no number"):
        value("engine-benchmark/pools")


def test_only_arithmetic_is_worked_out() -> None:
    with pytest.raises(SyntaxError, match="numbers, paths"):
        value("__import__('os')")
