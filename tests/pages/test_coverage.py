"""The page that says what was measured and what was not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from backends.cell import Cell, Phase
from backends.model import LayerKind
from reports import numbers
from store.runs.run import Run
from tests.pages.coverage import evidence, page
from tests.pages.coverage.evidence import Seen, place_of, seen
from tests.pages.coverage.features import (
    DECODE,
    E5M2,
    FRESH,
    LATENT,
    LATENT_CHAIN,
    MHA,
    PLAIN,
    PREFIX,
    VERIFY,
    WINDOWED,
    Feature,
    features,
    settings_of,
    shown,
)
from tests.pages.sources import example, value

LAYER = LayerKind("full", 1, 32, 8, 128, 128)
SCENARIO = settings_of(MHA).scenario


def cell(new: int = 1, context: int = 9, phase: Phase = Phase.DECODE, layer: LayerKind = LAYER, draft: tuple[int, ...] = ()) -> Cell:
    return Cell("made up", phase, layer, (context,), (new,), (context,), 1, "bfloat16", 1, draft=draft)


def said(feature: Feature, backend: str, place: str) -> str:
    return next(row.said[place] for row in page._rows(feature) if row.backend == backend)


@pytest.mark.parametrize(
    ("layer", "kv_dtype", "wanted"),
    [
        ({}, "bfloat16", [PLAIN]),
        ({"sliding_window": 64, "sinks": True}, "bfloat16", ["sliding window", "attention sinks"]),
        ({"head_dim": 192}, "bfloat16", ["unequal K and V widths"]),
        ({"head_dim": 64, "value_head_dim": 64, "query_heads": 40}, "bfloat16", ["head dim 64", "5 query heads a KV head"]),
        ({}, "float8_e5m2", [E5M2]),
    ],
)
def test_a_cell_shows_the_features_of_its_layer_and_its_cache(layer: dict[str, int], kv_dtype: str, wanted: list[str]) -> None:
    assert list(shown(SCENARIO, cell(layer=replace(LAYER, **layer)), kv_dtype)) == wanted  # type: ignore[arg-type]


def test_every_feature_that_a_cell_may_show_has_its_section() -> None:
    names = {feature.name for feature in features()}
    latent = settings_of(("model=deepseek_v3", "engine.tensor_parallel=8")).scenario
    assert len(names) == len(features()) and set(shown(latent, cell(), "bfloat16")) == {LATENT}
    assert set(shown(SCENARIO, cell(4, draft=(-1, 0, 1, 2)), "bfloat16")) == {"verify steps, chain of 4"} < names
    assert set(shown(latent, cell(4, draft=(-1, 0, 1, 2)), "bfloat16")) == {LATENT, LATENT_CHAIN} < names
    assert set(shown(SCENARIO, cell(8, draft=(-1, 0, 0, 0, 1, 1, 2, 2)), "bfloat16")) == {"verify steps, tree of 8"} < names


def test_a_cell_stands_where_it_is_launched() -> None:
    assert [place_of(cell()), place_of(cell(9, 9, Phase.PREFILL)), place_of(cell(4, 9, Phase.PREFILL))] == [DECODE, FRESH, PREFIX]
    assert place_of(cell(2, 9, Phase.PREFILL, draft=(-1, 0))) == place_of(cell(2, 9, draft=(-1, 0))) == VERIFY


def test_a_time_is_the_one_in_the_evidence_it_names() -> None:
    found = seen()["fa3", PLAIN, DECODE]
    assert found.us == value(f"{found.example}/{found.cell}/fa3") and found.raced
    assert f"{numbers.microseconds(found.us)}: fa3/p1 on {found.cell}, {found.example}" == said(features()[0], "fa3", DECODE)
    assert said(features()[0], "torch_native", DECODE).startswith("about ")


def test_what_no_run_has_is_refused_by_a_limit_elsewhere_or_not_measured() -> None:
    by_name = {feature.name: feature for feature in features()}
    assert said(by_name["sliding window"], "flex_attention", DECODE).startswith(
        "refused: a sliding window of 1024 in window layers; it takes none: ignored"
    )
    assert said(by_name[LATENT], "fa4", DECODE).startswith("not here: sm 90; it takes sm 100")
    assert said(by_name[LATENT], "torch_native", FRESH).startswith("not driven: ")
    assert said(by_name["head dim 96"], "flex_attention", DECODE) == "not measured"
    assert WINDOWED in {feature.request for feature in features()}


def test_an_arm_that_was_lost_says_how_and_a_time_goes_before_it(monkeypatch: pytest.MonkeyPatch) -> None:
    run, _ = example("qwen3_8b-h200")
    broken = Seen("a run", "fa4/p1", "decode-64", None, False, "crashed: illegal memory access", True, 0.5)
    assert page._measured(broken) == "lost: crashed: illegal memory access; fa4/p1 on decode-64, a run"
    assert evidence._tells_more(replace(broken, us=1.0, lost=None), broken)
    assert isinstance(run, Run)


def test_an_arm_that_was_lost_for_what_is_declared_of_it_says_what_deviates() -> None:
    lost = next(each for *place, each in evidence._all() if place == ["triton", "sliding window", DECODE] and each.lost)
    text = page._measured(lost)
    assert (
        lost.example == "gpt_oss_120b-h200"
        and text.startswith("lost: incorrect: ")
        and text.endswith(
            "; declared since: it decodes a layer with a window over one key fewer than the window has (127 keys where the window has 128)"
        )
    )


def test_an_arm_that_was_held_to_what_is_declared_of_it_has_a_time() -> None:
    by_name = {feature.name: feature for feature in features()}
    assert said(by_name["sliding window"], "triton", DECODE).endswith("us: triton/p1 on decode-64-window, mimo_v2_flash-h200")


def test_the_cell_that_most_steps_of_its_run_are_stands_for_them_and_no_run_goes_before_another_for_it() -> None:
    small, large = (Seen("a run", "fa3/p1", f"decode-{batch}", 1.0, True, None, False, share) for batch, share in ((2, 0.2), (8, 0.5)))
    assert evidence._tells_more(large, small) and not evidence._tells_more(replace(large, example="another"), small)
    assert evidence._tells_more(replace(small, usual=True), large)


def test_a_cell_of_one_layer_kind_stands_for_its_place_as_that_of_a_whole_model_does() -> None:
    run, _ = example("qwen3_8b-h200")
    weighted = next(each for each in run.cells if each.cell.name == "decode-64")
    trial = next(each for each in run.trials if each.cell == "decode-64")
    of_kind = replace(weighted, cell=replace(weighted.cell, name="decode-64-window", layer=replace(weighted.cell.layer, name="window")))
    known = {arm.name: arm for arm in run.arms}[trial.arm]
    names = [(weighted, "decode-64"), (of_kind, "decode-64-window"), (of_kind, "decode-16-window")]
    assert [evidence._evidence("a run", known, each, replace(trial, cell=name), None).usual for each, name in names] == [True, True, False]


def test_a_backend_made_for_other_hardware_is_told_once() -> None:
    text = page.render()
    body, _, elsewhere = text.partition("## Not here, whatever the feature")
    assert "| aiter | no: attnpin times NVIDIA GPUs and CPUs alone | no: device cuda; it takes device rocm |" in elsewhere
    assert "| aiter |" not in body and body.count("| fa3 |") == len(features())


def test_every_backend_is_named_and_where_it_is_not_here_whether_it_is_driven_elsewhere() -> None:
    body, _, elsewhere = page.render().partition("## Not here, whatever the feature")
    assert all((f"| {entry.name} |" in body) != (f"| {entry.name} |" in elsewhere) for entry in settings_of(MHA).entries)
    assert "| trtllm_mla | through the engine, untried | no: sm 90; it takes sm 100, 103" in elsewhere
    assert "| tokenspeed_mla | no: it takes an FP8 cache alone" in elsewhere


def test_a_step_is_asked_for_where_it_can_occur_alone() -> None:
    places = {feature.name: tuple(feature.places) for feature in features()}
    assert places["verify steps, chain of 4"] == (VERIFY,) and places["mixed steps"] == (FRESH, PREFIX)
    assert places[PLAIN] == (DECODE, FRESH, PREFIX)
