from __future__ import annotations

from dataclasses import replace

from reports import kernel_origins, run_report
from tests.reports.building import DECODE, FA3, FLASHINFER, PREFILL, trial
from tests.reports.building import run as a_run

BUILT, OURS, THEIRS = "built here", "attnpin's cache", "a cache that was there"


def test_each_arm_is_told_with_where_its_kernels_lay() -> None:
    run = a_run()
    trials = (
        replace(trial(FA3, DECODE, 1.0), kernel_files=()),
        replace(trial(FLASHINFER, DECODE, 1.0), kernel_files=(("decode", THEIRS), ("store_kv", BUILT))),
    )
    table = kernel_origins.table(replace(run, trials=trials))
    assert table is not None
    assert table.rows == (
        (FA3, "prebuilt: no compiled file was taken from a cache"),
        (FLASHINFER, "a cache that was there: decode; built here: store_kv"),
    )
    assert "a cache that was there: decode; built here: store_kv" in run_report.render_text(replace(run, trials=trials))


def test_what_a_first_process_built_was_built_here_though_a_later_one_found_it() -> None:
    trials = [
        replace(trial(FA3, DECODE, 1.0), kernel_files=(("decode", BUILT),)),
        replace(trial(FA3, PREFILL, 1.0), kernel_files=(("decode", OURS), ("prefill", OURS))),
    ]
    assert kernel_origins.origin(trials) == "attnpin's cache: prefill; built here: decode"


def test_evidence_with_an_older_word_for_a_place_is_shown_with_it() -> None:
    assert kernel_origins.origin([replace(trial(FA3, DECODE, 1.0), kernel_files=(("decode", "image's cache"),))]) == "image's cache: decode"


def test_many_names_are_cut_short() -> None:
    many = tuple((f"k{number}", BUILT) for number in range(9))
    assert kernel_origins.origin([replace(trial(FA3, DECODE, 1.0), kernel_files=many)]) == "built here: k0, k1, k2, k3 and 5 more"


def test_runs_that_nobody_looked_at_say_nothing() -> None:
    assert kernel_origins.table(a_run()) is None
