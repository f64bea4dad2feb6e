"""A job that asks the engine on its worker's path, with a small stand-in for SGLang and made-up measurements."""

from __future__ import annotations

from pathlib import Path

import pytest

from reports.asked import lines
from store.engines.asked import Difference, EngineAnswer
from store.evidence.run_evidence import read_evidence
from tests.backends.sglang.asked import made_up
from tests.tuner.jobs import Site

PAGES_OF_16 = ("int(get_device_memory_capacity() / 1000)", "16")
TORCH_NATIVE = ('"triton")\n', '"torch_native")\n')
UNLIKE = (Difference("page size", "16", "1"),)


def test_what_the_engine_says_is_asked_before_the_run_and_is_part_of_it(
    tmp_path: Path, lock_key: str, scripted: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    (engine,) = made_up.write(tmp_path, "0.5.22", "0.5.30", PAGES_OF_16, TORCH_NATIVE)
    site = Site(tmp_path, lock_key, scripted)
    assert site.tune(f"engine.path=[{engine}]") == 0
    run = site.run
    answer = EngineAnswer("0.5.30", None, "torch_native", "torch_native", 16, "float32", differences=UNLIKE)
    assert (run.default.asked, run.default.page_size, run.default.rules_version) == (answer, 16, "0.5.30")
    assert {arm.page_size for arm in run.arms} == {1, 16}
    told = lines(answer, "sglang")
    said, pin_md = capsys.readouterr().err, site.pin_path.with_suffix(".md").read_text()
    assert all(line in said and line in pin_md for line in told)
    assert read_evidence(site.pin_path.with_name("pin.evidence.jsonl.zst")).default == run.default


def test_a_job_ends_before_it_begins_where_the_engine_refuses_in_its_own_words(
    tmp_path: Path, lock_key: str, scripted: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    (engine,) = made_up.write(tmp_path, "0.5.22", "0.5.22", ('config.get("raises")', '"ValueError"'), ('config["raises"]', '"ValueError"'))
    site = Site(tmp_path, lock_key, scripted)
    assert site.tune(f"engine.path=[{engine}]") == 2
    assert 'SGLang 0.5.22 itself would not start with these settings: "the model is refused"' in capsys.readouterr().err
