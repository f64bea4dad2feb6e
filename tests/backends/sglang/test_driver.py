"""The engine driver on real SGLang backends, in a process that has the engine (drive.py says which cases)."""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = pytest.mark.timeout(600)  # the first use of an SGLang unpacks it

CELLS = ("decode", "fresh", "prefixed", "mixed")
FLOAT32, FLOAT16 = 1e-5, 1e-3
NEEDLE = 3e-2


def result(driven: dict[str, Any], case: str) -> dict[str, Any]:
    outcome = driven["cases"][case]
    assert "result" in outcome, outcome
    found: dict[str, Any] = outcome["result"]
    return found


@pytest.mark.parametrize("page_size", [1, 16])
@pytest.mark.parametrize("cell", CELLS)
def test_torch_native_is_right_and_writes_the_pool(driven: dict[str, Any], cell: str, page_size: int) -> None:
    found = result(driven, f"torch_native {cell}, page {page_size}")
    assert found["error"] < FLOAT32 and found["needle"] < NEEDLE
    assert (found["graph"], found["resolved"]) == (False, "sdpa")


@pytest.mark.parametrize("cell", CELLS)
def test_triton_is_right_and_writes_the_pool(driven: dict[str, Any], cell: str) -> None:
    found = result(driven, f"triton {cell}, page 1")
    assert found["error"] < FLOAT16 and found["needle"] < NEEDLE
    assert (found["graph"], found["resolved"]) == (False, "triton"), "nothing is captured on a CPU"


@pytest.mark.parametrize("cell", ["decode", "mixed"])
def test_a_window_hides_what_the_model_hides(driven: dict[str, Any], cell: str) -> None:
    assert result(driven, f"windowed {cell}")["error"] < FLOAT32


@pytest.mark.parametrize("page_size", [1, 16])
def test_a_captured_decode_is_right_for_the_lengths_of_the_last_plan(driven: dict[str, Any], page_size: int) -> None:
    """Needles rewrite the queries in place between plans, so padded copies that are not refreshed would show."""
    found = result(driven, f"triton captured, page {page_size}")
    assert found["error"] < FLOAT16 and found["needle"] < NEEDLE and found["error_before"] < FLOAT16
    assert (found["graph"], found["rows_before"], found["rows"]) == (True, 2, 3), "true rows first, the padded batch once captured"


FORMS = {"decode": "absorbed,triton", "fresh": "mha,triton", "prefixed": "mla,triton", "mixed": "mla,triton"}


@pytest.mark.parametrize("cell", CELLS)
def test_latent_attention_is_right_in_the_form_that_the_engine_serves(driven: dict[str, Any], cell: str) -> None:
    found = result(driven, f"latent {cell}")
    assert found["error"] < FLOAT16 and found["needle"] < NEEDLE
    assert found["resolved"] == FORMS[cell]


def test_a_long_prefix_is_projected_up_where_the_engine_does_so(driven: dict[str, Any]) -> None:
    found = result(driven, "latent, long prefix")
    assert found["error"] < FLOAT16 and found["needle"] < NEEDLE
    assert found["resolved"] == "mha_one_shot,ragged made up"


@pytest.mark.parametrize("cell", ["decode", "mixed"])
@pytest.mark.parametrize("feature", ["sinks", "wide keys", "group of 5", "e4m3", "e5m2"])
def test_a_feature_of_the_model_or_of_the_cache_reaches_the_engine(driven: dict[str, Any], feature: str, cell: str) -> None:
    found = result(driven, f"{feature}, {cell}")
    assert found["error"] < FLOAT16 and found["needle"] < NEEDLE


@pytest.mark.parametrize("draft", ["a chain of 2", "a chain of 16", "a tree of 8", "an ngram tree of 12", "in pages", "latent"])
def test_a_verify_step_is_right_under_the_mask_of_its_draft(driven: dict[str, Any], draft: str) -> None:
    found = result(driven, f"verify {draft.replace('an ', 'a ')}")
    assert found["error"] < FLOAT16 and found["needle"] < NEEDLE
    assert (found["graph"], found["resolved"]) == (False, "absorbed,triton" if draft == "latent" else "triton")


def test_a_captured_verify_step_is_right_for_the_lengths_and_the_mask_of_the_last_plan(driven: dict[str, Any]) -> None:
    found = result(driven, "verify captured")
    assert found["error"] < FLOAT16 and found["needle"] < NEEDLE
    assert (found["graph"], found["rows"]) == (True, 24), "the padded batch, eight drafted tokens a request"


def test_a_verify_step_under_another_mask_than_its_drafts_is_found_out(driven: dict[str, Any]) -> None:
    assert driven["cases"]["verify another mask"]["raised"] == "Incorrect"


def test_a_draft_that_is_not_the_servers_is_refused(driven: dict[str, Any]) -> None:
    outcome = driven["cases"]["verify another width"]
    assert outcome["raised"] == "Refused" and "verifies 2 tokens a request, the server 8" in outcome["text"]


def test_requests_decode_beside_prompts_in_one_step(driven: dict[str, Any]) -> None:
    for backend, limit in (("triton", FLOAT16), ("torch_native", FLOAT32)):
        found = result(driven, f"{backend} chunks, page 1")
        assert found["error"] < limit and found["needle"] < NEEDLE and not found["graph"]


def test_scales_of_a_narrow_cache_are_applied_to_what_is_written_and_read(driven: dict[str, Any]) -> None:
    """Triton narrows the queries and weights too; its interpreter truncates where a GPU rounds. Within the budget, or it were refused."""
    assert result(driven, "scaled e4m3, decode")["needle"] < NEEDLE


@pytest.mark.parametrize("case", ["window, decode", "window, decode captured"])
def test_triton_decodes_a_windowed_layer_with_one_key_fewer_as_is_declared(driven: dict[str, Any], case: str) -> None:
    """In conf/backend/triton.yaml; sglang/srt/layers/attention/triton_backend.py, update_sliding_window_buffer."""
    found = result(driven, case)
    assert found["deviates"] and found["error"] < FLOAT16 and found["needle"] < NEEDLE


@pytest.mark.parametrize("declared", ["undeclared", "two fewer declared"])
def test_without_just_that_declaration_it_is_incorrect(driven: dict[str, Any], declared: str) -> None:
    assert driven["cases"][f"window, decode, {declared}"]["raised"] == "Incorrect"


@pytest.mark.parametrize("case", ["sinks in a window, mixed", "window, verify", "window, verify captured"])
def test_triton_prefills_and_verifies_over_the_whole_window(driven: dict[str, Any], case: str) -> None:
    found = result(driven, case)
    assert not found["deviates"] and found["error"] < FLOAT16 and found["needle"] < NEEDLE


def test_a_knob_reaches_the_backend_as_the_servers_argument(driven: dict[str, Any]) -> None:
    assert result(driven, "triton captured, page 1")["splits"] == 2


def test_a_deterministic_server_is_measured_as_one(driven: dict[str, Any]) -> None:
    found = result(driven, "deterministic")
    assert found["modes"] == [True, False] and found["error"] < FLOAT16 and found["needle"] < NEEDLE


def test_two_captured_cells_of_one_size_do_not_disturb_each_other(driven: dict[str, Any]) -> None:
    assert result(driven, "two captured cells")["error"] < FLOAT16


def test_the_engine_sees_the_arguments_of_the_arm_that_is_active(driven: dict[str, Any]) -> None:
    assert result(driven, "published") == {"own": [True, True], "contexts": 1}


def test_the_engines_pool_is_ours_and_not_a_second_one(driven: dict[str, Any]) -> None:
    assert result(driven, "adopted") == {"same": True, "listed": True, "size": 512, "imports": ["sglang", "torch"]}


@pytest.mark.parametrize(
    ("case", "kind", "named"),
    [
        ("unknown name", "Refused", "no_such_backend"),
        ("unknown knob", "Refused", "no_such_knob"),
        ("unlisted latent heads", "Refused", "LlamaForCausalLM"),
        ("not on this device", "Refused", "flashinfer"),
        ("kernel library missing", "MissingPackage", "sgl_kernel"),
        ("fallen back", "FellBack", "JIT KV-Cache"),
    ],
)
def test_what_cannot_be_driven_says_why(driven: dict[str, Any], case: str, kind: str, named: str) -> None:
    outcome = driven["cases"][case]
    assert outcome.get("raised") == kind and named in outcome["text"], outcome


def test_a_version_the_names_were_read_from_carries_no_label(driven: dict[str, Any]) -> None:
    assert not [text for text in driven["warnings"] if "names of" in text]
