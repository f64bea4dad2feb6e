from __future__ import annotations

from dataclasses import replace

from backends.model import LayerKind
from store.scenario import Role, Speculation
from tests.asking import gpu, mla_model, model
from tests.tuner.scenarios import B200, DSV3, GIB, GPT_OSS, H100, LLAMA, MI300, MIMO, scenario
from tuner.engines.sglang.request import draft_of, facts_of, machine_of, request_for
from tuner.engines.sglang.resolver.steps import resolve


def test_flags_are_carried_as_the_user_wrote_them() -> None:
    flags = {"attention_backend": "fa3", "decode_attention_backend": "triton", "page_size": 64, "kv_cache_dtype": "fp8_e5m2"}
    ranks = {"tensor_parallel": 8, "attn_dp_size": 4, "attn_cp_size": 2, "dcp_size": 2, "role": Role.DECODE}
    asked = request_for(scenario(features=("deterministic", "multi_item_scoring"), **flags, **ranks), "0.5.22")
    assert (asked.attention_backend, asked.prefill_attention_backend, asked.decode_attention_backend) == ("fa3", None, "triton")
    assert (asked.page_size, asked.kv_cache_dtype, asked.deterministic, asked.multi_item_scoring) == (64, "fp8_e5m2", True, True)
    assert (asked.tensor_parallel, asked.attn_dp, asked.attn_cp, asked.dcp, asked.role) == (8, 4, 2, 2, "decode")


def test_what_is_said_of_drafts_graphs_stages_and_the_host_is_carried_too() -> None:
    changes = {"disable_cuda_graph": True, "hierarchical_cache": True, "pipeline_parallel": 2}
    asked = request_for(scenario(speculation=Speculation("EAGLE", draft_backend="triton"), **changes), "0.5.22")
    assert (asked.draft.attention_backend, asked.graphs.off, asked.hierarchical_cache, asked.pipeline_parallel) == ("triton", True, True, 2)
    left = request_for(scenario(), "0.5.22")
    assert (left.draft.attention_backend, left.graphs.off, left.hierarchical_cache, left.pipeline_parallel) == (None, False, False, 1)


def test_the_prefill_chunk_follows_from_the_memory() -> None:
    assert [request_for(scenario(gpu(90, memory_bytes=gib * GIB)), "0.5.22").chunk for gib in (18, 80, 180)] == [2048, 8192, 16384]


def test_flashinfer_is_there_where_nobody_has_looked_and_only_on_nvidia() -> None:
    looked = [None, {"flashinfer": "0.7.1"}, {"sglang": "0.5.22"}]
    assert [request_for(scenario(H100), "0.5.22", found).machine.flashinfer for found in looked] == [True, True, False]
    assert not request_for(scenario(MI300), "0.5.22").machine.flashinfer
    assert machine_of(gpu(90, cuda="12.2"), True).cuda == (12, 2) and not machine_of(gpu(90, cuda="12.2"), True).hopper


def test_a_latent_model_has_as_many_kv_heads_as_its_checkpoint_declares() -> None:
    assert (facts_of(DSV3).kv_heads, facts_of(DSV3).mla, facts_of(DSV3).unequal_widths) == (128, True, False)
    assert (facts_of(LLAMA).kv_heads, facts_of(LLAMA).mla) == (8, False)


def test_widths_sinks_and_windows_are_read_from_the_layers() -> None:
    assert facts_of(MIMO).unequal_widths and facts_of(GPT_OSS).sinks
    exaone = model(LayerKind("full", 32, 32, 8, 128, 128), architecture="Exaone4ForCausalLM")
    windowed = replace(exaone, layers=(*exaone.layers, LayerKind("window", 8, 32, 8, 128, 128, 4096)))
    assert [facts_of(one).windowed for one in (exaone, windowed)] == [False, True]


def test_what_only_a_checkpoint_says_is_taken_from_the_architecture() -> None:
    assert facts_of(mla_model(architecture="DeepseekV32ForCausalLM")).sparse and not facts_of(DSV3).sparse
    assert facts_of(mla_model(architecture="KimiLinearForCausalLM")).kda
    assert facts_of(model(architecture="GraniteMoeHybridForCausalLM", other_layers=36)).mamba_layers


def test_a_draft_checkpoint_is_there_where_the_algorithm_needs_one() -> None:
    assert draft_of(Speculation("DFLASH")).model and not draft_of(Speculation("NGRAM")).model
    found = resolve(request_for(scenario(B200, LLAMA, speculation=Speculation("DFLASH")), "0.5.22"))
    assert found.error is None and found.settings.draft_tokens == 16


def test_a_sparse_model_gets_its_own_backend_pages_and_dtype() -> None:
    asked = mla_model(architecture="DeepseekV32ForCausalLM")
    found = [resolve(request_for(scenario(board, asked), "0.5.22")) for board in (B200, H100)]
    assert [(one.decode, one.page_size, one.kv_dtype) for one in found] == [("dsa", 64, "fp8_e4m3"), ("dsa", 64, "bfloat16")]
